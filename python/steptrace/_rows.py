# SPDX-License-Identifier: Apache-2.0
"""Rows that were read: numpy arrays, pandas frames."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Sequence, Tuple

if TYPE_CHECKING:
    import numpy
    import pandas

_DTYPES = {"uint": "<u8", "int": "<i8", "time": "<i8", "duration": "<i8", "bool": "?",
           "name": "<i4", "text": "<u8", "data": "<u8", "real": "<f8"}


def _module(name: str, package: str) -> Any:
    """An import that says which package is missing."""
    try:
        return __import__(name)
    except ImportError as error:
        raise ImportError(f"{name} is needed for this: Debian's {package}") from error


def _distinct(names: Sequence[str]) -> List[str]:
    """Names that were no UTF-8 may have become the same."""
    if len(set(names)) == len(names):
        return list(names)
    seen: Dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out


class Rows:
    """Rows of a table, by column.

    `rows["size"]` is a numpy array, over the memory that was read: uint64, int64 (also times and
    durations, in nanoseconds), float64, bool, or object with str or bytes.  A column that may be null is a
    masked array (`numpy.ma`), names and texts have None.  `rows.codes("class")` is what names are
    made of: int32 places in `rows.names("class")`, -1 where there is none.
    """

    def __init__(self, columns: Sequence[Any], count: int, data: Sequence[Tuple[Any, ...]]):
        self._columns = {column.name: (column, item) for column, item in zip(columns, data)}
        self._count = count
        self._made: Dict[str, Any] = {}

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def keys(self) -> List[str]:
        """Names of the columns."""
        return list(self._columns)

    def __repr__(self) -> str:
        return f"<Rows: {self._count} of {', '.join(self._columns)}>"

    def _find(self, name: str) -> Tuple[Any, Tuple[Any, ...]]:
        if name not in self._columns:
            raise KeyError(f"'{name}': the columns are {', '.join(self._columns)}")
        return self._columns[name]

    def values(self, name: str) -> "numpy.ndarray":
        """What stands in memory: of what is null 0, of names their codes, of texts offsets."""
        numpy = _module("numpy", "python3-numpy")
        column, item = self._find(name)
        return numpy.frombuffer(item[0], dtype=_DTYPES[column.type])

    def null(self, name: str) -> "numpy.ndarray":
        """True where a row has no value."""
        numpy = _module("numpy", "python3-numpy")
        valid = self._find(name)[1][1]
        if valid is None:
            return numpy.zeros(self._count, dtype=bool)
        bits = numpy.frombuffer(valid, dtype=numpy.uint8)
        return ~numpy.unpackbits(bits, count=self._count, bitorder="little").view(bool)

    def codes(self, name: str) -> "numpy.ndarray":
        """Of a column of names: places in names(), -1 for null."""
        if self._find(name)[0].type != "name":
            raise TypeError(f"{name} has no names")
        return self.values(name)

    def names(self, name: str) -> List[str]:
        """The different names of a column, in the order of their first rows."""
        if self._find(name)[0].type != "name":
            raise TypeError(f"{name} has no names")
        return _distinct(self._find(name)[1][2])

    def _texts(self, name: str) -> "numpy.ndarray":
        numpy = _module("numpy", "python3-numpy")
        column, item = self._find(name)
        ends = self.values(name).tolist()
        data = bytes(item[3])
        null = self.null(name)
        out = numpy.empty(self._count, dtype=object)
        for i in range(self._count):
            value = data[ends[i]:ends[i + 1]]
            out[i] = None if null[i] else value.decode() if column.type == "text" else value
        return out

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Any:
        numpy = _module("numpy", "python3-numpy")
        column, _ = self._find(name)
        if column.type in ("text", "data"):
            return self._texts(name)
        if column.type == "name":
            return numpy.array([*self.names(name), None], dtype=object)[self.codes(name)]
        if column.nullable:
            return numpy.ma.MaskedArray(self.values(name), mask=self.null(name))
        return self.values(name)

    def numpy(self) -> Dict[str, Any]:
        """All columns as arrays, by name."""
        return {name: self[name] for name in self._columns}

    def _series(self, name: str) -> Any:
        pandas = _module("pandas", "python3-pandas")
        column, item = self._find(name)
        if column.type == "name":
            kind = pandas.CategoricalDtype(self.names(name))
            return pandas.Categorical.from_codes(self.codes(name), dtype=kind)
        if not column.nullable or column.type in ("text", "data"):
            return self[name]
        array = pandas.arrays.BooleanArray if column.type == "bool" else pandas.arrays.IntegerArray
        return array(self.values(name), self.null(name))

    def pandas(self) -> "pandas.DataFrame":
        """A frame; names are Categorical, numbers that may be null UInt64 and Int64."""
        pandas = _module("pandas", "python3-pandas")
        index = pandas.RangeIndex(self._count)
        return pandas.DataFrame({name: self._series(name) for name in self._columns}, index=index,
                                copy=False)
