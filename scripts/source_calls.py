# SPDX-License-Identifier: Apache-2.0
"""Which functions of the C sources call which, by name: what check-docs.py compares journeys with.

A function calls the functions and tables that its body names; a table calls the functions of its
initialiser, a member (`.next = step`) those that are assigned to it anywhere, and a macro what it
stands for.  A name that several files define is all of them, so a fault can be missed.
"""
import os
import re

WORD = re.compile(r"\b[A-Za-z_]\w*\b")
NOISE = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|__attribute__\s*\(\(.*?\)\)", re.S)
DEFINITION = re.compile(r"^(?:\} |(?!typedef|#|\}|\s)[^;{}#=]*?)\b(\w+)\s*(\([^;{}]*\)|(?:\[[^\]]*\])*\s*=)\s*\{", re.M)
MEMBER = re.compile(r"(?:\.|->)(\w+)\s*=\s*&?(\w+)\b")
MACRO = re.compile(r"^#define (\w+)(?:\([^)]*\))?((?:.*\\\n)*.*)$", re.M)


def body_end(text, start):
    """The place after the brace that closes the one at `start`."""
    depth = 0
    for found in re.finditer(r"[{}]", text[start:]):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return start + found.end()
    return len(text)


def sources(tops):
    for top in tops:
        for folder, _, files in os.walk(top):
            for name in files:
                if re.search(r"\.[chyl]$", name):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        yield NOISE.sub(" ", file.read())


class Calls:
    def __init__(self, tops):
        uses, members, functions = {}, [], set()
        for text in sources(tops):
            for found in DEFINITION.finditer(text):
                body = text[found.end() - 1:body_end(text, found.end() - 1)]
                uses.setdefault(found[1], set()).update(WORD.findall(body))
                if found[2].startswith("("):
                    functions.add(found[1])
            for name, value in MACRO.findall(text):
                uses.setdefault(name, set()).update(WORD.findall(value))
            members += MEMBER.findall(text)
        for member, value in members:
            if value in functions and value != member:
                uses.setdefault(member, set()).add(value)
        self.uses = {name: {w for w in words if w in uses} for name, words in uses.items()}

    def reach(self, start, most):
        """The names that `start` leads to in at most so many steps."""
        seen = edge = {start}
        for _ in range(most):
            edge = {n for e in edge for n in self.uses.get(e, ())} - seen
            seen = seen | edge
        return seen
