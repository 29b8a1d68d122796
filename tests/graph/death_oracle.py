#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computed deaths against collections that are known: a trace of collect=SIZE has for each object the
last collection that found it alive and the first that found it dead.

   death_oracle.py STEPTRACE TRACE.step [--thin PROGRAM EACH] [--classes N]

--thin hides collections from `deaths`: PROGRAM (thin_collections) leaves only each EACH-th, and what is computed
then is held against all of them, on both sides of the interval."""
import argparse
import bisect
import collections
import json
import os
import subprocess
import tempfile

HOW = ("exact", "bound", "collection")


def records(steptrace, trace, name, *columns):
    out = subprocess.run([steptrace, "dump", "--json", "--record", name, trace], check=True,
                         stdout=subprocess.PIPE).stdout
    for line in out.splitlines():
        record = json.loads(line)
        yield [record.get(column) for column in columns]


class Oracle:
    """Of each object that was found dead the interval in which it died, in ticks."""

    def __init__(self, steptrace, trace):
        self.steptrace = steptrace
        self.collected = {o: t for t, o in records(steptrace, trace, "java.ObjectFree", "time", "object")}
        self.times = sorted(set(self.collected.values()))
        self.born, self.classes = {}, {}
        for time, number, of in records(steptrace, trace, "java.ObjectAlloc", "time", "object", "class"):
            if number in self.collected:
                self.born[number] = time
                self.classes[number] = of["name"] if of else "?"

    def interval(self, number, slack=0):
        """`slack`: so many collections are passed over: a frame may have an object a moment longer
        than the heap."""
        found = self.collected[number]
        at = bisect.bisect_left(self.times, found) - slack
        return max(self.times[at - 1] if at > 0 else 0, self.born.get(number, 0)), found

    def judge(self, dated):
        """how -> Counter of in, early, late; and the others: (off, class, how, object, computed time)."""
        found = {how: collections.Counter() for how in HOW}
        others = []
        for time, number, how in records(self.steptrace, dated, "java.ObjectDeath", "time", "object", "how"):
            if number not in self.born:
                continue
            low, high = self.interval(number)
            off = time - low if time < low else time - high if time > high else 0
            found[HOW[how]]["early" if off < 0 else "late" if off > 0 else "in"] += 1
            if off != 0:
                others.append((off, self.classes[number], HOW[how], number, time))
        return found, others


def share(counter):
    return 100.0 * counter["in"] / max(1, sum(counter.values()))


def show(found, others, tick_ns, classes):
    total = sum(found.values(), collections.Counter())
    print(f"{sum(total.values())} deaths, {share(total):.3f} % in their intervals, "
          f"{total['early']} early, {total['late']} late")
    for how in HOW:
        if found[how]:
            print(f"  {how:10} {sum(found[how].values()):9} {share(found[how]):8.3f} %  "
                  f"{found[how]['early']} early {found[how]['late']} late")
    for what, rows in (("early", [-o[0] for o in others if o[0] < 0]), ("late", [o[0] for o in others if o[0] > 0])):
        if rows:
            rows.sort()
            print(f"  {what}: half by less than {rows[len(rows) // 2] * tick_ns / 1e6:.3f} ms, mean "
                  f"{sum(rows) / len(rows) * tick_ns / 1e6:.3f} ms, most {rows[-1] * tick_ns / 1e6:.3f} ms")
    groups = collections.Counter(time for off, _, _, _, time in others)
    if groups:
        print(f"  in {len(groups)} groups of one time, the largest of {max(groups.values())}: what one local variable holds")
    by_class = collections.Counter(("early" if off < 0 else "late", how, name) for off, name, how, _, _ in others)
    for (what, how, name), count in by_class.most_common(classes):
        print(f"  {count:8} {what:5} {how:10} {name}")


def date(steptrace, trace, dated, thin=None, each=1):
    """The trace with the deaths that `steptrace deaths` finds; with `thin` without most collections."""
    with tempfile.TemporaryDirectory() as directory:
        source = trace
        if thin is not None:
            source = os.path.join(directory, "thin.step")
            subprocess.run([thin, trace, source, str(each)], check=True)
        subprocess.run([steptrace, "deaths", source, "-o", dated], check=True, stderr=subprocess.DEVNULL)


def judged(steptrace, trace, thin=None, each=1):
    """The oracle, and what Oracle.judge() says of the deaths that `steptrace deaths` finds."""
    oracle = Oracle(steptrace, trace)
    with tempfile.TemporaryDirectory() as directory:
        dated = os.path.join(directory, "dated.step")
        date(steptrace, trace, dated, thin, each)
        return oracle, oracle.judge(dated)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("steptrace")
    parser.add_argument("trace")
    parser.add_argument("--thin", nargs=2, metavar=("PROGRAM", "EACH"))
    parser.add_argument("--classes", type=int, default=20)
    args = parser.parse_args()
    info = json.loads(subprocess.run([args.steptrace, "info", "--json", args.trace], check=True,
                                     stdout=subprocess.PIPE).stdout)
    tick_ns = int(info.get("properties", {}).get("resolution-ns", 1))
    told = subprocess.run([args.steptrace, "deaths", args.trace, "-o", "/dev/null"], check=True,
                          capture_output=True, text=True).stderr
    print(told, end="")
    oracle, (found, others) = judged(args.steptrace, args.trace,
                                     *(args.thin if args.thin is not None else (None, 1)))
    print(f"{len(oracle.times)} collections")
    show(found, others, tick_ns, args.classes)


if __name__ == "__main__":
    main()
