#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""try_random.py EXTENSION STEPTRACE [--queries N] [--seed S] [TRACE]...: random queries of these
traces' tables and of two made-up ones', and of copies of the tables that SQLite has made, have the same rows.

The copies are SQLite's own tables, so what differs is the fault of the virtual tables: of rows that a scan passes
over, of ids of rows by which SQLite joins several scans (MULTI-INDEX OR, right and full joins), of grouping.
A part of the queries goes through `steptrace sql`, too.  The failure prints the trace and the query.
"""
import argparse
import collections
import csv
import io
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import try_doors
import try_more

SQLITE = "/usr/bin/sqlite3"
END = "-- end of answer --"
ID_OF_COPY = "id of the row"
PAIRS_MOST = 1000000  # of two tables that are joined: some joins are quadratic
READS_ALL = ("lifetimes", "advice")  # each scan reads the trace
ROWS_MOST = 60000


class Shell:
    """SQLite's shell, which has the extension and a trace."""

    def __init__(self, extension, trace):
        self.process = subprocess.Popen(
            [SQLITE, "-batch", ":memory:"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="surrogateescape")
        self.ask(f".load {os.path.splitext(extension)[0]}\n.mode quote\nselect steptrace_open('{trace}');")

    def ask(self, text):
        """The lines that a query prints."""
        self.process.stdin.write(f"{text}\n.print {END}\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.rstrip("\n") == END:
                return lines
            lines.append(line.rstrip("\n"))
        sys.exit(f"sqlite3 ended; its last lines: {lines[-5:]}")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def is_literal(value):
    """Whether a printed value is one line, and can stand in a query."""
    return (len(value) < 200 and value.isprintable() and value.count("'") in (0, 2) and
            value.startswith("'") == value.endswith("'"))


class Table:
    def __init__(self, shell, name, rows, chance):
        self.name, self.rows = name, rows
        self.columns = [line.split(",")[1].strip("'") for line in shell.ask(f'pragma table_xinfo("{name}");')]
        shell.ask(f'create table "c_{name}" as select *, rowid as "{ID_OF_COPY}" from "{name}";')
        ids = shell.ask(f'select count(distinct "{ID_OF_COPY}") = count(*) and min("{ID_OF_COPY}") > 0 from "c_{name}";')
        self.has_ids = ids == ["1"]
        self.values = {}
        for column in self.columns:
            found = shell.ask(f'select distinct "{column}" from (select "{column}" from "c_{name}" limit 3000);')
            found = [v for v in found if is_literal(v)]
            self.values[column] = chance.sample(found, min(len(found), 12)) + ["null"] * (chance.random() < 0.2 or not found)

    def column(self, chance):
        return chance.choice(self.columns)


def changed(chance, value):
    """A value of a table, or now and then one near it, of another type, or of no row."""
    if chance.random() > 0.15 or value.lower() == "null":
        return value
    if value.startswith("'"):
        return chance.choice([f"upper({value})", f"{value} collate nocase", f"({value} || ' ') collate rtrim", "''", "7", "x'00'"])
    if value.startswith("X"):
        return value
    return chance.choice([f"{value} + 0.5", f"-{value}", f"'{value}'", f"{value} - 0.25", "9223372036854775807", "-9223372036854775808", "1e19", "-1e300",
                          "9e999", "''", "'x'", "x'00'"])


def condition(chance, table, alias, depth=0):
    """A random condition on one table."""
    shape = chance.random()
    if depth < 2 and shape < 0.35:
        joiner = chance.choice(["or", "or", "and"])
        parts = [condition(chance, table, alias, depth + 1) for _ in range(chance.randint(2, 3))]
        return "(" + f" {joiner} ".join(parts) + ")"
    column = table.column(chance)
    name = f'{alias}."{column}"'
    value = changed(chance, chance.choice(table.values[column]))
    kind = chance.random()
    if kind < 0.08:
        return f"{name} is {chance.choice(['null', 'not null'])}"
    if kind < 0.2:
        return f"{name} {chance.choice(['in', 'in', 'not in'])} ({', '.join(changed(chance, chance.choice(table.values[column])) for _ in range(3))})"
    if kind < 0.3:
        return f"{name} between {value} and {chance.choice(table.values[column])}"
    if kind < 0.36 and value.startswith("'") and value.endswith("'"):
        return f"{name} glob '{value.strip(chr(39))[:3]}*'" if chance.random() < 0.5 else f"{name} like '%{value.strip(chr(39))[1:3]}%'"
    return f"{name} {chance.choice(['=', '=', '<', '<=', '>', '>=', '!='])} {value}"


def aggregate(chance, table, alias):
    # Sums and means of reals depend on the order of rows.
    column = f'{alias}."{table.column(chance)}"'
    return chance.choice(["count(*)", f"count({column})", f"min({column})", f"max({column})", f"count(distinct {column})"])


def key(chance, a, b):
    """A column by which two tables can be joined without millions of rows."""
    if a.rows * b.rows * (20 if b.name in READS_ALL else 1) > PAIRS_MOST:
        return None
    wanted = [c for c in a.columns if c in b.columns and c in ("object", "class_id", "site", "method", "address")]
    return chance.choice(wanted) if wanted else None


def query(chance, tables):
    """A random query: its text with {t:NAME} for tables."""
    a = chance.choice(tables)
    shape = chance.randrange(15)
    where = f"where {condition(chance, a, 'a')}"
    names = ", ".join(f'a."{c}"' for c in chance.sample(a.columns, min(len(a.columns), 3)))
    if shape <= 1:
        return f"select count(*) from {{{a.name}}} a {where}"
    if shape == 2:
        order = ", ".join(f'a."{c}" {chance.choice(["asc", "desc"])}' for c in chance.sample(a.columns, len(a.columns)))
        return f"select {names} from {{{a.name}}} a {where} order by {order} limit {chance.randint(1, 40)} offset {chance.randint(0, 9)}"
    if shape == 3:
        by = f'a."{a.column(chance)}"'
        more = "min({id})" if chance.random() < 0.2 else aggregate(chance, a, "a")
        return f"select {by}, {aggregate(chance, a, 'a')}, {more} from {{{a.name}}} a {where} group by {by}"
    if shape == 4:
        return f"select distinct {names} from {{{a.name}}} a {where}"
    if shape == 9:  # a row has its id in each scan
        return f'select {{id}}, {names} from {{{a.name}}} a {where}'
    if shape == 10:
        column = a.column(chance)
        return (f'select count(*), (select count(*) from {{{a.name}}} a {where}) from {{{a.name}}} a where a."{column}" in '
                f'(select "{column}" from {{{a.name}}} a {where}) or {condition(chance, a, "a")}')
    if shape == 11:
        column = a.column(chance)
        order = ", ".join(f'a."{c}"' for c in a.columns)
        return (f'select count(*), min(x), max(x) from (select count(a."{column}") over (order by {order} rows between '
                f'{chance.randint(0, 9)} preceding and current row) x from {{{a.name}}} a {where})')
    b = chance.choice(tables)
    on = key(chance, a, b)
    if shape == 5 or on is None:
        column = f'"{a.column(chance)}"'
        order = ", ".join(f'a."{c}"' for c in a.columns)
        return (f"select {column}, count(*) from (select {column}, rank() over (partition by {column} order by {order}) r "
                f"from {{{a.name}}} a {where}) group by 1")
    if shape == 6:
        return (f'select count(*), count(distinct a."{on}") from {{{a.name}}} a where exists '
                f'(select 1 from {{{b.name}}} b where b."{on}" = a."{on}" and {condition(chance, b, "b")}) or {condition(chance, a, "a")}')
    if shape == 7:
        return (f'select "{on}" from {{{a.name}}} a {where} {chance.choice(["union", "intersect", "except"])} '
                f'select "{on}" from {{{b.name}}} b where {condition(chance, b, "b")}')
    thirds = [t for t in tables if a.rows * b.rows * t.rows < PAIRS_MOST and key(chance, b, t)]
    if shape == 12 and thirds:  # rows of three tables
        c = chance.choice(thirds)
        to = key(chance, b, c)
        return (f'select count(*), count(b."{on}"), count(c."{to}") from {{{a.name}}} a left join {{{b.name}}} b on a."{on}" = b."{on}" '
                f'left join {{{c.name}}} c on b."{to}" = c."{to}" and {condition(chance, c, "c")} {where} or {condition(chance, b, "b")}')
    if shape >= 13:  # groups of joined rows
        keys = [f'a."{a.column(chance)}"'] + ([f'b."{b.column(chance)}"'] if chance.random() < 0.4 else [])
        what = "distinct " + ", ".join(keys) if shape == 14 else f'{", ".join(keys)}, count(*), {aggregate(chance, b, "b")}'
        return (f'select {what} from {{{a.name}}} a {chance.choice(["join", "left join", "cross join"])} {{{b.name}}} b on a."{on}" = b."{on}" {where}'
                f'{" and " + condition(chance, b, "b") if chance.random() < 0.5 else ""} {"group by " + ", ".join(keys) if shape == 13 else ""}'
                f'{" having count(*) > 1" if shape == 13 and chance.random() < 0.3 else ""}')
    kind = chance.choice(["join", "left join", "right join", "full join"])
    more = condition(chance, b, "b")
    return (f'select count(*), count(a."{on}"), count(b."{on}") from {{{a.name}}} a {kind} {{{b.name}}} b '
            f'on a."{on}" = b."{on}" and {condition(chance, a, "a")} and {condition(chance, b, "b")}')


def of(text, prefix, tables):
    for table in tables:
        text = text.replace(f"{{{table.name}}}", f'"{prefix}{table.name}"')
    return text.replace("{id}", f'a."{ID_OF_COPY}"' if prefix else "a.rowid")


def rows_of_command(steptrace, trace, text):
    done = subprocess.run([steptrace, "sql", "--csv", trace, text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="surrogateescape", check=False)
    if done.returncode != 0:
        return [done.stderr]
    return list(csv.reader(io.StringIO(done.stdout)))[1:]


def compare(shell, steptrace, trace, chance, tables, number):
    text = query(chance, tables)
    got = collections.Counter(shell.ask(of(text, "", tables) + ";"))
    # SQLite 3.40 finds nothing in an automatic index by a condition with a collation.
    wanted = collections.Counter(shell.ask(f'pragma automatic_index=0;\n{of(text, "c_", tables)};\npragma automatic_index=1;'))
    failed = got != wanted
    if not failed and number % 5 == 0 and text.startswith("select count(*) from") and not any("rror" in line for line in wanted):
        command = rows_of_command(steptrace, trace, of(text, "", tables))
        failed = [[str(n)] for n in wanted] != command
        got = command if failed else got
    if failed:
        print(f"{trace}\n{of(text, '', tables)}\n  the copies have: {list(wanted.items())[:3]}\n  the tables have: {list(got)[:3]}")
        for line in shell.ask("explain query plan " + of(text, "", tables) + ";"):
            print("   ", line)
    return any("rror" in line for line in wanted), failed


def step_traces(paths, work):
    """The traces under names that say their format; of a folder, the files of one recording."""
    for path in map(pathlib.Path, paths):
        if path.suffix == ".step":
            yield str(path.absolute())
            continue
        files = sorted(path.glob("*.bin")) if path.is_dir() else [path]
        place = pathlib.Path(work, path.stem)
        place.mkdir()
        for file in files:
            shutil.copy(file, place / f"{file.stem}.step")
        yield str(place if path.is_dir() else place / f"{path.stem}.step")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("extension")
    parser.add_argument("steptrace")
    parser.add_argument("traces", nargs="*")
    options = parser.parse_args()
    faults = errors = asked = 0
    work = tempfile.TemporaryDirectory()
    try_doors.make_trace(f"{work.name}/made.txt", 1000 + options.seed % 1000)
    heap = "\n".join(try_more.Heap(900 + options.seed % 1000).lines)
    pathlib.Path(work.name, "native.hatf.txt").write_text(f"# HATF 1.0\n{heap}\n", encoding="utf-8")
    traces = [*step_traces(options.traces, work.name), f"{work.name}/made.step", f"{work.name}/native.step"]
    for source, trace in (("made.txt", traces[-2]), ("native.hatf.txt", traces[-1])):
        subprocess.run([options.steptrace, "convert", f"{work.name}/{source}", "-o", trace], check=True)
    for trace in traces:
        chance = random.Random(f"{options.seed} {os.path.basename(trace)}")
        shell = Shell(options.extension, trace)
        names = [line.strip("'") for line in shell.ask("select name from temp.sqlite_master order by 1;")]
        counts = {name: shell.ask(f'select count(*) from "{name}";')[0] for name in names}
        counts = {name: int(count) if count.isdigit() else 0 for name, count in counts.items()}  # a sample has no lifetimes
        tables = [Table(shell, name, counts[name], chance) for name in names if 0 < counts[name] <= ROWS_MOST and len(name) < 64]
        for table in tables:
            if not table.has_ids:
                print(f"{trace}: table {table.name} has two rows of one id")
                faults += 1
        for number in range(options.queries // len(traces)):
            error, failed = compare(shell, options.steptrace, trace, chance, tables, number)
            asked, errors, faults = asked + 1, errors + error, faults + failed
        shell.close()
    print(f"{asked} queries, {faults} differ; {errors} are errors in both")
    return 1 if faults or errors * 10 > asked else 0


if __name__ == "__main__":
    sys.exit(main())
