#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often the 95 % intervals of engine=sampled contain the truth, by allocation site or by class: traces
of all objects say how many bytes and objects the largest allocate, and so many sampled runs of the same
program estimate it.  For docs/results/sampled-accuracy.md.

  sampled_accuracy.py --build build-gcc --java /usr/lib/jvm/.../bin/java --runs 20 sites
  sampled_accuracy.py --build build-gcc --by class --runs 20 javac WORKLOAD...

A workload is a script as for run_bench.py, javac, or sites (SampledSites.java).  Escape analysis and the
optimisation of string concatenation are off in
all runs: the probes of the exact engine keep objects that it would remove.  Stacks have one frame, so a
site is a line.  Of the JDK's own sites the engines name different frames (native methods, intrinsics);
classes are the same.  Rows whose bytes differ between the exact runs by more than 1 % are no truth to
compare with: they are named and left out.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import workloads

STEADY = 0.01


def trace(args, workload, directory, number, options):
    """Runs the workload with the agent; the path of the trace."""
    work = directory / f"{workloads.name(workload)}-{number}"
    work.mkdir()
    file = work / "run.step"
    java_args = (f"-XX:-DoEscapeAnalysis -XX:-OptimizeStringConcat -agentpath:{args.build}/agent/libtracer.so="
                 f"file={file},stack=1,{options}")
    done = subprocess.run(workloads.command(workload, args.java, java_args, work, directory),
                          env={**os.environ, "JAVA": args.java, "JAVA_ARGS": java_args, "WORK_DIR": str(work)},
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"{workload}: {done.stderr.decode(errors='replace')}")
    return file


def sites(args, file):
    """The rows by site or class; objects without a stack are left out."""
    done = subprocess.run([f"{args.build}/converter/steptrace", "heap", file, "--at", "end", "--allocated",
                           "--by", args.by, "--top", "0", "--json"], stdout=subprocess.PIPE, check=True)
    rows = json.loads(done.stdout)["rows"]
    file.unlink()
    named = {row[args.by] if args.by == "class" else (row["site"] or [""])[0]: row for row in rows}
    return {name: row for name, row in named.items() if name not in ("", "(no stack)")}


def known_sites(args, workload, directory):
    """The largest sites and their mean bytes and objects over the exact runs."""
    runs = [sites(args, trace(args, workload, directory, f"exact{i}", "existing=no"))
            for i in range(args.exact_runs)]
    known = {}
    for site in sorted(runs[0], key=lambda name: -runs[0][name]["bytes"]):
        values = {key: [run.get(site, {key: 0})[key] for run in runs] for key in ("bytes", "objects")}
        if max(values["bytes"]) - min(values["bytes"]) > STEADY * max(values["bytes"]):
            print(f"# {site}: {min(values['bytes'])} to {max(values['bytes'])} bytes in exact runs, left out")
            continue
        known[site] = {key: sum(numbers) / len(numbers) for key, numbers in values.items()}
        if len(known) == args.sites:
            break
    return known


def hits(estimated, truth):
    """For bytes and objects, whether the interval contains the truth."""
    return {key: estimated is not None and estimated[f"{key}_low"] <= truth[key] <= estimated[f"{key}_high"]
            for key in truth}


def measure(args, workload, directory):
    known = known_sites(args, workload, directory)
    counts = {site: {"bytes": 0, "objects": 0, "samples": 0, "sum": 0.0} for site in known}
    for run in range(args.runs):
        found = sites(args, trace(args, workload, directory, run, f"engine=sampled,sample={args.sample}"))
        for site, truth in known.items():
            row = found.get(site)
            for key, hit in hits(row, truth).items():
                counts[site][key] += hit
            counts[site]["samples"] += row["samples"] if row else 0
            counts[site]["sum"] += row["bytes"] if row else 0
    print(f"\n{workloads.name(workload)}, {args.runs} runs, sample={args.sample}\n\n"
          f"| {args.by} | true MB | true objects | samples a run | mean estimate | bytes within | objects within |\n"
          "|---|---:|---:|---:|---:|---:|---:|")
    for site, truth in known.items():
        count = counts[site]
        bias = 100 * (count["sum"] / args.runs / truth["bytes"] - 1)
        print(f"| `{site}` | {truth['bytes'] / 1e6:.1f} | {truth['objects']:.0f} | {count['samples'] / args.runs:.0f} | "
              f"{bias:+.1f} % | {count['bytes']} | {count['objects']} |")
    total = args.runs * len(known)
    for key in ("bytes", "objects"):
        share = sum(count[key] for count in counts.values()) / total
        print(f"\n{key}: {100 * share:.1f} % of {total} intervals contain the truth"
              f"{'' if share >= args.least else ': too few'}")
    return all(sum(count[key] for count in counts.values()) >= args.least * total for key in ("bytes", "objects"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build-gcc", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--java", default=shutil.which("java"))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--exact-runs", type=int, default=2)
    parser.add_argument("--by", choices=("site", "class"), default="site")
    parser.add_argument("--sites", type=int, default=10)
    parser.add_argument("--sample", default="512k")
    parser.add_argument("--least", type=float, default=0.9, help="share of the intervals that must contain the truth")
    parser.add_argument("workloads", nargs="+", metavar="WORKLOAD")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        judged = [measure(args, workload, pathlib.Path(directory)) for workload in args.workloads]
    sys.exit(0 if all(judged) else 1)


if __name__ == "__main__":
    main()
