#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""readme-examples.py [--update] [--shell SHELL] PAGE DIRECTORY: the examples of a Markdown page, run in a directory.
readme-examples.py --commands NAME PAGE...: prints the commands of the one block ```sh that stands directly
after a line `<!-- fresh: NAME -->`.

A block that begins with ```java, ```c or ```step holds a program or definition, which is written to
the file that its first line names (`// Words.java`).  In a block ```console a line `$ command` is run; the lines after it show
what the command prints.  A shown line and a printed line agree where

- neither has a digit, and they are the same but for white space; or
- both have the same words and figures in the same order, where a figure is whatever has a digit in
  it, and the words before the first figure are the same.

A shown line `...` stands for any number of printed lines.

A block ```pycon is a session of Python (of $python, or /usr/bin/python3), one for all such blocks of a page:
`>>> statement`, lines that go on after `... `, and what is printed, which agrees as above.  A block whose
first statement is an import that is not to be had here is passed over.

Commands are run by bash, or by SHELL, which is called as `SHELL -c COMMAND` and sees the directory under another name.
"""
import argparse
import json
import os
import re
import subprocess
import sys

# The session's other end: a statement in, whether it worked and what it printed out.
SESSION = """
import contextlib, io, json, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    out, good = io.StringIO(), True
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            exec(compile(json.loads(line), "<page>", "single"), names)
        except BaseException as error:
            good = "import" if isinstance(error, ImportError) else False
            print("".join(traceback.format_exception_only(error)).strip())
    print(json.dumps([good, out.getvalue()]), flush=True)
"""


def shape(line):
    """The words before the first figure, and the kinds of what follows."""
    words = line.split()
    first = next((i for i, word in enumerate(words) if re.search(r"\d", word)), len(words))
    kinds = ["figure" if re.search(r"\d", word) else "word" for word in words[first:]]
    return words[:first], kinds


def mismatch(shown, printed):
    """The first shown line that the printed ones do not have, or None."""
    at, skipping = 0, False
    for line in shown:
        if line.strip() == "...":
            skipping = True
            continue
        while skipping and at < len(printed) and shape(printed[at]) != shape(line):
            at += 1
        if at == len(printed) or shape(printed[at]) != shape(line):
            return line
        at, skipping = at + 1, False
    return None if skipping or at == len(printed) else f"(no more, but: {printed[at]})"


def blocks(text):
    """Pairs of a block's kind and its lines, and with kind None what lies between blocks."""
    kind, lines = None, []
    for line in text.splitlines():
        fence = re.match(r"```(\w*)$", line)
        if fence:
            yield kind, lines
            kind, lines = (fence.group(1) or "text", []) if kind is None else (None, [])
        else:
            lines.append(line)
    yield kind, lines


def commands(lines):
    """Pairs of a command and the lines shown after it; a command goes on after a backslash."""
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append((line, []))
        elif found and found[-1][0].endswith("\\") and not found[-1][1]:
            found[-1] = (found[-1][0] + "\n" + line, [])
        elif found:
            found[-1][1].append(line)
    return found


def run(command, directory, shell):
    done = subprocess.run([shell, "-c", "set -o pipefail; " + command[2:]], cwd=directory,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, timeout=300)
    return done.returncode, [line.rstrip() for line in done.stdout.splitlines()]


def run_block(lines, directory, shell, failures):
    """The lines of the block as they should be."""
    out = []
    for command, shown in commands(lines):
        status, printed = run(command, directory, shell)
        wrong = mismatch(shown, printed)
        # 141: the reader of a pipe (head) had enough
        if status not in (0, 141) or wrong is not None:
            failures.append(command)
            print(command, *printed, f"--> exit status {status}, expected: {wrong}", sep="\n")
        out += command.splitlines() + printed
    return out


class Session:
    """Python, started by the first block that needs it."""
    process = None

    def __init__(self, directory):
        self.directory = directory

    def run(self, statement):
        if self.process is None:
            self.process = subprocess.Popen(
                [os.environ.get("python", "/usr/bin/python3"), "-c", SESSION], cwd=self.directory,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(json.dumps(statement + "\n") + "\n")
        self.process.stdin.flush()
        good, text = json.loads(self.process.stdout.readline())
        return good, [line.rstrip() for line in text.splitlines()]

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


def statements(lines):
    """Pairs of a statement and the lines shown after it."""
    found = []
    for line in lines:
        if line.startswith(">>> "):
            found.append(([line[4:]], []))
        elif found and re.match(r"\.\.\.( |$)", line) and not found[-1][1] and line != "...":
            found[-1][0].append(line[4:])
        elif found:
            found[-1][1].append(line)
    return [("\n".join(source), shown) for source, shown in found]


def run_session(lines, session, failures):
    """The lines of a block of Python as they should be."""
    out = []
    for number, (source, shown) in enumerate(statements(lines)):
        good, printed = session.run(source)
        if good == "import" and number == 0:
            print(f"passed over: {printed[0]}")
            return lines
        expected_fault = good is not True and shown and mismatch(shown, printed) is None
        wrong = mismatch(shown, printed)
        if (good is not True and not expected_fault) or wrong is not None:
            failures.append(source)
            print(source, *printed, f"--> expected: {wrong}", sep="\n")
        first, *more = source.split("\n")
        out += [">>> " + first, *("... " + line for line in more), *printed]
    return out


def commands_after(name, pages):
    """The lines of the block of commands that the pages mark with this name."""
    found = []
    for page in pages:
        with open(page, encoding="utf-8") as file:
            found += re.findall(rf"^<!-- fresh: {re.escape(name)} -->\n+```sh\n(.*?)^```$", file.read(), re.M | re.S)
    if len(found) != 1:
        sys.exit(f"{len(found)} blocks are marked <!-- fresh: {name} -->")
    return found[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--shell", default="bash")
    parser.add_argument("--commands", metavar="NAME")
    parser.add_argument("names", nargs="+", metavar="PAGE DIRECTORY")
    options = parser.parse_args()
    if options.commands:
        print(commands_after(options.commands, options.names), end="")
        return 0
    page, directory = options.names
    with open(page, encoding="utf-8") as file:
        text = file.read()
    out, failures, count = [], [], 0
    session = Session(directory)
    for kind, lines in blocks(text):
        if kind in ("java", "c", "step"):
            name = lines[0].removeprefix("// ")
            with open(f"{directory}/{name}", "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
        if kind == "console":
            count += len(commands(lines))
            lines = run_block(lines, directory, options.shell, failures)
        if kind == "pycon":
            count += len(statements(lines))
            lines = run_session(lines, session, failures)
        out += lines if kind is None else [f"```{kind if kind != 'text' else ''}", *lines, "```"]
    session.close()
    if options.update:
        with open(page, "w", encoding="utf-8") as file:
            file.write("\n".join(out) + "\n")
        return 0
    print(f"{count} commands, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
