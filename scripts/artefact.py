#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""artefact.py [--only NAME] [--list] [--workload SCRIPT]...: runs the commands of docs/artefact-evaluation.md,
keeps what they print in build-artefact/, and says which rows of the pages' tables changed by more than their noise.

A table of the output is compared with the tables of the page that have the same header, or leave columns of it out, row
by row, by the first cells that are no numbers; rows that have these in common, in their order.  The column `noise` of that page says how far numbers may differ, beside one unit of their last
digit: `25 %; bytes 0 %; ns any` is 25 %, nothing in columns whose header has the word
`bytes`, and anything in those with `ns`.  Exit code 0: nothing changed; 1: rows changed; 2: a command failed."""
import argparse
import math
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = "docs/artefact-evaluation.md"
WORKLOADS = ("[WORKLOAD.sh…]", "WORKLOAD.sh…")
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")


def cells_of(line):
    """The cells of a row; a bar within a code span is escaped."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def tables_of(text):
    """Yields (header, rows) of each Markdown table."""
    lines = text.splitlines()
    for i, line in enumerate(lines[1:], 1):
        if re.fullmatch(r"\|(\s*:?-+:?\s*\|)+", line.strip()) and lines[i - 1].startswith("|"):
            rows = []
            for row in lines[i + 1:]:
                if not row.startswith("|"):
                    break
                rows.append(cells_of(row))
            yield cells_of(lines[i - 1]), rows


def steps(page):
    """Yields (page of results, command, noise) of each row."""
    folder = pathlib.Path(page).parent
    for header, rows in tables_of((ROOT / page).read_text(encoding="utf-8")):
        if header[:2] != ["table", "command"]:
            continue
        for row in rows:
            link = re.search(r"\]\(([^)#]+)", row[0])
            command = re.search(r"`([^`]+)`", row[1])
            if link is None or command is None:
                sys.exit(f"{page}: no link or no command: {row}")
            yield str(folder / link[1]), command[1], row[header.index("noise")]


def noise_of(text, column):
    """The share by which numbers of a column may differ."""
    share = 0.25
    for part in text.split(";"):
        found = re.fullmatch(r"(?:(\w+) )?(?:(\d+) %|any)", part.strip())
        if found is None:
            sys.exit(f"noise {text!r}: 25 %, or WORD 25 %, or WORD any, with ; between them")
        if found[1] in [None, *re.findall(r"\w+", column)]:
            share = int(found[2]) / 100 if found[2] else math.inf
    return share


def numbers_of(cell):
    """The numbers, and one unit of the last digit of each."""
    found = [number.replace(",", "") for number in NUMBER.findall(cell)]
    return [float(number) for number in found], [10.0 ** -len(number.partition(".")[2]) for number in found]


def are_near(old, new, share):
    before, units = numbers_of(old)
    after, _ = numbers_of(new)
    return len(before) == len(after) and all(abs(a - b) <= share * max(abs(a), abs(b)) + unit * 1.01
                                             for a, b, unit in zip(before, after, units))


def key_of(row):
    """The first cells, up to one that is a number."""
    key = []
    for cell in row:
        if key and NUMBER.fullmatch(cell.split(" ")[0]):
            break
        key.append(cell)
    return tuple(key)


def numbered(rows):
    """Yields (key, how many rows with that key came before) and the row."""
    seen = {}
    for row in rows:
        key = key_of(row)
        seen[key] = seen.get(key, -1) + 1
        yield (key, seen[key]), row


def columns_of(kept, header):
    """The places of the columns `kept` in `header`, one after the other; None if one is not there."""
    places, at = [], 0
    for name in kept:
        if name not in header[at:]:
            return None
        at = header.index(name, at) + 1
        places.append(at - 1)
    return places


def kept_rows(tables, header):
    """The rows of all tables of the page that have these columns, by key, and the places of the columns."""
    rows, places = [], None
    for kept, found_rows in tables:
        found = columns_of(kept, header)
        if found is not None and places in (None, found):
            places = found
            rows += found_rows
    return dict(numbered(rows)), places


def differences(header, expected, found, noise):
    """Yields what differs between two rows."""
    for column, old, new in zip(header, expected, found):
        share = noise_of(noise, column)
        if not are_near(old, new, share):
            yield f"{column}: {old} in the page, {new} now (noise {100 * share:.0f} %)"


def compare(page, output, noise):
    """Returns how many rows changed; prints them, and what could not be compared."""
    known = list(tables_of((ROOT / page).read_text(encoding="utf-8")))
    changed = compared = 0
    for header, rows in tables_of(output):
        expected, places = kept_rows(known, header)
        if places is None:
            continue
        names = [header[place] for place in places]
        for key, row in numbered([[row[place] for place in places] for row in rows]):
            if key not in expected:
                continue
            compared += 1
            told = list(differences(names, expected[key], row, noise))
            changed += bool(told)
            for line in told:
                print(f"  changed: {' '.join(key[0])}: {line}")
    print(f"  {compared} rows compared, {changed} changed" if compared else
          "  not compared: the output has no row of a table of the page; look at it yourself")
    return changed


def run(number, page, command, noise, args):
    workloads = " ".join(map(shlex.quote, args.workload))
    for mark in WORKLOADS:
        command = command.replace(mark, workloads)
    kept = ROOT / args.keep / f"{number:02}-{pathlib.Path(page).stem}.txt"
    kept.parent.mkdir(exist_ok=True)
    print(f"{page}: {command}", flush=True)
    started = time.monotonic()
    with open(kept, "w", encoding="utf-8") as out:
        done = subprocess.run(["bash", "-c", command], cwd=ROOT, stdout=out, check=False)
    print(f"  exit code {done.returncode}, {time.monotonic() - started:.0f} s, {os.path.relpath(kept, ROOT)}")
    return done.returncode, compare(page, kept.read_text(encoding="utf-8", errors="replace"), noise)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="NAME", help="steps whose page or command has this in it")
    parser.add_argument("--list", action="store_true", help="print the steps")
    parser.add_argument("--workload", action="append", default=[], metavar="SCRIPT", help="in place of WORKLOAD.sh")
    parser.add_argument("--keep", default="build-artefact", metavar="DIRECTORY", help="where what is printed goes")
    parser.add_argument("--page", default=PAGE, help=argparse.SUPPRESS)
    args = parser.parse_args()
    chosen = [step for step in steps(args.page) if args.only in step[0] or args.only in step[1]]
    if not chosen:
        sys.exit(f"no step has {args.only!r} in it")
    if args.list:
        for page, command, noise in chosen:
            print(f"{page}: {command} ({noise})")
        return 0
    load = os.getloadavg()[0]
    if load > 1:
        print(f"The machine is not quiet: a load of {load:.1f}. Times will differ.")
    results = [run(number, *step, args) for number, step in enumerate(chosen, 1)]
    failed = sum(code != 0 for code, _ in results)
    changed = sum(rows for _, rows in results)
    print(f"{len(results)} commands, {failed} failed, {changed} rows changed by more than their noise")
    return 2 if failed else 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
