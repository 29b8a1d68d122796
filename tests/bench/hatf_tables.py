#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/results/hatf-tables.md: Tables 3 to 8 of the HATF paper on traces of native programs
(heap_programs.py, recorded by `steptrace record-malloc`) and of Java programs (workloads.py).

  hatf_tables.py --build build-gcc [--out FILE] [--native NAME,...] [--java-workload NAME,...]
                 [--trace NAME=FILE]... [--java-trace NAME=FILE]... [--records N]
                 [--packers gzip,...] [--work DIRECTORY] [--keep DIRECTORY [--measure-only]]

Traces are whole where --records does not cut them. Each is measured without times, threads and
attributes, as the paper's, and in a table of its own with them. Sizes do not depend on the machine.
Times are of the processor, each the least of three rounds. With --keep the figures of each trace
stay in DIRECTORY, and what has some there is not measured again: several runs may share the work,
and a last one makes the page.
"""
import argparse
import collections
import functools
import json
import math
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import zipfile

import heap_programs
import workloads

PACKERS = {"gzip": ["gzip", "-6", "-c"], "bzip2": ["bzip2", "-9", "-c"], "xz": ["xz", "-6", "-c"],
           "zstd -19": ["zstd", "-19", "-q", "-c"]}
SIZES = ("naive", "small-size", "same-size", "combined-size")
TIMED = ("alloc", "free", "realloc/none", "realloc/both", "realloc/alloc", "realloc/free")
ENTROPY_RECORDS = 1000000
ADDRESSES = ("base-offset-1", "base-offset-2", "best-base-offset", "stride", "best")


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, **options)


def packed_size(data, packer):
    return len(run(*PACKERS[packer], input=data, capture_output=True).stdout)


class Form:
    """One form of a trace: the streams that are packed apart."""

    def __init__(self, plain, packed):
        self.plain, self.packed = plain, packed

    @classmethod
    def of(cls, streams, packers):
        return cls(sum(len(stream) for stream in streams),
                   {packer: sum(packed_size(stream, packer) for stream in streams)
                    for packer in packers})


class Trace:
    """A trace without times and threads, as the paper's, and its forms."""

    def __init__(self, name, path, args, work):
        self.name, self.args, self.work, self.path = name, args, work, path
        self.base = work / f"{name}.hatf"
        self.full = work / f"{name}-full.hatf"
        self.forms = {}
        self.sizes = {}
        self.kept = args.keep / f"{name}.json" if args.keep else None
        if self.kept and self.kept.exists():
            self.take(json.loads(self.kept.read_text()))

    def take(self, kept):
        self.info, self.sizes, self.times = kept["info"], kept["sizes"], kept["times"]
        self.forms = {name: Form(*form) for name, form in kept["forms"].items()}
        self.count = self.info["records"]

    def keep(self):
        if not self.kept:
            return
        self.kept.parent.mkdir(parents=True, exist_ok=True)
        self.kept.write_text(json.dumps({
            "info": self.info, "sizes": self.sizes, "times": self.times,
            "forms": {name: (form.plain, form.packed) for name, form in self.forms.items()}}))

    def prepare(self):
        args, work, path = self.args, self.work, self.path() if callable(self.path) else self.path
        text = work / f"{self.name}-cut.hatf.txt"
        with subprocess.Popen([args.steptrace, "dump", path], stdout=subprocess.PIPE) as dump:
            with open(text, "wb") as out:
                run(*(["head", "-n", args.records] if args.records else ["cat"]),
                    stdin=dump.stdout, stdout=out)
            dump.stdout.close()
        self.convert(text, self.full)
        self.convert(text, self.base, "--omit=time+thread+attributes")
        self.info = json.loads(run(args.steptrace, "info", "--json", self.base,
                                   capture_output=True).stdout)
        self.count = self.info["records"]
        text.unlink()

    def convert(self, source, target, *options):
        run(self.args.steptrace, "convert", source, "-o", target, *options)
        return target

    def read(self, ending, *options):
        target = self.convert(self.base, self.work / f"{self.name}-form{ending}", *options)
        if zipfile.is_zipfile(target):
            with zipfile.ZipFile(target) as archive:
                return [archive.read(name) for name in archive.namelist()]
        return [target.read_bytes()]

    def measure(self):
        self.prepare()
        print(f"measuring {self.name}: {self.count} records", file=sys.stderr, flush=True)

        def add(name, streams):
            self.forms[name] = Form.of(streams, self.args.packers)

        add("binary", self.read(".simple.bin"))
        add("ASCII", self.read(".hatf.txt"))
        for encoding in SIZES + ADDRESSES + ("optimal",):
            add(encoding, self.read(".hatf", f"--encoding={encoding}"))
        add("for gzip", self.read(".hatf", "--encoding=optimal", "--for=gzip"))
        add("split", self.read(".hatf.zip", "--split=fields"))
        add("SplitAddr", self.read(".hatf.zip", "--split=address", "--encoding=best"))
        step = self.convert(self.base, self.work / f"{self.name}-form.step")
        self.sizes["step"] = step.stat().st_size
        packed = self.work / f"{self.name}-form.packed.step"
        run(self.args.steptrace, "pack", step, "-o", packed, stderr=subprocess.DEVNULL)
        self.sizes["packed"] = packed.stat().st_size
        full = self.convert(self.full, self.work / f"{self.name}-full.step")
        self.sizes["full step"] = full.stat().st_size
        run(self.args.steptrace, "pack", full, "-o", packed, stderr=subprocess.DEVNULL)
        self.sizes["full packed"] = packed.stat().st_size
        self.sizes["full SplitAddr"] = self.convert(
            self.full, self.work / f"{self.name}-full.hatf.zip", "--split=address",
            "--encoding=best").stat().st_size
        times = run(self.args.bench_hatf, self.base, self.work, self.args.timed_records,
                    capture_output=True, text=True).stdout
        self.info["time_entropy"] = time_entropy(self.args, self.full)
        self.times = {line[:16].strip(): [float(x) for x in line[16:].split()]
                      for line in times.splitlines()}
        self.times["awk"] = [self.awk("{ print }"), self.awk(
            '$1 == "alloc" { n++; bytes += $3 } END { print n, bytes }')]
        self.keep()
        for path in self.work.glob(f"{self.name}-f*"):
            path.unlink()
        self.base.unlink()

    def awk(self, program):
        text = self.convert(self.base, self.work / f"{self.name}-form.hatf.txt")
        least = None
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run("awk", program, text, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            least = spent if least is None or spent < least else least
        return least * 1e9 / self.count

    def per_record(self, size):
        return size / self.count


# ---- what times hold ----

def time_entropy(args, path):
    """Bits of the distance from one record to the next, when the kinds of both are told, and when
    the distance before is, too (to an eighth): no model of those goes below."""
    with subprocess.Popen([args.steptrace, "dump", path], stdout=subprocess.PIPE, text=True) as dump:
        times, last = [], (0, "", 0)
        for line in dump.stdout:
            words = line.split(" ", 7)
            if words[0] in TIMED:
                time = int(words[6])
                rough = last[2] >> max(0, last[2].bit_length() - 3), last[2].bit_length()
                times.append((time - last[0], (words[0], last[1]), (words[0], last[1], rough)))
                last = time, words[0], time - last[0]
            if len(times) == ENTROPY_RECORDS:
                break
        dump.kill()

    def bits(context):
        pairs = collections.Counter((one[context], one[0]) for one in times)
        contexts = collections.Counter(one[context] for one in times)
        return -sum(count * math.log2(count / contexts[pair[0]])
                    for pair, count in pairs.items()) / max(1, len(times))

    return [bits(1), bits(2)]


# ---- recording ----

def record_native(name, args, work):
    command, environment = heap_programs.prepare(name, work)
    path = work / f"{name}.step"
    run(args.recorder or args.steptrace, "record-malloc", "-O", "overwrite=yes", "-o", path, "--", *command,
        env=dict(os.environ, **environment), stdout=subprocess.DEVNULL)
    return path


def record_java(workload, args, work):
    path = work / f"{workloads.name(workload)}.step"
    directory = work / "java"
    directory.mkdir(exist_ok=True)
    java_args = f"-agentpath:{args.agent}=file={path},overwrite=yes,finish=60min,events=alloc+free+thread"
    place = pathlib.Path(tempfile.mkdtemp(dir=directory))
    run(*workloads.command(workload, args.java, java_args, place, directory),
        env=dict(os.environ, JAVA=args.java, JAVA_ARGS=java_args, WORK_DIR=str(place)),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    target = work / f"{workloads.name(workload)}-malloc.hatf"
    run(args.steptrace, "convert", path, "--addresses=malloc", "-o", target)
    return target


# ---- tables ----

class Table:
    def __init__(self, *columns):
        self.columns, self.rows = columns, []

    def add(self, *cells):
        self.rows.append([str(cell) for cell in cells])

    def __str__(self):
        lines = [self.columns, ["---"] + ["---:"] * (len(self.columns) - 1), *self.rows]
        return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def table_of(traces, columns, cell):
    """A row a trace, and their averages: `cell(trace, column)` gives numbers."""
    table = Table("program", *columns)

    def show(numbers):
        return " / ".join(f"{number:.2f}" for number in numbers)

    for trace in traces:
        table.add(trace.name, *(show(cell(trace, column)) for column in columns))
    if len(traces) > 1:
        table.add("average", *(show([statistics.mean(numbers) for numbers in
                                     zip(*(cell(trace, column) for trace in traces))])
                               for column in columns))
    return str(table)


def sizes_of(trace, column):
    form = trace.forms[column]
    return [trace.per_record(form.plain), trace.per_record(form.packed["gzip"])]


def table_3(traces):
    table = Table("program", "allocs", "reallocs", "frees", "bytes", "most objects", "most bytes",
                  "mean size")
    for trace in traces:
        tags = trace.info["tags"]
        reallocs = sum(count for tag, count in tags.items() if tag.startswith("realloc"))
        table.add(trace.name, f"{tags['alloc']:,}", f"{reallocs:,}", f"{tags['free']:,}",
                  f"{trace.info['bytes']:,}", f"{trace.info['most_objects']:,}",
                  f"{trace.info['most_bytes']:,}",
                  f"{trace.info['bytes'] / max(1, tags['alloc']):.1f}")
    return str(table)


def table_4(traces):
    columns = ("binary", "ASCII", "naive", "best", "split", "SplitAddr", "optimal", "for gzip",
               "step", "packed")

    def cell(trace, column):
        if column in trace.sizes:
            return [trace.per_record(trace.sizes[column])]
        return sizes_of(trace, column)

    return table_of(traces, columns, cell)


def table_times(traces):
    """The traces with their times, threads and heaps."""
    table = Table("program", "SplitAddr", "step", "packed", "packed / SplitAddr",
                  "bits for times", "entropy, kinds told", "distance before, too")
    for trace in traces:
        sizes = [trace.sizes[f"full {name}"] for name in ("SplitAddr", "step", "packed")]
        table.add(trace.name, *(f"{trace.per_record(size):.3f}" for size in sizes),
                  f"{sizes[2] / sizes[0]:.2f}",
                  f"{8 * trace.per_record(sizes[2] - trace.sizes['packed']):.1f}",
                  *(f"{bits:.1f}" for bits in trace.info["time_entropy"]))
    return str(table)


def table_packers(traces):
    columns = ("binary", "ASCII", "naive", "best", "split", "SplitAddr", "optimal")
    table = Table("packed by", *columns)
    for packer in traces[0].args.packers:
        table.add(packer, *(f"{statistics.mean(t.per_record(t.forms[c].packed[packer]) for t in traces):.3f}"
                            for c in columns))
    return str(table)


def times_of(columns):
    def cell(trace, column):
        write, read = trace.times[columns[column]][:2]
        return [read, write]

    return cell


def table_5(traces):
    columns = {"binary": "binary", "ASCII": "ascii", "naive": "naive", "best": "best",
               "split": "split", "SplitAddr": "splitaddr", "optimal": "optimal",
               "ASCII/awk": "awk"}
    return table_of(traces, tuple(columns), times_of(columns))


def table_6(traces):
    columns = {"binary": "binary+gzip", "ASCII": "ascii+gzip", "naive": "naive+gzip",
               "best": "best+gzip", "split": "split+gzip", "SplitAddr": "splitaddr+gzip",
               "optimal": "optimal+gzip", "step": "step", "packed": "packed step"}
    plain = times_of({column: name.removesuffix("+gzip") for column, name in columns.items()})
    packed = times_of(columns)

    def difference(column):
        if not columns[column].endswith("+gzip"):
            return "-"
        return " / ".join(
            f"{statistics.mean(packed(t, column)[i] - plain(t, column)[i] for t in traces):.2f}"
            for i in range(2))

    return (table_of(traces, tuple(columns), packed) +
            "| average difference | " + " | ".join(map(difference, columns)) + " |\n")


def bars(native):
    table = Table("program", "optimal / best", "best / naive", "packed / (SplitAddr + gzip)",
                  "read naive, million/s", "read best, million/s", "with times: step / SplitAddr")
    kept = True
    for trace in native:
        forms = trace.forms
        optimal = forms["optimal"].plain / forms["best"].plain
        best = forms["best"].plain / forms["naive"].plain
        packed = trace.sizes["packed"] / forms["SplitAddr"].packed["gzip"]
        naive_rate, best_rate = (1e3 / trace.times[form][1] for form in ("naive", "best"))
        full = trace.sizes["full step"] / trace.sizes["full SplitAddr"]
        kept = kept and optimal <= 1 and best <= 1 and packed <= 0.35 and best_rate >= 20
        table.add(trace.name, f"{optimal:.2f}", f"{best:.2f}", f"{packed:.2f}",
                  f"{naive_rate:.0f}", f"{best_rate:.0f}", f"{full:.2f}")
    return str(table), kept


PAGE = """# HATF: the paper's tables on our traces

Made by `tests/bench/hatf_tables.py` (it says how to run it); {machine}.
Traces of native programs come from `steptrace record-malloc`, those of Java programs from the agent, with
`convert --addresses=malloc`. As the paper's, they have no times, threads and attributes here
(`--omit=time+thread+attributes`){records}. Addresses have 64 bits, so
*binary* is four fields of 8 bytes where the paper's has 4, and a naive address takes 8 bytes. *best* has
the paper's means (sizes, base offsets of 1 and 2 bytes, strides); *step* is `convert`'s .step file, *packed*
that of `steptrace pack`.

## Table 3: the traces

{table_3}
## Table 4: bytes a record, plain / gzip

{table_4}
*step* and *packed* are packed as they are. The paper's averages: 16 / 2.62 binary, 12.33 / 2.21 ASCII, 7.06 / 2.05
naive, 5.65 / 1.92 best, 13 / 1.59 split stream, 5.65 / 1.54 SplitAddr, with addresses of 4 bytes.

Averages by packer:

{packers}
## Table 5: nanoseconds a record, read / write, not packed

{table_5}
Processor time with the file in memory; reading awk sums up sizes, writing it prints the lines.

## Table 6: nanoseconds a record, read / write, gzip (*step*: zstd; *packed*: xz)

{table_6}
The last row is what gzip adds on the average, as in the paper.

## With times, threads, heaps and attributes: bytes a record

{full}
*bits for times* is what *packed* has more than without them: times, threads and all. A counter's nanoseconds are mostly
noise: the entropy of the distance from a record to the next, when the kinds of both are told and when the distance
before is, too (of the first million records), is what an encoder that knows those needs at least.

## Table 7: encodings of sizes, plain / gzip

{table_7}
## Table 8: encodings of addresses, plain / gzip

{table_8}
## The goals, on native traces

{bars}
`optimal` at most `best`, `best` at most `naive`, packed .step at most 0.35 of SplitAddr with gzip, reading at
least 20 million records a second: {verdict}. The last column is of the traces with times and threads. In
*requests*, *requests-je* and *requests-mi* (heap_requests.c) sizes and the order of frees come from a random number
generator, and four threads' records stand in one order without their threads: of that little can be foretold.
"""


def machine():
    model = "?"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
    return f"{os.cpu_count()} processors, {model}"


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--build", type=pathlib.Path, default=here / "build-gcc")
    parser.add_argument("--out", type=pathlib.Path, default=here / "docs/results/hatf-tables.md")
    parser.add_argument("--native", default=",".join(heap_programs.PROGRAMS))
    parser.add_argument("--java-workload", default="javac,threads,hello")
    parser.add_argument("--trace", action="append", default=[], help="NAME=FILE, a native trace")
    parser.add_argument("--java-trace", action="append", default=[],
                        help="NAME=FILE, a heap trace of a Java program")
    parser.add_argument("--records", type=int, default=0, help="at most; 0: the whole trace")
    parser.add_argument("--packers", default=",".join(PACKERS))
    parser.add_argument("--timed-records", type=int, default=300000)
    parser.add_argument("--java", default="java")
    parser.add_argument("--recorder", help="another steptrace, to record with")
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, help="figures of each trace")
    parser.add_argument("--measure-only", action="store_true", help="no page")
    args = parser.parse_args()
    args.packers = args.packers.split(",")
    args.steptrace = args.build / "converter/steptrace"
    args.agent = (args.build / "agent/libtracer.so").resolve()
    args.bench_hatf = args.build / "tests/bench/bench_hatf"
    return args


def main():
    args = parse()
    work = args.work or pathlib.Path(tempfile.mkdtemp())
    work.mkdir(parents=True, exist_ok=True)
    native, java = [], []
    for name, path in (pair.split("=", 1) for pair in args.trace):
        native.append(Trace(name, path, args, work))
    for name in filter(None, args.native.split(",")):
        if heap_programs.available(name):
            native.append(Trace(name, functools.partial(record_native, name, args, work), args,
                                work))
        else:
            print(f"{name} is not installed", file=sys.stderr)
    for name, path in (pair.split("=", 1) for pair in args.java_trace):
        java.append(Trace(name, path, args, work))
    for workload in filter(None, args.java_workload.split(",")):
        java.append(Trace(workloads.name(workload),
                          functools.partial(record_java, workload, args, work), args, work))
    traces = native + java
    for trace in traces:
        if not trace.forms:
            trace.measure()
        elif "time_entropy" not in trace.info:
            trace.info["time_entropy"] = time_entropy(args, trace.path)
            trace.keep()
    if args.measure_only:
        return 0
    goals, kept = bars(native)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(PAGE.format(
        machine=machine(), full=table_times(traces),
        records=f", and at most the first {args.records:,} records" if args.records else "; they are whole",
        table_3=table_3(traces), table_4=table_4(traces),
        packers=table_packers(traces), table_5=table_5(traces), table_6=table_6(traces),
        table_7=table_of(traces, SIZES, sizes_of), table_8=table_of(traces, ADDRESSES, sizes_of),
        bars=goals, verdict="all reached" if kept else "not all reached"))
    print(args.out)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
