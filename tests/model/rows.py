#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rows.py STEPTRACE ROOT: every command, format, metric of gates and table has its row in tests/model/README.md, and what a row
names is there: checks of checks.py, or files of other tests that compare with an implementation of their own."""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import checks  # noqa: E402

SECTIONS = ("Commands", "Formats", "Metrics of rules", "Tables")


def printed(steptrace, *words):
    return subprocess.run([steptrace, *words], stdout=subprocess.PIPE, text=True, check=True).stdout


def wanted_rows(steptrace, root):
    yield "Commands", re.findall(r"^  ([a-z][a-z-]*)  +\S", printed(steptrace, "help"), re.M)
    formats = printed(steptrace, "convert", "--help").split("\noptions:", 1)[0]
    yield "Formats", re.findall(r"^  ([a-z][a-z0-9.-]*)  +\S", formats, re.M)
    metrics = re.search(r"^\| METRIC \|(.*)$", (root / "docs/gates.md").read_text(encoding="utf-8"), re.M)[1]
    yield "Metrics of rules", [name for name in re.findall(r"`(\w+)`", metrics) if not name.startswith("_") and name not in ("leaks", "heap")]
    tables = (root / "docs/tables.md").read_text(encoding="utf-8").split("## Tables of a native", 1)[0]
    yield "Tables", [name.strip() for title in re.findall(r"^### (.*)$", tables, re.M) for name in title.split(",")]


def rows_of(text):
    """Section -> what -> what answers for it."""
    found, section = {}, None
    for line in text.splitlines():
        if line.startswith("## "):
            section = found.setdefault(line[3:], {})
        elif line.startswith("| `"):
            what, by = line.strip("|").split("|", 1)
            for name in re.findall(r"`([^`]+)`", what):
                section[name] = by
    return found


def faults(steptrace, root):
    rows = rows_of((root / "tests/model/README.md").read_text(encoding="utf-8"))
    for section, names in wanted_rows(steptrace, root):
        if len(names) < 5:
            yield f"{section}: only {names} was found: has the page or the help another form?"
        for name in names:
            if name not in rows.get(section, {}):
                yield f"{section}: {name} has no row in tests/model/README.md"
        for name in rows.get(section, {}):
            if name not in names:
                yield f"{section}: {name} has a row, and is not there"
    for section in SECTIONS:
        for name, by in rows.get(section, {}).items():
            named = re.findall(r"`([^`]+)`", by)
            if not named and "none" not in by:
                yield f"{section}: the row of {name} names nothing"
            for word in named:
                if word not in checks.CHECKS and not (root / word).exists():
                    yield f"{section}: the row of {name} names {word}, which is neither a check nor a file"


def main():
    found = list(faults(sys.argv[1], pathlib.Path(sys.argv[2])))
    print("\n".join(found) or "every command, format, metric and table has its row")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
