#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program that makes objects as fast as it can for a long time, and looks whether the agent
keeps up: memory beside the heap does not grow, every object that the program says it made is in the
trace, and what died of it.

  soak.py --seconds 3600
  soak.py --exact --jvm-options "-XX:+UseSerialGC -Xmx64m -Xmn1m"     # a collection a millisecond
  soak.py --seconds 1200 --options engine=sampled,sample=64k,rate=1000,live=2k,rotate=1min,keep=30
  soak.py --exact --jvm-options "-XX:+UseG1GC -Xmx32m -Dsoak.live=2000 -Dsoak.gc=true"  # full ones
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import workloads

HEAP = "-Xms256m -Xmx256m -XX:+AlwaysPreTouch"
SAMPLE_SECONDS = 2


def memory(process_id):
    """MiB of the process: anonymous memory, and all that is resident."""
    fields = {}
    for line in pathlib.Path(f"/proc/{process_id}/smaps_rollup").read_text().splitlines()[1:]:
        name, value = line.split(":")
        fields[name] = int(value.split()[0]) / 1024
    return fields["Anonymous"], fields["Rss"]


def sample(process, seconds):
    """Memory over time, from when a fifth of the time is over, without the end."""
    samples, start = [], time.monotonic()
    while process.poll() is None:
        time.sleep(SAMPLE_SECONDS)
        age = time.monotonic() - start
        if seconds / 5 < age < seconds:
            try:
                samples.append((age, *memory(process.pid)))
            except (OSError, ValueError, KeyError):
                break
    return samples


def mean(samples, column):
    return sum(row[column] for row in samples) / len(samples)


def judge_memory(samples, limit):
    """The last quarter against the first; MiB."""
    quarter = max(1, len(samples) // 4)
    first, last = samples[:quarter], samples[-quarter:]
    growth = mean(last, 1) - mean(first, 1)
    part = max(1, len(samples) // 10)
    series = [samples[i:i + part] for i in range(0, len(samples), part)]
    print("anonymous, MiB: " + " ".join(f"{mean(some, 1):.0f}" for some in series))
    print(f"memory: anonymous {mean(first, 1):.1f} MiB, later {mean(last, 1):.1f}; resident "
          f"{mean(first, 2):.1f}, later {mean(last, 2):.1f}; {len(samples)} samples")
    return [f"memory grew by {growth:.1f} MiB"] if growth > limit else []


def judge_counts(args, trace, said):
    info = json.loads(subprocess.run([args.steptrace, "info", "--json", trace], check=True,
                                     stdout=subprocess.PIPE).stdout)
    made, freed, wanted = info["kinds"]["OA"], info["kinds"]["OF"], sum(said.values())
    print(f"trace: {made:,} objects, {freed:,} found dead, {info['file_bytes']:,} bytes; the "
          f"program made {wanted:,}; waited {int(info['properties']['waited-ns']) / 1e9:.1f} s")
    faults = []
    if not info["whole"] or int(info["properties"]["dropped"]) != 0:
        faults.append("the trace is not whole")
    if not args.exact:
        extra = 100_000 + 20 * said["Soak$Task"]  # the JDK's, and some of each thread
        return faults + ([] if 0 <= made - wanted < extra else ["objects are missing"])
    stats = json.loads(subprocess.run([args.steptrace, "stats", "--json", "--top=0", trace],
                                      check=True, stdout=subprocess.PIPE).stdout)
    found = {row["name"]: row["allocated_objects"] for row in stats["classes"]}
    for name, count in said.items():
        print(f"{name:12} {count:15,} made {found.get(name, 0):15,} in the trace")
        if name != "[S" and found.get(name) != count or found.get(name, 0) < count:
            faults.append(f"{name}: {found.get(name)} in the trace, not {count}")
    return faults


def judge_estimates(args, traces, said):
    """engine=sampled: nothing is damaged, and the program's own counts lie within the estimates of all
    files together. Each thread that starts sets back the JVM's generator of
    distances, and the estimates are off by up to 17 % (docs/engine-sampled.md), so a quarter is allowed beside 5.5 standard deviations."""
    faults, totals = [], {}
    for trace in traces:
        read = subprocess.run([args.steptrace, "stats", "--json", "--top=0", trace], check=True,
                              stdout=subprocess.PIPE)
        stats = json.loads(read.stdout)
        for row in stats["classes"]:
            told = row["allocated_objects"]
            value, room = totals.get(row["name"], (0, 0))
            totals[row["name"]] = (value + told["estimate"], room + (told["high"] - told["estimate"]) ** 2)
        checked = subprocess.run([args.steptrace, "check", trace], stdout=subprocess.PIPE, check=False)
        if checked.returncode != 0:
            faults.append(f"{trace}: {checked.stdout.decode()}")
    size = sum(pathlib.Path(trace).stat().st_size for trace in traces)
    print(f"{len(traces)} files, {size:,} bytes")
    for name, count in said.items():
        if name not in totals:
            print(f"{name:12} {count:15,} made, no sample")
            continue
        value, room = totals[name]
        print(f"{name:12} {count:15,} made {value:15,} estimated, +- {room ** 0.5:,.0f} (95 %), "
              f"{100 * value / count - 100:+.1f} %")
        if abs(value - count) > 5.5 / 1.96 * room ** 0.5 + count / 4:
            faults.append(f"{name}: {value} estimated, not {count}")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build-gcc"))
    parser.add_argument("--java", default=shutil.which("java"))
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--options", default="", help="more options for libtracer")
    parser.add_argument("--jvm-options", default=HEAP)
    parser.add_argument("--limit", type=float, default=64, help="MiB that memory may grow by: "
                        "what slow threads record waits, in buffers of `buffer=` in all, for a "
                        "block to be full")
    parser.add_argument("--exact", action="store_true",
                        help="also compare each class (reads the whole trace)")
    args = parser.parse_args()
    args.steptrace = str(args.build / "converter" / "steptrace")
    agent = (args.build / "agent" / "libtracer.so").resolve()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="soak-"))
    trace = directory / "soak.step"
    classes = workloads.prepare_program(directory, args.java, "Soak")
    options = f"file={trace},finish=60min" + ("," + args.options if args.options else "")
    log = directory / "gc.log"
    command = [args.java, f"-agentpath:{agent}={options}", f"-Xlog:gc:file={log}:tags:filecount=0",
               *args.jvm_options.split(), "-cp", classes, "Soak", str(args.seconds),
               str(args.threads)]
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        samples = sample(process, args.seconds)
        said = dict(line.split() for line in process.stdout.read().decode().splitlines())
        said = {name: int(count) for name, count in said.items()}
        faults = [f"the program ends with {process.returncode}"] if process.wait() != 0 else []
        pauses = [line for line in log.read_text().splitlines() if "Pause" in line]
        print(f"{len(pauses):,} collections, {sum('Full' in line for line in pauses):,} full")
        faults += judge_memory(samples, args.limit)
        if "engine=sampled" in options:
            faults += judge_estimates(args, sorted(map(str, directory.glob("*.step"))), said)
        else:
            faults += judge_counts(args, str(trace), said)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print("\n".join(faults) if faults else "no growth, no drift")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
