#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the agent needs of memory for each live object: a program that keeps N objects, untraced, with
allocations only (no object is watched), and with frees (each object has a weak reference and the
agent's entry for it).  The difference of the last two, divided by N, is what a live object costs; of it
the JVM's reference is a slot of 8 bytes, and 64 of these have a head of some 40.

  live_memory.py --objects 10000000 --jvm-options "-XX:+UseParallelGC"
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

import workloads

REFERENCE_BYTES = 8 + 40 / 64


def anonymous(command):
    """Bytes."""
    return int(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout) * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build-gcc"))
    parser.add_argument("--java", default=shutil.which("java"))
    parser.add_argument("--objects", type=int, default=10_000_000)
    parser.add_argument("--jvm-options", default="")
    args = parser.parse_args()
    agent = (args.build / "agent" / "libtracer.so").resolve()
    heap = ["-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch"]
    with tempfile.TemporaryDirectory(prefix="live-") as directory:
        classes = workloads.prepare_program(pathlib.Path(directory), args.java, "LiveObjects")
        used = {}
        for way, events in (("untraced", None), ("allocations", "class+alloc+thread"),
                            ("frees", "class+alloc+free+thread")):
            option = [f"-agentpath:{agent}=file={directory}/live.step,overwrite=yes,events={events}"]
            used[way] = anonymous([args.java, *(option if events else []), *heap,
                                   *args.jvm_options.split(), "-cp", str(classes), "LiveObjects",
                                   str(args.objects)])
            print(f"{way:12} {used[way] / 2**20:8.1f} MiB")
    each = (used["frees"] - used["allocations"]) / args.objects
    print(f"a live object: {each:.1f} bytes, {each - REFERENCE_BYTES:.1f} without the JVM's reference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
