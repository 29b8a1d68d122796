#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-links.py DIRECTORY: does each link of the Markdown pages below it, and each picture, lead to a file that is
there, and, with an anchor, to a heading of that page?
"""
import functools
import os
import re
import sys


def read(path):
    """A page without its code."""
    with open(path, encoding="utf-8") as file:
        return re.sub(r"^```.*?^```", "", file.read(), flags=re.S | re.M)


@functools.cache
def anchors(path):
    """Those that are written, and of its headings, as GitHub and others make them."""
    text = read(path)
    found = re.findall(r"<a (?:id|name)=\"([^\"]*)\"", text)
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", shown).replace(" ", "-")
        found.append(f"{name}-{found.count(name)}" if name in found else name)
    return found


def faults(page):
    text = re.sub(r"`[^`\n]*`", "", read(page))
    for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", text) + re.findall(r"\b(?:src|srcset)=\"([^\"\s]+)", text):
        path, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        place = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(place):
            yield f"{page}: {target}: leads nowhere"
        elif anchor and place.endswith(".md") and anchor not in anchors(place):
            yield f"{page}: {target}: the page has no such heading"


def main():
    pages = [os.path.join(folder, name) for folder, folders, names in os.walk(sys.argv[1]) for name in names
             if name.endswith(".md") and not re.search(r"/(build|\.)[^/]*(/|$)", folder)]
    found = [fault for page in sorted(pages) for fault in faults(page)]
    print(*found, f"{len(pages)} pages, {len(found)} links that lead nowhere", sep="\n")
    return 1 if found or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
