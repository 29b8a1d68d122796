#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""install-docs.py DIRECTORY [WITHOUT...]: copies the documentation, its pages laid out as in the tree, so that links
between them work; a link to what is not installed becomes its text.
"""
import os
import re
import shutil
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SINGLE = ["README.md", "CHANGELOG.md", "LICENSE", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "CITATION.cff"]
TREES = [("docs", (".md", ".json", ".png", ".svg")), ("examples", (".c", ".step", ".md", ".java"))]


def pages():
    """What is installed, as paths from the tree's top; man pages are installed elsewhere."""
    for name in SINGLE:
        if os.path.exists(os.path.join(TOP, name)):
            yield name
    for tree, endings in TREES:
        for folder, _, names in os.walk(os.path.join(TOP, tree)):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), TOP)
                if name.endswith(endings):
                    yield path


def unlinked(text, page, installed):
    """The page's text without links to what stays behind."""
    def one(found):
        label, target = found.groups()
        path = os.path.normpath(os.path.join(os.path.dirname(page), target.split("#")[0]))
        keeps = "://" in target or target.startswith("#") or path in installed
        return found[0] if keeps else label
    return re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", one, text)


def main():
    out = sys.argv[1]
    installed = set(pages()) - set(sys.argv[2:])
    for page in sorted(installed):
        place = os.path.join(out, page)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if page.endswith(".md"):
            with open(os.path.join(TOP, page), encoding="utf-8") as file:
                text = file.read()
            with open(place, "w", encoding="utf-8") as file:
                file.write(unlinked(text, page, installed))
        else:
            shutil.copyfile(os.path.join(TOP, page), place)


if __name__ == "__main__":
    main()
