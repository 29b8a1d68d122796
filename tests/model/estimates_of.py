# SPDX-License-Identifier: Apache-2.0
"""Estimates and their intervals, from docs/engine-sampled.md and docs/estimates.md."""
import math

Z = 1.959963984540054
NONE = -math.log(0.025)
SMALLEST = 16


def high_factor(shape):
    """Wilson and Hilferty: the upper bound of a gamma variable of this shape, as a share of its mean."""
    return (1 - 1 / (9 * shape) + Z / (3 * math.sqrt(shape))) ** 3


def low_factor(count):
    return max(1 - 1 / (9 * count) - Z / (3 * math.sqrt(count)), 0) ** 3


def interval(value, variance, unseen=0.0):
    """(estimate, low, high); high None without a sample."""
    if value <= 0:
        return 0, 0, None
    variance = max(variance, 0)
    unit = max(variance / value, unseen)
    if unit == 0 or variance and value * value / variance > 1e15 and not unseen:
        return value, value, value
    low = value * low_factor(value * value / variance) if variance and value * value / variance < 1e15 else value
    shape = variance / unit ** 2 + 1
    return value, low, value + unit * (1 + shape * (high_factor(shape) - 1))


def unseen(size, drawn):
    return 1 / math.expm1(size / drawn)


def stands_for(o):
    """The bytes that a small sample stands for: its interval, times as much as exact totals add."""
    return o.interval * o.weight * -math.expm1(-o.size / o.interval)


def mean_drawn(objects, least):
    """The mean interval by bytes: each sample stands for as many as its interval."""
    total = sum(stands_for(o) for o in objects)
    return max(sum(stands_for(o) ** 2 for o in objects) / total if total else 0, least)


def of_objects(world, objects, everything, name=None, factor=1.0):
    """`name`: of the class that all are of."""
    value, variance = sum(o.weight for o in objects), sum(o.weight * (o.weight - factor) for o in objects)
    one_size = bool(name) and not name.startswith("[") and name != "java/lang/Class"
    size = objects[0].size if one_size and objects else SMALLEST
    drawn = max(mean_drawn(objects, world.interval), mean_drawn(everything, world.interval))
    return interval(value, max(variance, 0) + ((1 - 1 / factor) * value) ** 2, unseen(size, drawn))


def of_bytes(objects, factor=1.0):
    value = sum(o.size * o.weight for o in objects)
    variance = max(sum(o.size ** 2 * o.weight * (o.weight - factor) for o in objects), 0)
    return interval(value, variance + ((1 - 1 / factor) * value) ** 2)


def difference(after, before):
    """The method of variance estimates recovery."""
    value = after[0] - before[0]
    return value, value - math.hypot(after[0] - after[1], before[2] - before[0]), value + math.hypot(after[2] - after[0], before[0] - before[1])


def below(a, b, x):
    """The distribution function of a beta variable, by its series of positive terms."""
    if not 0 < x < 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - below(b, a, 1 - x)
    total = term = 1.0
    k = 0
    while term > 1e-14 * total:
        term *= (a + b + k) / (a + 1 + k) * x
        total += term
        k += 1
    return total * math.exp(a * math.log(x) + b * math.log1p(-x) - math.log(a) - math.lgamma(a) - math.lgamma(b) + math.lgamma(a + b))


def quantile(a, b, wanted):
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(a, b, middle) < wanted else (low, middle)
    return low


def student(freedom):
    """The 97.5 % quantile of Student's distribution."""
    x = quantile(freedom / 2, 0.5, 0.05)
    return math.sqrt(freedom * (1 - x) / x)


def mean_life(samples):
    """Of (weight, lifetime)."""
    weights, squares = sum(w for w, _ in samples), sum(w * w for w, _ in samples)
    mean = sum(w * life for w, life in samples) / weights
    if squares <= weights * (1 + 1e-6):
        return mean, mean, mean
    count = weights ** 2 / squares
    if count < 1.5:
        return mean, 0, None
    half = student(count - 1.2) * math.sqrt(sum(w * (w - 1) * (life - mean) ** 2 for w, life in samples) * count / (count - 1)) / weights
    return mean, max(mean - half, 0), mean + half
