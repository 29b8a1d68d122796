#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-tree.py [BUILD]: is the tree tidy, and do its lists of options agree?

Faults are: tracked junk (.orig, .rej, compiled files, build directories), links that lead out of the tree or
nowhere, paths of somebody's home in sources, sources above 600 lines that LONG gives no reason for, texts of a trace
that go to a stream as they are instead of by print_shown(), struct trace_text or the writers of CSV and JSON, and options of
the agent that differ between option_table.c, docs/agent-options.md and libtracer.7.  Untrue are: contracts that the
function under them cannot keep; comments, READMEs and CMake lines that name files or functions that are gone; heads of
files that were joined; CONTRIBUTING.md's recipe for formats, if it lacks an expected output that lists them.  No two C
sources have one name, and few functions: the share is printed.  With a BUILD: options of its steptrace, stepc and metatfc
that differ between --help and their man pages.
"""
import os
import re
import subprocess
import sys

JUNK = re.compile(r"\.(orig|rej|py[co]|o|a|so|swp|bak|log)$|~$|(^|/)(build(-[^/]*)?|__pycache__)(/|$)")
SOURCE = re.compile(r"\.([chlysv]|py|sh|java|js|css|html|cmake)$|(^|/)CMakeLists\.txt$")
HOME = re.compile(r"(?<![\w}.*)$-])/(?:home|root|Users|work)/\w[\w.-]*/")
LINES = 600
LONG = {  # sources above LINES, each with the reason
    "tests/unit/format/live/test_live.c": "one live file and all that is decoded and recovered from it",
    "tests/unit/agent/rewriter/test_rewrite.c": "byte by byte what the rewriter makes: one list of cases",
}
# What a trace or another process said, in a call that writes it: properties, and the bytes of names.
PRINTS = re.compile(r"\b(?:v?f?printf|f?puts(?:_unlocked)?|fwrite(?:_unlocked)?|perror)\s*\((?:[^;\"]|\"(?:[^\"\\]|\\.)*\")*;")
SAID = re.compile(r"\.unshown\b|\bstep_reader_property(?:_value|_key)?\(|"
                  r"(?:fwrite\w*\s*\(|\(const char \*\))[^,;]*(?:\.|->)data\b(?!\[)|"
                  r"\btarget(?:\.|->)path\b")  # the name of what another process has open
KEEPS = re.compile(r"\bconst char \*(\w+) = (?:event_source_property\([^;()]*\)\.unshown|step_reader_property\w*\([^;()]*\));")
PRINTERS = {  # the functions that escape, and writers of formats that are no text
    "converter/cli/error_report.c": "print_shown()",
    "converter/output/protobuf_output.c": "binary",
    "converter/cli/utf8_text.c": "UTF-8",
    "converter/formats/hprof/heapdump_writer.c": "binary",
    "converter/formats/hprof/hprof_writer.c": "binary",
    "converter/formats/jfr/jfr_file.c": "binary",
    "converter/formats/pprof.c": "binary",
    "analyses/tables/entry_rows.c": "into memory, for a column",
}
COMMENT = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|(?P<said>/\*(?:[^*]|\*(?!/))*\*/)")
CONTRACT = re.compile(r"/\*((?:[^*]|\*(?!/))*)\*/\n((?:(?:static|inline|extern|const|struct|enum|unsigned) )*\w+ \**)(\w+)\([^;{]*[;{]")
ELSEWHERE = set("""a/B.c file.c BASE.c BASE.h net_trace.h asm/prctl.h jmm.h term.h
    pidfd_getfd sqlite3_malloc""".split())  # in comments: examples, what is generated, and what is not ours
FUNCTION = re.compile(r"^(?!typedef|else|return)[A-Za-z][^;{}#=()\n]*?\b(\w+)\s*\([^;{}]*\)\s*\{", re.M)
NOISE = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|__attribute__\s*\(\(.*?\)\)", re.S)
SHARED = 10  # per cent of the functions of the product, at most, may have a name that another file has, too
LISTED = 20  # formats: an expected output with more of them is a list that a new format has to be added to


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def output(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def link_fault(path):
    target = os.readlink(path)
    place = os.path.normpath(os.path.join(os.path.dirname(path), target))
    if os.path.isabs(target) or place.split("/")[0] == "..":
        return f"{path}: a link out of the tree, to {target}"
    return None if os.path.exists(path) else f"{path}: a link to {target}, which is not there"


def file_faults(path):
    if JUNK.search(path):
        yield f"{path}: is no source: git rm --cached, and .gitignore"
    if os.path.islink(path):
        yield from filter(None, [link_fault(path)])
    elif SOURCE.search(path) and "/data/" not in path and os.path.exists(path):
        text = read(path)
        for found in HOME.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            yield f"{path}:{line}: {found[0]}: a path of one machine"
        if path.startswith(("converter/", "analyses/")) and path.endswith(".c") and path not in PRINTERS:
            yield from raw_text_faults(path, text)
        lines = text.count("\n")
        if lines > LINES and path not in LONG:
            yield f"{path}: {lines} lines: split it, or give LONG in scripts/check-tree.py a reason"
        if lines <= LINES and path in LONG:
            yield f"{path}: {lines} lines: LONG in scripts/check-tree.py names it without need"


def raw_text_faults(path, text):
    """Statements that print what SAID finds, or a variable that KEEPS it in the same function."""
    line = 1
    for function in re.split(r"(?<=^}\n)", text, flags=re.M):
        kept = set(KEEPS.findall(function))
        for statement in PRINTS.finditer(function):
            words = set(re.findall(r"\w+", re.sub(r'"(?:[^"\\]|\\.)*"', "", statement[0])))
            if SAID.search(statement[0]) or words & kept:
                yield f"{path}:{line + function.count(chr(10), 0, statement.start())}: prints a text of a trace as it is, " \
                      "which print_shown(), trace_text.h and csv_put_shown() escape"
        line += function.count("\n")


def contract_faults(path, text):
    """What a comment says of the function under it and its type denies."""
    for found in CONTRACT.finditer(text):
        says = " ".join(re.sub(r"\n \*", " ", found[1]).split())
        for value in re.findall(r"(?:^|[.;:] )Returns (true|false|whether|NULL)\b", says):
            if found[2] == "void " or (value != "NULL" and not re.search(r"(?:bool|int|jboolean) $", found[2])):
                yield f"{path}:{text.count(chr(10), 0, found.start(2)) + 1}: {found[3]}() returns no such value: {value}"


def comment_faults(path, text, bases, words):
    """Files and functions that comments name and that are gone; heads that are left in the middle of a file."""
    for comment in COMMENT.finditer(text):
        line = text.count("\n", 0, comment.start()) + 1
        files = [name for name in re.findall(r"(?<![\w/.-])(?:[\w-]+/)*[\w-]+\.[chly]\b(?![\w.])", comment["said"] or "")
                 if os.path.basename(name) not in bases]
        calls = [name for name in re.findall(r"(?<![\w:.])([a-z][a-z0-9_]*)\(\)", comment["said"] or "") if name not in words]
        for name in {*files, *calls} - ELSEWHERE:
            yield f"{path}:{line}: {name}: there is no such file or function"
    if path.endswith(".c") and not path.startswith("tests/"):
        for head in re.finditer(r"\n\n/\*(?! ----)(?:[^*]|\*(?!/))*\*/\n\n", text[text.find("\n#"):]):
            line = text.count("\n", 0, text.find("\n#") + head.start() + 2) + 1
            yield f"{path}:{line}: a comment of nothing: above what it is about, or as /* ---- part ---- */"


def place_faults(path, text):
    """Files that CMake and the tables of READMEs (`| file |`) name and that are gone, and those that such a table lacks."""
    here = os.path.dirname(path)
    if path.endswith("CMakeLists.txt"):
        for name in re.findall(r"(?<![\w./${}<>-])[\w./-]+\.c(?![\w.])", re.sub(r"#.*", "", text)):
            if not os.path.exists(os.path.join(here, name)) and not name.endswith(".pb-c.c"):  # protoc-c makes it
                yield f"{path}: {name}: there is no such file"
    for table in re.findall(r"^\| file \|.*\n\|-.*\n((?:\|.*\n)+)", text, re.M) if path.endswith("README.md") else ():
        firsts = [re.sub(r"\(.*?\)", "", row.split("|")[1]) for row in table.splitlines()]
        named = re.findall(r"[\w/]+(?:\.\w+)?", " ".join(firsts))
        for name in named:
            if not any(os.path.exists(base + kind) for base in (name, f"{here}/{name}") for kind in ("", ".c", ".h")):
                yield f"{path}: {name}: there is no such file"
        for name in sorted(os.listdir(here)):
            if name.endswith(".c") and not {name, name[:-2]} & set(named):
                yield f"{path}: its table lacks {name}"


def list_faults(files):
    """Expected outputs that list the formats are in the recipe for formats."""
    formats = {name.replace("_", "[-.]") for name in re.findall(r"\bX\((\w+)\)", read("converter/trace/trace_format.h"))}
    recipe = re.search(r"^\*\*A format\*\*.*?^\*\*", read("CONTRIBUTING.md"), re.M | re.S)[0]
    for path in files:
        if re.search(r"^(tests/cli|analyses/[^/]+)/cases/.*\.(out|err)$", path) and os.path.basename(path) not in recipe:
            text = read(path)
            if sum(re.search(rf"(?<![\w.-]){name}(?![\w-])", text) is not None for name in formats) > LISTED:
                yield f"CONTRIBUTING.md: the recipe for a format lacks {path}, which lists them"


def name_faults(sources):
    """Two C sources of one name, and the share of functions whose name another file has, too."""
    where, functions = {}, {}
    for path, text in sources.items():
        where.setdefault(os.path.basename(path), []).append(path)
        if not path.startswith(("tests/", "java-tests/", "examples/")):
            for name in FUNCTION.findall(NOISE.sub(" ", text)):
                functions.setdefault(name, []).append(path)
    yield from (f"{name}: {' '.join(paths)}: one name" for name, paths in sorted(where.items()) if len(paths) > 1)
    count = sum(map(len, functions.values()))
    shared = sum(len(paths) for paths in functions.values() if len(set(paths)) > 1)
    print(f"{shared} of {count} functions, {100 * shared / count:.1f} %, have a name that another file has, too")
    if 100 * shared > SHARED * count:
        yield f"over {SHARED} % of the functions share their names: a static function carries its file's noun, as jfr_put()"


def text_faults(files):
    texts = {path: read(path) for path in files if SOURCE.search(path) or path.endswith("README.md")}
    sources = {path: text for path, text in texts.items() if re.search(r"\.[chly]$", path)}
    bases = {os.path.basename(path) for path in files}
    words = {word for text in texts.values() for word in re.findall(r"\w+", COMMENT.sub(lambda found: " " if found["said"] else found[0], text))}
    for path, text in sources.items():
        yield from contract_faults(path, text)
        yield from comment_faults(path, text, bases, words)
    for path, text in texts.items():
        yield from place_faults(path, text)
    yield from list_faults(files)
    yield from name_faults(sources)


def compare(name, lists):
    """Each option must be in all lists."""
    for option in sorted(set().union(*lists.values())):
        missing = [where for where, options in lists.items() if option not in options]
        if missing:
            yield f"{name} {option}: not in {', '.join(missing)}"


def agent_faults():
    table = read("docs/agent-options.md")
    yield from compare("option of the agent:", {
        "option_table.c": set(re.findall(r'^ *\{"([\w-]+)", "', read("agent/base/option_table.c"), re.M)) | {"help", "dormant"},
        "docs/agent-options.md": set(re.findall(r"`([\w-]+)`", " ".join(re.findall(r"^\| (`[^|]*)\|", table, re.M)))),
        "libtracer.7": set(re.findall(r"\bCm ([\w-]+)=", read("docs/man/libtracer.7"))) | {"help", "dormant"}})


def page_options(text, lines):
    """sort of `.It Fl -sort`, n and top of `.It Fl n , -top`, stop of `--stop`."""
    return set(re.findall(r"(?:\bFl -?|, -|--)(\w[\w-]*)", "\n".join(re.findall(lines, text, re.M))))


def verb_faults(program):
    page = read("docs/man/steptrace.1")
    parts = re.findall(r"^\.S[sh] ([^\n]*)\n(.*?)(?=^\.S[sh] |\Z)", page, re.S | re.M)
    verbs = re.findall(r"^  ([a-z][a-z-]+) ", output(program, "help"), re.M)
    own = {*verbs, "SYNOPSIS", "EXAMPLES"}
    shared = page_options("\n".join(text for name, text in parts if name not in own), "^.*$")
    for verb in verbs:
        section = "\n".join(text for name, text in parts if name == verb)
        helped = re.findall(r"^ +(?:-(\w), )?--([a-z][\w-]*)", output(program, verb, "--help"), re.M)
        described = page_options(section, "^.*$") | shared | {"help"}
        for names in helped:
            if described.isdisjoint(filter(None, names)):
                yield f"steptrace {verb}: --{names[1]}: not in steptrace.1"
        for option in sorted(page_options(section, r"^\.It Fl .*$").difference(*helped)):
            yield f"steptrace {verb}: --{option}: in steptrace.1, not in its --help"


def compiler_faults(build, name):
    helped = set(re.findall(r"(?<![\w-])-(-?[A-Za-z]\w*)", output(f"{build}/bin/{name}", "--help"), re.M))
    described = set(re.findall(r"\bFl (-?[A-Za-z]\w*)", read(f"docs/man/{name}.1")))
    yield from compare(f"option of {name}: -", {"--help": helped, f"{name}.1": described})


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)) + "/..")
    files = output("git", "ls-files", "-z").split("\0")[:-1]
    faults = [fault for path in files for fault in file_faults(path)]
    faults += [*text_faults([path for path in files if os.path.isfile(path)]), *agent_faults()]
    if len(sys.argv) > 1:
        faults += verb_faults(f"{sys.argv[1]}/converter/steptrace")
        faults += [fault for name in ("stepc", "metatfc") for fault in compiler_faults(sys.argv[1], name)]
    print(*faults, f"{len(files)} files, {len(faults)} faults", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
