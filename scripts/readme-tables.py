#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""readme-tables.py [--update] BUILD: does README.md have the verbs and formats that BUILD's steptrace lists?

Both tables are made of `steptrace help` and `steptrace convert --help`, which the tables in the source make.
--update writes them into README.md, between the lines `<!-- NAME -->` and `<!-- end -->`.
"""
import os
import re
import subprocess
import sys

PAGES = {  # formats whose page has another name
    "lines": "formats/text.md", "mtf": "formats/metatf.md", "simple-binary": "formats/hatf.md",
    "memory-replay": "formats/hatf.md", "callgrind": "formats/valgrind.md", "dhat": "formats/valgrind.md", "massif": "formats/valgrind.md", "csv": "formats/java.md",
    "jsonl": "formats/java.md", "parquet": "tables.md", "clickhouse-native": "tables.md"}


def output(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def verbs(program):
    yield "| command | what it does |"
    yield "|---|---|"
    listed = output(program, "help").partition("\nOther:\n")[0]
    for title, verb, summary in re.findall(r"^(?:([A-Z].*):|  ([a-z][a-z-]+)  +(.*))$", listed, re.M):
        yield f"| **{title}** | |" if title else f"| `{verb}` | {summary} |"


def formats(program):
    """A row for the formats that differ in their form only, or in what they are made of (hatf, hatf.zip, ..., callgrind,
    callgrind-calls), and for neighbours that share a page."""
    rows = {}
    for line in output(program, "convert", "--help").partition("\noptions:")[0].splitlines():
        found = re.match(r"  ([a-z][a-z.-]*)  +(?:(\.[a-z.-]+)  +)?(.*?)( \*)?(?: \+)?$", line)
        if found:
            name, ending, text, read = found.groups()
            base = name.removesuffix("-calls").split(".")[0]
            page = PAGES.get(base, f"formats/{base}.md")
            row = rows.setdefault((page, bool(read)), {"names": [], "endings": [], "texts": {}, "read": read})
            row["texts"].setdefault(base, text)
            row["names"].append(f"`{name}`")
            row["endings"] += [f"`{ending}`"] if ending else []
    yield "| format | `--to`, `--from` | file | read |"
    yield "|---|---|---|---|"
    for (page, _), row in rows.items():
        yield (f"| [{'; '.join(row['texts'].values())}](docs/{page}) | {' '.join(row['names'])} | {' '.join(row['endings'])} | "
               f"{'yes' if row['read'] else ''} |")


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)) + "/..")
    program = f"{sys.argv[-1]}/converter/steptrace"
    with open("README.md", encoding="utf-8") as file:
        text = file.read()
    made = text
    for name, table in (("commands", verbs), ("formats", formats)):
        made = re.sub(rf"(<!-- {name}\b.*? -->\n).*?(<!-- end -->)",
                      lambda found, table=table: found[1] + "\n".join(table(program)) + "\n" + found[2], made, flags=re.S)
    if "--update" in sys.argv:
        with open("README.md", "w", encoding="utf-8") as file:
            file.write(made)
    elif made != text or text.count("<!-- end -->") != 2:
        print("README.md: its tables differ from steptrace's: scripts/readme-tables.py --update BUILD")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
