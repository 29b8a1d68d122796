# SPDX-License-Identifier: Apache-2.0
"""The checks by name, and what several of them choose by chance."""
from world import TICK

CHECKS = {}
BUCKET = 0.016  # how far off a percentile may be


def check(function):
    """A function of a case; it raises where command and model differ, and returns False where the case has nothing for it."""
    CHECKS[function.__name__] = function
    return function


def choose_moment(case):
    choices = ["peak", "end", f"{TICK * case.chance.randint(case.world.start, case.world.end)}ns"]
    count = len(case.world.collections())
    return case.chance.choice(choices + ([f"gc:{case.chance.randint(1, count)}"] * 2 if count else []))


SIGNS = {">": lambda a, b: a > b, ">=": lambda a, b: a >= b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, "=": lambda a, b: a == b, "!=": lambda a, b: a != b}


def rule_status(sign, value, limit):
    """A rule that can never hold is refused."""
    return 2 if sign == "<" and limit == 0 else 4 if SIGNS[sign](value, limit) else 0
