#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-words.py [--update]: do the user's texts have words that must not come back, or misspelt ones?

Looks at README.md, docs/ without docs/results (lab notes), the man pages, and the strings of the C sources (help and
messages).  WORDS has each word with the reason.  scripts/words-left.txt says how many a file still has from before
this check: more is a fault, and --update writes the counts anew after some were removed.
codespell looks at the same files and at all sources; scripts/codespell-ignore.txt has the words it must accept.
"""
import os
import re
import subprocess
import sys

LEFT = "scripts/words-left.txt"
WORDS = [  # what, instead of it, or why not
    (r"\b(re)?tells?\b|\btold\b|\btelling\b", "a command prints, shows, lists or reports; an error is reported"),
    (r"\bforetells?\b", "predicts"),
    (r"\bwho of them\b|\bwhich of them is\b", "say what it is that differs"),
    (r"\b(it|that|this) is so\b|\bif so\b|\bis not so\b", "name the condition: 'if RULE holds'"),
    (r"\b(where|in which) (it|the \w+) lies\b|\blies (in|at|beside|below)\b", "is, is stored, is located"),
    (r"\bbars?\b(?!.?(chart|graph))", "target: a bar is a word of this project's only"),
    (r"\b(in|by) turns\b", "alternately; it belongs into docs/results"),
    (r"\ba way without it\b|\bways? of (its|their) own\b", "fallback"),
    (r"\b(was|were|is) (not )?tried\b|\(tried\b|\bnot tried\b", "tested with VERSION"),
    (r"\bspares?\b", "avoids, saves"),
    (r"\bgoes by\b|\bgo by\b", "is determined by, uses"),
    (r"\bhas most part\b|\bhad most part\b", "contributes most"),
    (r"\bnothing but\b", "only"),
    (r"\bhappens otherwise\b|\ball that (this|it) lets\b", "say which ones"),
    (r"\bin all weathers\b|\bdates? each death\b|\bdrive memory allocators\b", "figures of speech"),
]


def tracked(*patterns):
    return subprocess.run(["git", "ls-files", *patterns], check=True, text=True, stdout=subprocess.PIPE).stdout.split()


def text_of(path):
    """Prose of a page without its code; the strings of a source."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".md"):
        return re.sub(r"^```.*?^```|`[^`\n]*`", lambda found: "\n" * found[0].count("\n"), text, flags=re.S | re.M)
    if path.endswith(".c"):
        code = re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), text, flags=re.S)
        return re.sub(r'[^"\n]*("(?:[^"\\\n]|\\.)*")?', lambda found: found[1] or "", code)
    return text


def hits(path):
    text = text_of(path)
    for word, reason in WORDS:
        for found in re.finditer(word, text, re.I):
            yield text.count("\n", 0, found.start()) + 1, found[0], reason


def read_left():
    with open(LEFT, encoding="utf-8") as file:
        return {path: int(count) for count, path in (line.split() for line in file)}


def misspelt():
    files = [path for path in tracked() if os.path.isfile(path) and "/data/" not in path and not re.match(r"tests/(fuzz/corpus|cli/cases)|analyses/\w+/cases", path)]
    done = subprocess.run(["codespell", "-I", "scripts/codespell-ignore.txt", "--quiet-level=3", *files],
                          check=False, text=True, stdout=subprocess.PIPE)
    return done.stdout.splitlines()


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)) + "/..")
    pages = [path for path in tracked("README.md", "docs/*.md", "docs/man/*") if not path.startswith("docs/results/")]
    sources = tracked("agent/*.c", "capture/*.c", "compilers/*.c", "converter/*.c", "analyses/*.c", "format/*.c", "malloc-recorder/*.c")
    found = {path: list(hits(path)) for path in pages + sources if os.path.exists(path)}
    if "--update" in sys.argv:
        with open(LEFT, "w", encoding="utf-8") as file:
            file.writelines(f"{len(words)} {path}\n" for path, words in sorted(found.items()) if words)
    left, faults = read_left(), []
    for path, words in found.items():
        if len(words) > left.get(path, 0):
            faults += [f"{path}:{line}: {word!r}: {reason}" for line, word, reason in words]
            faults.append(f"{path}: {len(words)} words that must not come back, {left.get(path, 0)} at most")
    faults += misspelt()
    print(*faults, f"{len(found)} files, {sum(map(len, found.values()))} words left from before, {len(faults)} faults", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
