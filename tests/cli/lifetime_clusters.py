#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lifetime_clusters.py STEPTRACE: the clusters of `steptrace lifetimes`, against Kolmogorov-Smirnov distances that are
computed here of each object's lifetime (and by scipy where it is installed).

The sites of a made-up native program have lifetimes of some families of distributions.  Within a family they are a
little apart, so that distances are on both sides of the limit."""
import heapq
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    from scipy.stats import ks_2samp
except ImportError:
    ks_2samp = None

LIMIT, LEAST_OBJECTS, CLUSTERS = 0.1, 100, 26
STEPS = 32  # buckets for each power of two
FAMILIES, MEMBERS, OBJECTS = 8, 6, 30000
SEED = 20260711


def bucket_end(value):
    """The end of the bucket of a lifetime."""
    if value < STEPS or math.isinf(value):
        return value
    width = 1 << (value.bit_length() - 6)
    return value // width * width + width - 1


def distance(a, b):
    """The largest difference of two distribution functions."""
    a, b = sorted(a), sorted(b)
    most, i, k = 0.0, 0, 0
    while i < len(a) or k < len(b):
        value = min(a[i:i + 1] + b[k:k + 1])
        while i < len(a) and a[i] == value:
            i += 1
        while k < len(b) and b[k] == value:
            k += 1
        most = max(most, abs(i / len(a) - k / len(b)))
    return most


def program(pick, file):
    """Writes the program's trace; returns site -> (bytes, lifetimes)."""
    print("# HATF 1.0, made up\ncreateThread 0 0 0 1 0 1", file=file)
    sites = {f"s{family}_{member}": (7 + 0.6 * family, 0.3 + 0.15 * (family % 4), 0.05 * member)
             for family in range(FAMILIES) for member in range(MEMBERS)}
    found = {name: [0, []] for name in sites}
    names, due, position = list(sites), [], 0
    for number in range(1, OBJECTS + 1):
        while due and due[0][0] <= position:
            _, dead, born, name = heapq.heappop(due)
            print(f"free {dead * 4096} 0 0 1 0 {2 * number}", file=file)
            found[name][1].append(position - born)
        name = pick.choice(names)
        mean, spread, shift = sites[name]
        size = 16 * pick.randint(1, 8)
        print(f"alloc {number * 4096} {size} 0 1 0 {2 * number + 1} {name}", file=file)
        heapq.heappush(due, (position + int(pick.lognormvariate(mean + shift, spread)), number, position, name))
        found[name][0] += size
        position += size
    for _, _, _, name in due:
        found[name][1].append(math.inf)
    return found


def clusters_of(order, distances):
    """site -> its cluster's number, as docs/advice.md has it."""
    firsts, of_site = [], {}
    for name in order:
        near = [i for i, first in enumerate(firsts) if distances[first, name] <= LIMIT]
        if not near and len(firsts) < CLUSTERS:
            firsts.append(name)
            near = [len(firsts) - 1]
        of_site[name] = near[0] if near else None
    return of_site


def all_distances(found):
    names = sorted(found)
    distances = {}
    for i, a in enumerate(names):
        for b in names[i:]:
            distances[a, b] = distances[b, a] = distance(found[a], found[b])
            if ks_2samp is not None:
                other = ks_2samp(found[a], found[b]).statistic
                assert abs(other - distances[a, b]) < 1e-12, (a, b, other, distances[a, b])
    return distances


def main():
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "made.hatf.txt")
        with open(trace, "w", encoding="utf-8") as file:
            found = program(random.Random(SEED), file)
        answer = json.loads(subprocess.run([sys.argv[1], "lifetimes", "--json", "--top=0", trace], check=True,
                                           stdout=subprocess.PIPE).stdout)
    rows = {row["class"]: row for row in answer["sites"]}
    assert set(rows) == set(found), sorted(rows)
    for name, (size, lives) in found.items():
        assert rows[name]["bytes"] == size and rows[name]["objects"] == len(lives) >= LEAST_OBJECTS, rows[name]
    order = [row["class"] for row in answer["sites"]]
    assert order == sorted(order, key=lambda name: -rows[name]["bytes"]), order
    exact = all_distances({name: lives for name, (_, lives) in found.items()})
    counted = all_distances({name: list(map(bucket_end, lives)) for name, (_, lives) in found.items()})
    assert all(counted[pair] <= exact[pair] + 1e-12 for pair in exact), "a distance of buckets above the exact one"
    near = [value for (a, b), value in exact.items() if a < b and abs(value - LIMIT) < 0.02]
    assert min(near) < LIMIT < max(near) and len(near) > 10, near
    told = {name: row["cluster"] and ord(row["cluster"]) - ord("A") for name, row in rows.items()}
    wanted = clusters_of(order, counted)
    assert told == wanted, {name: (told[name], wanted[name]) for name in told if told[name] != wanted[name]}
    of_exact = clusters_of(order, exact)
    pairs = [(a, b) for a in order for b in order if a < b]
    same = sum((told[a] == told[b]) == (of_exact[a] == of_exact[b]) for a, b in pairs)
    assert same >= 0.98 * len(pairs), f"{same} of {len(pairs)} pairs as with exact distances"
    print(f"{len(order)} sites, {len(answer['clusters'])} clusters, as computed; {same} of {len(pairs)} pairs are together or apart "
          f"as with exact distances; most lost by buckets {max(exact[p] - counted[p] for p in exact):.4f}"
          f"{'' if ks_2samp is None else '; scipy agrees'}")


main()
