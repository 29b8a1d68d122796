# SPDX-License-Identifier: Apache-2.0
"""try_dask.py STEPTRACE: tables of four traces on two workers of Dask, one of which is killed.

A scheduler and two workers run on loopback.  Group-by, lifetimes and the classes that take most of all
traces have to be the sums of `steptrace stats --json`, also when a worker gets SIGKILL in mid-query.
"""
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

import made_trace

try:
    import dask
    import dask.distributed
    import pandas
except ImportError as error:
    print(f"skipped: {error} (python3-distributed)")
    sys.exit(77)
import steptrace
import steptrace.dask

STEPTRACE = sys.argv[1]
TRACES, OBJECTS = 4, 6000


def free_port():
    """None where loopback takes no connections, as in a container without a network."""
    with socket.socket() as found:
        try:
            found.bind(("127.0.0.1", 0))
            found.listen()
            socket.create_connection(found.getsockname(), 10).close()
        except OSError:
            return None
        return found.getsockname()[1]


class Cluster:
    """Processes of our own, so that one can be killed."""

    def __init__(self, work, port):
        self.work = work
        self.address = f"tcp://127.0.0.1:{port}"
        self.log = open(f"{work}/dask.log", "w", encoding="utf-8")
        self.scheduler = self.start("dask_scheduler", "--host", "127.0.0.1", "--port", str(port),
                                    "--no-dashboard")
        self.workers = []
        for _ in range(2):
            self.add_worker()

    def start(self, program, *words):
        environment = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "20s"}
        return subprocess.Popen([sys.executable, "-m", f"distributed.cli.{program}", *words],
                                stdout=self.log, stderr=self.log, env=environment)

    def add_worker(self):
        self.workers.append(self.start("dask_worker", self.address, "--host", "127.0.0.1",
                                       "--nthreads", "1", "--no-nanny", "--no-dashboard",
                                       "--memory-limit", "0", "--local-directory", self.work))

    def stop(self):
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()
        self.log.close()


def sums_of(said):
    """By class of all traces: objects, bytes, dead objects, and the sum of what they lived."""
    out = {}
    for stats in said:
        for row in stats["classes"]:
            lives = row.get("lifetimes", {"count": 0, "mean": 0})
            have = out.setdefault(row["name"], [0, 0, 0, 0.0])
            for i, value in enumerate((row["allocated_objects"], row["allocated_bytes"],
                                       row["freed_objects"], lives["count"] * lives["mean"])):
                have[i] += value
    return out


def check_sums(frame, wanted):
    """Group-by and lifetimes against what `stats` says; its means have six digits."""
    frame = frame.assign(lived=frame["died"] - frame["born"])
    found = frame.groupby("class").agg({"size": ["count", "sum"], "lived": ["count", "sum"]})
    found = found.compute()
    assert set(found.index) == set(wanted), found
    for name, (objects, size, dead, lived) in wanted.items():
        row = found.loc[name]
        assert (row["size"]["count"], row["size"]["sum"]) == (objects, size), (name, row)
        assert row["lived"]["count"] == dead
        assert abs(float(row["lived"]["sum"]) - lived) <= 1e-5 * lived, (name, row)


def check_top(frame, wanted):
    most = frame.groupby("class")["size"].sum().nlargest(2).compute()
    best = sorted((row[1] for row in wanted.values()), reverse=True)[:2]
    assert most.tolist() == best, (most, best)


def check_sites(pattern, said):
    """Top sites: these traces have none, so that all is of no site."""
    frame = steptrace.dask.objects(pattern, ["site", "size"], rows=1500)
    found = frame.groupby("site", dropna=False)["size"].sum().compute()
    assert found.sum() == sum(stats["objects"]["allocated_bytes"] for stats in said)


def check_choices(pattern, paths, known):
    """What is asked for goes down to the blocks, and a projection that Dask finds out."""
    frame = steptrace.dask.objects(pattern, time=("1ms", "2ms"), classes="java.**", rows=1500)
    wanted = sum(1 for one in known for row in one.values()
                 if 10**6 <= row[1] < 2 * 10**6 and row[0].startswith("java/"))
    assert len(frame) == wanted, (len(frame), wanted)
    assert frame.npartitions < steptrace.dask.objects(pattern, rows=1500).npartitions
    assert "trace" in frame.columns
    counts = frame["trace"].value_counts().compute()
    assert counts.sum() == wanted and set(counts.index) <= {os.path.basename(p) for p in paths}
    read = steptrace.dask._Read("objects", ["object", "size", "died"], {})
    assert read.project_columns(["size"]).columns == ["size"]
    optimized, = dask.optimize(steptrace.dask.objects(pattern, rows=1500)[["size"]])
    text = repr([vars(part) for layer in optimized.dask.layers.values()
                 for part in getattr(layer, "dsk", {}).values() if hasattr(part, "__dict__")])
    assert "died" not in text, text
    try:
        steptrace.dask.objects(pattern, ["sizee"])
    except steptrace.UnknownName as fault:
        assert "did you mean size?" in str(fault)
    else:
        raise AssertionError("sizee")
    try:
        steptrace.dask.objects("/nowhere/*.step")
    except FileNotFoundError:
        pass
    else:
        raise AssertionError("/nowhere")


def held(frame, gate):
    """A part that is not done before the gate is open; the mark says which worker has it."""
    with open(f"{gate}.{os.getpid()}", "w", encoding="utf-8"):
        pass
    while not os.path.exists(gate):
        time.sleep(0.01)
    return frame


def wait_until(is_so):
    """CTest ends the wait of a cluster that does not work."""
    while not is_so():
        time.sleep(0.01)


def check_kill(cluster, pattern, wanted, gate):
    frame = steptrace.dask.objects(pattern, ["class", "size", "born", "died"], rows=1500)
    frame = frame.map_partitions(held, gate, meta=frame._meta)
    future = dask.distributed.get_client().compute(
        frame.groupby("class").agg({"size": ["count", "sum"]}))
    killed = cluster.workers[0]
    wait_until(lambda: os.path.exists(f"{gate}.{killed.pid}"))
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert not future.done()
    with open(gate, "w", encoding="utf-8"):
        pass
    found = future.result(timeout=60)
    for name, (objects, size, _, _) in wanted.items():
        row = found.loc[name]["size"]
        assert (row["count"], row["sum"]) == (objects, size), (name, row)
    wait_until(lambda: len(dask.distributed.get_client().scheduler_info()["workers"]) == 1)
    return frame.npartitions


def main():
    port = free_port()
    if port is None:
        print("skipped: no loopback")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as work:
        paths, known = [], []
        cluster = Cluster(work, port)
        try:
            for i in range(TRACES):
                paths.append(f"{work}/run{i}.step")
                known.append(made_trace.make(STEPTRACE, paths[-1], OBJECTS, i))
                os.rename(paths[-1] + ".one.step", f"{work}/{i}.one")
            said = [made_trace.stats(STEPTRACE, path) for path in paths]
            wanted, pattern = sums_of(said), f"{work}/run?.step"
            with dask.distributed.Client(cluster.address, timeout=60) as client:
                client.wait_for_workers(2, timeout=60)
                frame = steptrace.dask.objects(pattern, rows=1500)
                assert frame.npartitions > 2 * TRACES
                check_sums(frame, wanted)
                check_top(frame, wanted)
                check_sites(pattern, said)
                check_choices(pattern, paths, known)
                count = check_kill(cluster, pattern, wanted, f"{work}/gate")
        except BaseException:
            cluster.log.flush()
            with open(f"{work}/dask.log", encoding="utf-8") as log:
                sys.stderr.write(log.read()[-4000:])
            raise
        finally:
            cluster.stop()
    print(f"{TRACES} traces, {count} partitions, 2 workers, one killed: all sums are those of stats")


if __name__ == "__main__":
    main()
