# SPDX-License-Identifier: Apache-2.0
"""`steptrace stats`: totals, classes, threads, methods, lifetimes."""
import collections
import math

from moments import Moment, allocated_of, peak_of, totals


def lifetimes(objects, world, unit="ns"):
    found = sorted((o.died - o.born) * 1000 for o in objects if o.died is not None)
    if not found:
        return None
    rank = {share: found[max(math.ceil(share / 100 * len(found)) - 1, 0)] for share in (50, 90, 99)}
    return {"count": len(found), "mean": sum(found) / len(found), "p50": rank[50], "p90": rank[90], "p99": rank[99], "most": found[-1]}


def amounts(objects, world):
    """What existed before was not allocated; it is freed and lives as the rest."""
    dead = [o for o in objects if o.died is not None]
    out = {}
    for name, group in (("allocated", allocated_of(objects)), ("existing", [o for o in objects if o.existing]), ("freed", dead),
                        ("live", [o for o in objects if o.died is None])):
        out[name + "_objects"], out[name + "_bytes"] = totals(group)
    out["lifetimes"] = lifetimes(objects, world)
    return out


def classes(world, objects):
    found = collections.defaultdict(list)
    for o in objects:
        found[o.kind].append(o)
    return {world.classes[kind - 1]: amounts(group, world) for kind, group in found.items()}


def threads(world, objects):
    found = collections.defaultdict(list)
    for o in allocated_of(objects):
        found[o.thread].append(o)
    return {number: totals(group) for number, group in found.items() if group}


def methods(world):
    """(CLASS.METHOD, number of parameters) -> calls, exceptions, own and inclusive time.  Of recursion only the outermost call counts."""
    found = collections.defaultdict(lambda: [0, 0, 0, 0])
    for call in world.calls:
        row = found[call.method]
        row[0] += 1
        row[1] += call.exception
    return {method: tuple(row[:2]) for method, row in found.items()}


def live(world):
    _, at = peak_of(world)
    peak, end = Moment(world, "peak"), Moment(world, "end")
    return {"end_objects": len(end.living), "end_bytes": totals(end.living)[1], "peak_objects": len(peak.living),
            "peak_bytes": totals(peak.living)[1], "peak_ns": at * 1000}
