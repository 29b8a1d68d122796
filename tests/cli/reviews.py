#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reviews.py DIRECTORY: what the files for reviewers say, which steptrace has written there for names that are meant to break out of
them: NAME.sarif, NAME.json, NAME.xml, NAME.md, NAME.github (standard error under GitHub Actions), summary.md.
"""
import html.parser
import json
import pathlib
import re
import sys
import urllib.parse
import xml.etree.ElementTree as xml


class Markdown(html.parser.HTMLParser):
    """The texts of cells, and tags that are none of ours."""

    def __init__(self, text):
        super().__init__()
        self.cells, self.other = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "td":
            self.cells.append("")
        if tag not in ("table", "tr", "td", "code", "pre") or attrs:
            self.other.append(tag)

    def handle_data(self, data):
        if self.cells and self.lasttag in ("td", "code", "pre"):
            self.cells[-1] += data


def commands(text):
    """Lines that a runner takes as commands: at the beginning, or the old form anywhere."""
    return [line for line in text.splitlines() if line.lstrip().startswith("::") or re.search(r"^(?!::).*##\[", line)]


def markdown(path):
    text = path.read_text(encoding="utf-8")
    head, _, rest = text.partition("<table>\n")
    page = Markdown(text)
    blank = "\n\n" in rest[:rest.rindex("</table>")] if rest else False
    return head.strip(), [tuple(page.cells[i:i + 3]) for i in range(0, len(page.cells), 3)], page.other, blank


def show(directory):
    for path in sorted(directory.iterdir()):
        kind = path.suffix
        if kind == ".sarif":
            run = json.loads(path.read_text(encoding="utf-8"))["runs"][0]
            for result in run["results"]:
                place = result.get("locations", [{}])[0].get("physicalLocation", {})
                uri = place.get("artifactLocation", {}).get("uri", "")
                assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
                assert re.fullmatch(r"[A-Za-z0-9\-._~/%:]*", uri), uri
                print(path.name, result["level"], result["ruleId"], ascii(urllib.parse.unquote_to_bytes(uri)),
                      place.get("region", {}).get("startLine"), ascii(result["message"]["text"]))
            prints = [result["partialFingerprints"]["steptrace/v1"] for result in run["results"]]
            print(path.name, len(prints), len(set(prints)))
        elif kind == ".json":
            for entry in json.loads(path.read_text(encoding="utf-8")):
                print(path.name, entry["severity"], ascii(entry["location"]), ascii(entry["description"]))
        elif kind == ".xml":
            for case in xml.parse(path).getroot():
                print(path.name, ascii(case.get("name")), *(f"{part.tag} {ascii(part.get('message'))} {ascii(part.text)}" for part in case))
        elif kind == ".md":
            head, rows, other, blank = markdown(path)
            print(path.name, ascii(head), other, blank)
            print(*(ascii(row) for row in rows), sep="\n")
        elif kind == ".github":
            print(*(f"{path.name} {ascii(line)}" for line in commands(path.read_text(encoding="utf-8"))), sep="\n")


if __name__ == "__main__":
    show(pathlib.Path(sys.argv[1]))
