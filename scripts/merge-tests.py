#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Appends tests to a CTestTestfile.cmake, so that one ctest runs those of several builds.

merge-tests.py FILE tests NAME BUILD [--prefix P] [--label RE] [--wrap COMMAND]
merge-tests.py FILE command [--property KEY=VALUE]... NAME LABEL|LABEL... COMMAND...
"""
import argparse
import json
import os
import re
import subprocess

# Properties whose values name other tests, or fixtures, of the same build.
NAMES = {"DEPENDS", "FIXTURES_SETUP", "FIXTURES_REQUIRED", "FIXTURES_CLEANUP"}


def quoted(text):
    """A CMake bracket argument."""
    fence = "=" * (1 + max([len(m) for m in re.findall(r"\](=*)", str(text))], default=0))
    return f"[{fence}[{text}]{fence}]"


def test_lines(name, command, properties):
    words = " ".join(quoted(word) for word in command)
    yield f"add_test({quoted(name)} {words})\n"
    for key, value in properties.items():
        if isinstance(value, bool):
            value = "TRUE" if value else "FALSE"
        elif isinstance(value, list):
            value = ";".join(str(item) for item in value)
        yield f"set_tests_properties({quoted(name)} PROPERTIES {key} {quoted(value)})\n"


def tests_of_build(args):
    listing = subprocess.run(["ctest", "--test-dir", args.build, "--show-only=json-v1"],
                             check=True, stdout=subprocess.PIPE).stdout
    for test in json.loads(listing)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        labels = properties.get("LABELS", [])
        if args.label and not any(re.search(args.label, label) for label in labels):
            continue
        for key in NAMES & properties.keys():
            properties[key] = [args.prefix + item for item in properties[key]]
        command = args.wrap.split() + test.get("command", ["false"])
        yield from test_lines(args.prefix + test["name"], command, properties)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    kinds = parser.add_subparsers(dest="kind", required=True)
    tests = kinds.add_parser("tests")
    tests.add_argument("build_name")
    tests.add_argument("build")
    tests.add_argument("--prefix", default="")
    tests.add_argument("--label", default="")
    tests.add_argument("--wrap", default="")
    command = kinds.add_parser("command")
    command.add_argument("--property", action="append", default=[])
    command.add_argument("test")
    command.add_argument("labels")
    command.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    if args.kind == "tests":
        lines = tests_of_build(args)
    else:
        properties = {"LABELS": args.labels.split("|"), "WORKING_DIRECTORY": os.getcwd(),
                      **dict(given.split("=", 1) for given in args.property)}
        words = args.command
        if os.path.exists(words[0]):
            words = [os.path.abspath(words[0])] + words[1:]
        lines = test_lines(args.test, words, properties)
    with open(args.file, "a", encoding="utf-8") as out:
        out.writelines(lines)


if __name__ == "__main__":
    main()
