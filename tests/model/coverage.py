# SPDX-License-Identifier: Apache-2.0
"""What the checks look at: options that they try, members of JSON that they read, columns that they ask for.

What the product has and no check looks at is a fault, unless the README names it under "Not looked at"; so is a name there that the product
does not have."""
import json
import re
import subprocess

OPTIONS, MEMBERS, QUERIES = set(), set(), []  # (verb, option), (schema, member), texts for `sql`
SCHEMAS = ("advise", "compare", "deaths", "heap", "leaks", "lifetimes", "locality", "nominal", "paths", "retained", "simulate", "stats", "watch",
           "watch-sampled")
# Of `convert`, `dump`, `pack`, ... and of all verbs: no numbers.
NO_NUMBERS = {"help", "output", "from", "dtd", "definition", "memory", "json", "csv", "quiet", "junit", "source-url", "svg",
              "sarif", "code-quality", "markdown"}


class Read(dict):
    """An object of JSON that notes which members are looked at."""

    schema = None

    def note(self, *names):
        MEMBERS.update((self.schema, name) for name in names)

    def __getitem__(self, name):
        self.note(name)
        return super().__getitem__(name)

    def get(self, name, default=None):
        self.note(name)
        return super().get(name, default)

    def __contains__(self, name):
        self.note(name)
        return super().__contains__(name)

    def items(self):
        self.note(*self)
        return super().items()

    def values(self):
        self.note(*self)
        return super().values()


def schema_of(words, text):
    verb = words[0]
    if verb == "heap" and "--retained" in words:
        return "retained"
    return "watch-sampled" if verb == "watch" and '"sample' in text else verb


def read_json(words, text):
    kind = type("Read", (Read,), {"schema": schema_of(words, text)})
    return json.loads(text or "[]", object_pairs_hook=kind)


def note_run(words):
    verb = words[0]
    OPTIONS.update((verb, word[2:].split("=")[0]) for word in words if word.startswith("--"))
    if verb == "sql":
        QUERIES.append(words[-1])


def members_of(schema):
    for name, part in schema.get("properties", {}).items():
        yield name
        yield from members_of(part)
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            yield from members_of(schema[name])
    for name in ("anyOf", "oneOf", "allOf"):
        for part in schema.get(name, []):
            yield from members_of(part)


def known_members(root):
    for name in SCHEMAS:
        with open(root / f"docs/schemas/{name}.schema.json", encoding="utf-8") as file:
            for member in members_of(json.load(file)):
                yield "member", name, member


def known_options(steptrace, verbs):
    for verb in verbs:
        text = subprocess.run([steptrace, verb, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
        for option in re.findall(r"^ +(?:-\w, +)?--([a-z-]+)", text, re.M):
            if option not in NO_NUMBERS:
                yield "option", verb, option


def known_columns(root):
    """Tables of docs/tables.md: the columns are the first cells of the rows below a heading."""
    text = (root / "docs/tables.md").read_text(encoding="utf-8").split("## Tables of a native", 1)[0]
    for title, body in re.findall(r"^### (.*)\n((?:(?!^#).*\n)*)", text, re.M):
        for table in title.split(", "):
            for cell in re.findall(r"^\| *(`[^|]*) *\|", body, re.M):
                for column in re.findall(r"`(\w+)`", cell):
                    yield "column", table, column


def is_seen(kind, of, name):
    if kind == "option":
        return (of, name) in OPTIONS
    if kind == "member":
        return (of, name) in MEMBERS
    queries = [q for q in QUERIES if re.search(rf"\b{of}\b", q)]
    return any(re.search(rf"\b{name}\b|\*", q) for q in queries)


def excepted(readme):
    """Rows of the section: `KIND OF NAME ...` | reason."""
    section = readme.split("\n## Not looked at\n", 1)[1].split("\n## ", 1)[0]
    found = set()
    for what, reason in re.findall(r"^\| (`[^|]*) \| *(\S[^|]*?) *\|$", section, re.M):
        kind, of, *names = what.replace("`", "").split()
        found.update((kind, of, name) for name in names)
        assert reason, what
    return found


def faults(steptrace, root):
    known = set(known_members(root)) | set(known_columns(root)) | set(known_options(steptrace, sorted({verb for verb, _ in OPTIONS} - {"convert", "dump"})))
    readme = (root / "tests/model/README.md").read_text(encoding="utf-8")
    named = excepted(readme)
    for kind, of, name in sorted(known - named):
        if not is_seen(kind, of, name):
            yield f"no check looks at {kind} {name} of {of}, and the README does not say why"
    for kind, of, name in sorted(named):
        if (kind, of, name) not in known:
            yield f"{kind} {name} of {of} is named in the README, and is not there"
