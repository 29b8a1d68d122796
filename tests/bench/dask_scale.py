#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""dask_scale.py RUN.step DIRECTORY [COPIES]: a group-by over copies of a trace, on one Dask worker and on two.

PYTHONPATH=BUILD/python.  Tells partitions, rows, and for one and two workers seconds by the clock
(least of three), rows a second and bytes of the traces; and what making the graph takes, which decodes nothing.
"""
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../python"))
sys.argv.insert(1, "steptrace")  # the test's first argument
import try_dask  # noqa: E402

import dask.distributed  # noqa: E402
import steptrace.dask  # noqa: E402

ROWS = 1 << 22


def least(ask, times=3, before=lambda: None):
    seconds = []
    for _ in range(times):
        before()
        began = time.monotonic()
        answer = ask()
        seconds.append(time.monotonic() - began)
    return min(seconds), answer


def tasks(dask_scheduler):
    return len(dask_scheduler.tasks)


def forget(client):
    """Waits until no answer to an earlier question is there, which would be given again."""
    while client.run_on_scheduler(tasks) > 0:
        time.sleep(0.01)


def main():
    trace, work = sys.argv[2:4]
    copies = int(sys.argv[4]) if len(sys.argv) > 4 else 4
    with tempfile.TemporaryDirectory(dir=work) as folder:
        for i in range(copies):
            shutil.copy(trace, f"{folder}/run{i}.step")
        size = copies * os.path.getsize(trace)
        cut, frame = least(lambda: steptrace.dask.objects(f"{folder}/*.step", ["class", "size"],
                                                          rows=ROWS))
        print(f"{copies} traces, {size:,} bytes, {frame.npartitions} partitions; cut in {cut * 1e3:.1f} ms")
        cluster = try_dask.Cluster(folder)
        took = {}
        try:
            with dask.distributed.Client(cluster.address, timeout=120) as client:
                client.wait_for_workers(2, timeout=120)
                for workers in (2, 1):
                    for columns in (["class", "size"], ["class", "size", "born", "died"]):
                        frame = steptrace.dask.objects(f"{folder}/*.step", columns, rows=ROWS)
                        asked = {name: ["count", "max"] for name in columns[1:]}
                        seconds, found = least(lambda: frame.groupby("class").agg(asked).compute(),
                                               before=lambda: forget(client))
                        took[workers, len(columns)] = seconds
                        rows = int(found["size"]["count"].sum())
                        print(f"{workers} workers, {','.join(columns)}: {rows:,} rows, {seconds:.2f} s, "
                              f"{rows / seconds / 1e6:.1f} million rows/s", flush=True)
                    if workers == 2:
                        cluster.workers[0].kill()
                        cluster.workers[0].wait()
                        while len(client.scheduler_info()["workers"]) > 1:
                            time.sleep(0.1)
        finally:
            cluster.stop()
    for columns in (2, 4):
        print(f"{columns} columns: two workers are {took[1, columns] / took[2, columns]:.2f} times one")


if __name__ == "__main__":
    main()
