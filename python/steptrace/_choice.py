# SPDX-License-Identifier: Apache-2.0
"""What is asked for, as the numbers that the compiled part takes."""
from __future__ import annotations

import difflib
import re
import warnings
from typing import Any, Iterable, Mapping, Optional, Sequence, Tuple, Union

Bound = Union[int, float, str, None]
Bounds = Union[Tuple[Bound, Bound], int]
Range = Tuple[int, int, int]

_MOST = (1 << 64) - 1
_SIGNED_MOST = (1 << 63) - 1
_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9,
          "min": 60 * 10**9, "h": 3600 * 10**9}
_NUMBERS = ("uint", "int", "time", "duration")


def nanoseconds(bound: Union[int, float, str]) -> Union[int, float]:
    """A time: nanoseconds, or a text with a unit ("1.5s", "20ms")."""
    if not isinstance(bound, str):
        return bound
    found = re.fullmatch(rf"\s*(\d+(?:\.\d+)?)\s*({'|'.join(_UNITS)})\s*", bound)
    if found is None:
        raise ValueError(f"'{bound}' is not a time: a number with ns, us, ms, s, min (or m) or h is expected")
    whole, _, part = found[1].partition(".")
    unit = _UNITS[found[2]]
    return int(whole) * unit + int(part or 0) * unit // 10 ** len(part)


def _ceiling(bound: Union[int, float]) -> int:
    if isinstance(bound, float):
        return -int(-bound // 1)
    return int(bound)


def bounds_of(column: int, kind: str, given: Bounds) -> Range:
    """(a, b): a <= value < b, None for no bound; a number: that one."""
    low, high = (-(_SIGNED_MOST + 1), _SIGNED_MOST) if kind == "int" else (0, _MOST)
    least, most = low, high
    if isinstance(given, (tuple, list)):
        if len(given) != 2:
            raise ValueError("bounds must be a pair (from, to); to is excluded")
        if given[0] is not None:
            least = max(low, _ceiling(nanoseconds(given[0])))
        if given[1] is not None:
            most = min(high, _ceiling(nanoseconds(given[1])) - 1)
    else:
        least = most = int(given)
    if least > most or least > high or most < low:
        return (column, 1, 0)
    return (column, least & _MOST, most & _MOST)


def time_column(columns: Sequence[Any]) -> int:
    """The column that `time=` is about: the first that has times."""
    for i, column in enumerate(columns):
        if column.type == "time":
            return i
    raise ValueError("time=: the table has no times")


def ranges_of(columns: Sequence[Any], find: Any, time: Optional[Bounds],
              where: Optional[Mapping[str, Bounds]]) -> Tuple[Range, ...]:
    """All ranges that rows have to be in."""
    ranges = []
    if time is not None:
        column = time_column(columns)
        ranges.append(bounds_of(column, columns[column].type, time))
    for name, given in (where or {}).items():
        column = find(name)
        if columns[column].type not in _NUMBERS:
            raise ValueError(f"where=: {name} has no numbers")
        ranges.append(bounds_of(column, columns[column].type, given))
    return tuple(ranges)


class UnmatchedWarning(UserWarning):
    """No class or thread of the trace has this name: the rows are none."""


def threads_of(given: Union[int, str, Iterable[Union[int, str]]], names: Any) -> Tuple[int, ...]:
    """Numbers of threads, also by their names; `names` gives {name: [numbers]}."""
    if isinstance(given, (int, str)):
        given = [given]
    numbers = []
    for thread in given:
        if isinstance(thread, str):
            known = names()
            if thread not in known:
                near = difflib.get_close_matches(thread, known, 1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                warnings.warn(f"no thread has the name {thread!r}{hint}", UnmatchedWarning,
                              stacklevel=4)
            numbers += known.get(thread, [])
        else:
            numbers.append(int(thread))
    return tuple(sorted(set(numbers)))
