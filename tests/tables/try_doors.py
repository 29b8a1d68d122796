#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""try_doors.py STEPTRACE [NODE_MODULES]: tables of a made-up trace through each door, value by value.

The trace is text that this program makes, so that every value of every row is known; SQL (as CSV), Parquet
and Native have to have the same rows.  With NODE_MODULES (DuckDB, hyparquet) other people's readers have to, too.
"""
import csv
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

FORMATS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../formats")
sys.path[:0] = [f"{FORMATS}/clickhouse_native", f"{FORMATS}/parquet"]
import native_reader  # noqa: E402
import parquet_reader  # noqa: E402

CLASSES = ["java/lang/String", "[B", "pack/Größe", "java/util/HashMap$Node"]


def make_trace(path, objects):
    """Text of a trace, and its objects: number -> (class, born, died, survived)."""
    chance = random.Random(objects)
    lines = ["VS:0", "VI:1000", *(f"CL:1000:{c}" for c in CLASSES), "TB:1000:1"]
    known, live, now, collections = {}, [], 1000, []
    for number in range(1, objects + 1):
        now += chance.randrange(3) * 1000
        name = CLASSES[min(chance.randrange(8), 3)]
        lines.append(f"OA:{now}:{name}:{number}")
        known[number] = [name, now, None]
        live.append(number)
        if chance.randrange(objects // 5) == 0:
            now += 1000
            dead = sorted(n for n in live if chance.randrange(4))
            gone = set(dead)
            live = [n for n in live if n not in gone]
            for n in dead:
                lines.append(f"OF:{now}:{known[n][0]}:{n}")
                known[n][2] = now
            collections += [now] if dead else []
    lines += [f"TE:{now + 1000}:1", f"VD:{now + 2000}"]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    for row in known.values():
        row.append(sum(1 for c in collections if row[1] <= c < (row[2] or now + 2000)))
    return known


def run(*words, code=0):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode == code, (words, done.returncode, done.stderr.decode())
    return done.stdout, done.stderr.decode()


WANTED = "object,class,born,died,alive,survived"


def rows_of(names, columns):
    places = [names.index(n) for n in WANTED.split(",")]
    return {row[places[0]]: [row[p] for p in places[1:]] for row in zip(*columns)}


def check_rows(rows, known):
    assert len(rows) == len(known), (len(rows), len(known))
    for number, (name, born, died, survived) in known.items():
        row = rows[number]
        assert row[:3] == [name, born, died] and row[3] == (died is None), (number, row)
        assert row[4] == survived, (number, row, survived)


def check_doors(steptrace, trace, known, work):
    text, _ = run(steptrace, "sql", "--csv", trace, f"select {WANTED} from objects")
    table = list(csv.reader(io.StringIO(text.decode())))
    check_rows({int(r[0]): [r[1], int(r[2]), int(r[3]) if r[3] else None, r[4] == "1", int(r[5])]
                for r in table[1:]}, known)
    run(steptrace, "convert", trace, "-o", f"{work}/lake", "--to=parquet",
        "--table=objects,frees,classes,calls,java.ObjectAlloc", "--run=one")
    names, columns, _ = parquet_reader.read(f"{work}/lake/table=objects/run=one/part-0.parquet")
    check_rows(rows_of(names, columns), known)
    names, columns, _ = parquet_reader.read(f"{work}/lake/table=frees/run=one/part-0.parquet")
    dead = {n: row[2] for n, row in known.items() if row[2] is not None}
    assert dict(zip(columns[names.index("object")], columns[names.index("time")])) == dead
    names, columns, _ = parquet_reader.read(f"{work}/lake/table=calls/run=one/part-0.parquet")
    assert columns[0] == []
    run(steptrace, "convert", trace, "-o", f"{work}/objects.native", "--to=clickhouse-native",
        "--table=objects")
    names, columns = native_reader.read(f"{work}/objects.native")
    check_rows(rows_of(names, columns), known)
    print(f"{len(known)} objects: the same in SQL, Parquet and Native")


def check_choices(steptrace, trace, known, work):
    half = sorted(row[1] for row in known.values())[len(known) // 2]
    run(steptrace, "convert", trace, "-o", f"{work}/half.parquet", "--to=parquet", "--table=objects",
        "--columns=object,born", f"--to-time={half}ns", "--class=java.lang.*")
    names, columns, _ = parquet_reader.read(f"{work}/half.parquet")
    assert names == ["object", "born"]
    assert set(columns[0]) == {n for n, row in known.items()
                               if row[1] <= half and row[0] == CLASSES[0]}
    _, fault = run(steptrace, "convert", trace, "-o", f"{work}/x", "--to=parquet", "--table=objcts",
                   code=2)
    assert "did you mean objects?" in fault, fault
    _, fault = run(steptrace, "convert", trace, "-o", f"{work}/x.parquet", "--to=parquet",
                   "--table=objects", "--columns=sizee", code=2)
    assert "did you mean size?" in fault, fault
    assert not os.path.exists(f"{work}/x") and not os.path.exists(f"{work}/x.parquet")
    with open(trace, "rb") as file:
        data = file.read()
    with open(f"{work}/cut.step", "wb") as file:
        file.write(data[:len(data) * 2 // 3])
    _, told = run(steptrace, "convert", f"{work}/cut.step", "-o", f"{work}/cut.parquet",
                  "--to=parquet", "--table=allocations", code=3)
    assert told.startswith("steptrace: ") and "cut.step" in told, told
    names, columns, _ = parquet_reader.read(f"{work}/cut.parquet")
    for number, born in zip(columns[names.index("object")], columns[names.index("time")]):
        assert known[number][1] == born
    print("columns, times, classes, wrong names, a cut trace")


def check_kill(steptrace, trace, work):
    """A writer that is killed leaves no file of that name."""
    fifo = f"{work}/kill"
    with subprocess.Popen([steptrace, "convert", trace, "-o", fifo, "--to=parquet",
                           "--table=objects,calls,allocations,frees"]) as writer:
        time.sleep(0.01)
        writer.send_signal(signal.SIGKILL)
    for folder, _, names in os.walk(fifo):
        for name in names:
            if name.endswith(".parquet"):
                parquet_reader.read(f"{folder}/{name}")
    print("a writer that is killed leaves whole files, or none")


NODE = """
import { DuckDBInstance } from '@duckdb/node-api';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
const path = process.argv[2], names = process.argv[3].split(',');
const rows = await parquetReadObjects({ file: await asyncBufferFromFile(path), compressors });
const one = (v) => typeof v === 'bigint' ? Number(v) : v ?? null;
const hy = rows.map((r) => names.map((n) => one(r[n])));
const link = await (await DuckDBInstance.create()).connect();
const got = await link.runAndReadAll(`select ${process.argv[3]} from '${path}'`);
const duck = got.getRows().map((r) => r.map(one));
console.log(JSON.stringify({ hy, duck }));
"""


def check_other_readers(modules, known, work):
    if not modules or not os.path.isdir(modules):
        print("no node_modules: DuckDB and hyparquet not tried "
              "(npm i @duckdb/node-api hyparquet hyparquet-compressors)")
        return
    program = os.path.join(os.path.dirname(os.path.abspath(modules)), "try_doors.mjs")
    with open(program, "w", encoding="utf-8") as file:
        file.write(NODE)
    text, _ = run("node", program, f"{work}/lake/table=objects/run=one/part-0.parquet", WANTED)
    for name, rows in json.loads(text).items():
        check_rows({row[0]: row[1:] for row in rows}, known)
        print(f"{name}: {len(rows)} rows, every value the same")


def main():
    steptrace = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as work:
        known = make_trace(f"{work}/one.txt", 40000)
        run(steptrace, "convert", "--from=lines", f"{work}/one.txt", "-o", f"{work}/one.step")
        check_doors(steptrace, f"{work}/one.step", known, work)
        check_choices(steptrace, f"{work}/one.step", known, work)
        check_kill(steptrace, f"{work}/one.step", work)
        check_other_readers(sys.argv[2] if len(sys.argv) > 2 else None, known, work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
