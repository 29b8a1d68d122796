#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-docs.py: is what the pages about the source say still there?

In architecture.md, CONTRIBUTING.md, README.md and the READMEs of folders, each `path` must be a file
or a folder, each `path:function` must be a function that this file has, each unit_x, fuzz_x and
bench_x a test of the tree (or the beginning of its name); links are check-links.py's.
In a list of `path:function`s, as in architecture.md's journeys, each function is reached from one before it.
The pictures on all pages are checked as well (picture_faults).
X and FOLDER in a path stand for any; a folder's page names its own files without the path.
Further: README.md has at most README_LINES lines, links lead from docs/README.md to every page of docs/, and each message
in a heading or in the first column of a table of docs/troubleshooting.md is in a string of the source. Pages of
docs/results begin with date, machine and conditions, and each has a command in docs/artefact-evaluation.md. An agent in
/usr/lib is where the package puts it.
"""
import glob
import os
import re
import subprocess
import sys

from source_calls import Calls

PAGES = ["docs/architecture.md", "docs/README.md", "CONTRIBUTING.md", "README.md"]
TOPS = r"(?:agent|analyses|capture|cmake|compilers|converter|docs|examples|format|java-tests|malloc-recorder|python|scripts|tests)"


README_LINES = 180
LARGEST_PICTURE = 200_000  # bytes
CALLS_BETWEEN = 4  # at most, from one place of a journey to the next


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def defines(path, name):
    """A definition at the line's start, or `name(` in a table or macro of a header."""
    return re.search(rf"^[A-Za-z].*\b{name}\(|^{name}\(", read(path), re.M) is not None


def tests():
    """The names of unit tests' folders, fuzz targets and benchmarks."""
    names = ["fuzz_verbs"]
    for folder, _, files in os.walk("tests"):
        names += [n[:-2] for n in files if re.match(r"(fuzz|bench)_\w+\.c$", n)]
        for root, name in (("tests/unit/", "unit_"), ("tests/formats/", "unit_format_")):
            if folder.startswith(root):
                names.append(name + re.sub(r"\W", "_", folder[len(root):]))
    return names


def safety_faults():
    """Each row of a table of safety.md names what holds it, in its last column: a test or a script that is there."""
    text, names = read("docs/safety.md"), tests()
    cases = " ".join(read(path) for path in glob.glob("tests/jvm/*.py"))
    registered = " ".join(read(path) for path in glob.glob("tests/cli/CMakeLists.txt"))
    for row in re.findall(r"^\| .*\|$", text, re.M):
        holders = re.findall(r"`([^`]+)`", row.rsplit("|", 2)[1])
        if row.endswith("| held by |"):
            continue
        found = [name for name in holders if re.fullmatch(r"jvm\.\w+|unit_\w+|\w+_hostile|record_names_\*|scripts/[\w.-]+", name)]
        if not found and "[SECURITY.md]" not in row:
            yield f"docs/safety.md: {row[:60]}..: no test holds it"
        for name in found:
            case = name.removeprefix("jvm.")
            if not (is_test(name, names) if name.startswith("unit_") else os.path.exists(name) if "/" in name
                    else name.rstrip("*") in registered if not name.startswith("jvm.")
                    else f"def {case}(session)" in cases or os.path.exists(f"java-tests/facts/{case}.java")):
                yield f"docs/safety.md: there is no {name}"


def is_test(name, names):
    return any(n.startswith(name) or (n.startswith("unit_") and name.startswith(n)) for n in names)


def journeys(text):
    """The functions of each list whose lines begin with `path:function`."""
    for block in re.findall(rf"(?:^- `{TOPS}/[^\n]*\n(?:  [^\n]*\n)*)+", text, re.M):
        named = re.findall(rf"`{TOPS}/[\w./-]+:(\w+)`", block)
        if block.startswith("- `") and re.match(rf"- `{TOPS}/[\w./-]+:\w+`", block):
            yield named


def not_reached(names, calls):
    reached = set()
    for i, name in enumerate(names):
        if i > 0 and name not in reached:
            yield name
        reached |= calls.reach(name, CALLS_BETWEEN)


def unreachable():
    """Pages below docs/ to which no links lead from docs/README.md."""
    seen, todo = {"README.md"}, ["docs/README.md"]
    while todo:
        page = todo.pop()
        if page in seen or not os.path.exists(page):
            continue
        seen.add(page)
        for link in re.findall(r"\]\(([^)\s#]+\.md)", read(page)):
            todo.append(os.path.normpath(os.path.join(os.path.dirname(page), link)))
    return sorted({os.path.join(folder, name) for folder, _, names in os.walk("docs") for name in names
                   if name.endswith(".md")} - seen)


def headless():
    """Lab notes without the three lines that say when, where and how."""
    head = r"# [^\n]*\n\n- Date, commit: [^\n]+\n- Machine: [^\n]+\n- Conditions: "
    return [page for page in sorted(glob.glob("docs/results/*.md")) if not re.match(head, read(page))]


def wrong_places():
    """Pages that name the agent where no package puts it: a JVM does not start with such a path."""
    installed = read("debian/libsteptrace-java-agent.install").split()[0]
    for page in sorted(glob.glob("docs/**/*.md", recursive=True) + ["README.md"]):
        for place in re.findall(r"/usr/lib/[^\s=:`]*libtracer\.so", read(page)):
            if not re.fullmatch("/" + installed.replace("*", "[^/]+"), place):
                yield f"{page}: {place}: packages have it in /{installed}"


def without_command():
    """Lab notes that have no row with a command in the table of docs/artefact-evaluation.md."""
    rows = [line for line in read("docs/artefact-evaluation.md").splitlines() if re.match(r"\|.*\| `", line)]
    return [page for page in sorted(glob.glob("docs/results/*.md"))
            if not any(f"](results/{os.path.basename(page)})" in row.split("|")[1] for row in rows)]


def unknown_messages(page):
    """Messages that headings and tables begin with or quote (or their parts between `...`), and no string of the source has."""
    sources = subprocess.run(["git", "ls-files", "*.c", "*.h"], check=True, text=True, stdout=subprocess.PIPE).stdout.split()
    strings = re.sub(r'"\s*\n\s*"', "", "\n".join(read(path) for path in sources if not path.startswith("tests/")))
    for message in re.findall(r"^(?:#.*?|\| )`([^`]*)`", read(page), re.M):
        for part in message.split("..."):
            if part.strip() not in strings:
                yield f"{page}: {part.strip()!r}: no such message in the source"


def picture_faults():
    """Each picture is small, comes in light and in dark, and is on a page; those on pages are there."""
    found = sorted(os.listdir("docs/pictures"))
    pages = subprocess.run(["git", "ls-files", "*.md"], check=True, text=True, stdout=subprocess.PIPE).stdout.split()
    shown = {name for page in pages for name in re.findall(r"pictures/([\w.-]+\.(?:png|svg))", read(page))}
    for name in sorted(shown.union(found)):
        other = name.replace("-light.", "-dark.") if "-light." in name else name.replace("-dark.", "-light.")
        if name not in found:
            yield f"docs/pictures/{name}: is on a page and not there"
        elif os.path.getsize(f"docs/pictures/{name}") > LARGEST_PICTURE:
            yield f"docs/pictures/{name}: has over {LARGEST_PICTURE} bytes"
        elif other == name or other not in found:
            yield f"docs/pictures/{name}: does not come in light and in dark"
        if name not in shown:
            yield f"docs/pictures/{name}: is on no page"


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)) + "/..")
    tracked = subprocess.run(["git", "ls-files", "*README.md"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout.split()
    pages = PAGES + [p for p in tracked if p not in PAGES and not p.startswith(("tests/", "java-tests"))]
    faults, count, names = [], 0, tests()
    calls = Calls(("agent", "analyses", "capture", "compilers", "converter", "format", "malloc-recorder"))
    for page in pages:
        text = read(page)
        here = os.path.dirname(page)
        prose = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
        for quoted in re.findall(r"`([^`\n]+)`", prose):
            own = r"|[\w/]+\.[chyl]|[\w]+/" if page.endswith("/README.md") else ""
            found = re.fullmatch(rf"({TOPS}/[\w./-]*|{TOPS}/?|[A-Z][\w.]+\.(?:md|txt|json){own})(?::(\w+))?", quoted)
            if found is None:
                continue
            path, function = found.groups()
            if re.search(r"(?<![A-Za-z])(X|FOLDER)(?![A-Za-z])", path):  # stands for any
                continue
            count += 1
            if not any(os.path.exists(p) for p in (path, os.path.join(here, path))):
                faults.append(f"{page}: {path}: is not there")
            elif function and not defines(path, function):
                faults.append(f"{page}: {path}: has no {function}()")
        for named in journeys(text):
            count += len(named)
            faults += [f"{page}: {name}(): nothing before it in its list leads there" for name in not_reached(named, calls)]
        for name in re.findall(r"\b(?:unit|fuzz|bench)_[a-z]\w*", text):
            count += 1
            if not is_test(name, names):
                faults.append(f"{page}: {name}: no such test")
    faults += [f"{page}: no links lead there from docs/README.md" for page in unreachable()]
    faults += unknown_messages("docs/troubleshooting.md")
    faults += [f"{page}: begins without the lines Date, Machine and Conditions" for page in headless()]
    faults += [f"{page}: no command for its tables in docs/artefact-evaluation.md" for page in without_command()]
    lines = read("README.md").count("\n")
    faults += [f"README.md: {lines} lines, {README_LINES} at most"] if lines > README_LINES else []
    faults += picture_faults()
    faults += safety_faults()
    faults += wrong_places()
    print(*faults, f"{len(pages)} pages, {count} places", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
