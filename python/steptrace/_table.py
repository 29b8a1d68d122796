# SPDX-License-Identifier: Apache-2.0
"""A table, and what is asked of it."""
from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple
from typing import Optional, Sequence, Tuple, Union

from . import _choice
from ._rows import Rows

if TYPE_CHECKING:
    import pandas
    from ._trace import Trace

_ALL = (1 << 64) - 1


class Column(NamedTuple):
    """A column of a table."""
    name: str
    type: str  # uint, int, time, duration, bool, name, text, data, real
    unit: str
    nullable: bool
    doc: str


class Part(NamedTuple):
    """Blocks of the trace's file, from first to end, end not included."""
    first_block: int
    end_block: int
    rows: int  # in it, by the index and before any choice; 0: not known


class Query:
    """What is asked of a table: its rows, when they are read.  Made by `trace.objects(...)`."""

    PARTITION_ROWS = 1 << 24
    BATCH_ROWS = 1 << 20
    ITERATED_ROWS = 1 << 14

    def __init__(self, trace: "Trace", table: str, columns: Sequence[Column],
                 chosen: Sequence[int], ranges: Tuple[Any, ...], threads: Optional[Tuple[int, ...]],
                 classes: Optional[str], part: Optional[Part] = None):
        self._trace, self._table, self._all, self._chosen = trace, table, columns, tuple(chosen)
        self._ranges, self._threads, self._classes, self._part = ranges, threads, classes, part

    def __repr__(self) -> str:
        part = "" if self._part is None else f", part {self._part.first_block}:{self._part.end_block}"
        return f"<Query of {self._table}: {', '.join(c.name for c in self.columns)}{part}>"

    @property
    def columns(self) -> List[Column]:
        """The columns that are asked for."""
        return [self._all[i] for i in self._chosen]

    @property
    def trace(self) -> "Trace":
        """The trace that is asked."""
        return self._trace

    @property
    def part(self) -> Optional[Part]:
        """The part of the table that is asked for; None: all of it."""
        return self._part

    def _words(self, columns: Optional[Tuple[int, ...]] = None) -> Tuple[Any, ...]:
        return (self._chosen if columns is None else columns, self._ranges, self._threads,
                self._classes, self._part)

    def _scan(self) -> Any:
        return self._trace._inner.scan(self._table, self._words())

    def of_part(self, part: Optional[Part]) -> "Query":
        """The same of a part of the table."""
        part = None if part is None else Part(*part)
        return Query(self._trace, self._table, self._all, self._chosen, self._ranges,
                     self._threads, self._classes, part)

    def parts(self, rows: int = PARTITION_ROWS) -> List[Part]:
        """Parts of some `rows` rows, cut by the index alone, without those that can have no row.

        A table that cannot be cut (calls, live, the dictionaries) is one.
        """
        found = self._trace._inner.parts(self._table, self._words(), rows)
        return [Part(*part) for part in found]

    def partitions(self, rows: int = PARTITION_ROWS) -> Iterator["Query"]:
        """Queries of the parts: each can be read alone, in another thread or process as well."""
        for part in self.parts(rows):
            yield self.of_part(part)

    def batches(self, rows: int = BATCH_ROWS) -> Iterator[Rows]:
        """All rows, `rows` at a time: memory is that of one batch (and, of objects, what lives)."""
        scan, inner = self._scan(), self._trace._inner
        columns = self.columns
        while (found := scan.read(rows)) is not None:
            yield Rows(columns, *found)
        self._trace._warn(inner=inner)

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        """Row by row, each {column: value}, with None for null; memory is that of a few rows."""
        names = [column.name for column in self.columns]
        for rows in self.batches(self.ITERATED_ROWS):
            values = (rows[name].tolist() for name in names)
            for row in zip(range(len(rows)), *values):
                yield dict(zip(names, row[1:]))

    def read(self) -> Rows:
        """All rows, as numpy arrays."""
        scan = self._scan()
        found = scan.read(_ALL)
        self._trace._warn()
        return Rows(self.columns, *(found if found is not None else scan.read(0)))

    def empty(self) -> Rows:
        """No rows, with the columns and types that rows have; nothing is decoded."""
        return Rows(self.columns, *self._scan().read(0))

    def numpy(self) -> Dict[str, Any]:
        """All rows: {column: array}."""
        return self.read().numpy()

    def pandas(self) -> "pandas.DataFrame":
        """All rows as a frame."""
        return self.read().pandas()

    def count(self) -> int:
        """How many rows there are; no column is kept."""
        scan = self._trace._inner.scan(self._table, self._words(()))
        rows = 0
        while (found := scan.read(self.BATCH_ROWS)) is not None:
            rows += found[0]
        self._trace._warn()
        return rows

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Arrow's C stream interface: pyarrow, polars, duckdb and others take the query as it is."""
        del requested_schema  # a wish, which need not be met
        self._trace._warn()
        return self._scan().arrow_stream(self.BATCH_ROWS)


class Table:
    """A table of a trace; called, it says what is wanted of it."""

    def __init__(self, trace: "Trace", name: str, doc: str, columns: Sequence[Tuple[Any, ...]]):
        self._trace = trace
        self.name, self.doc = name, doc
        self.columns = [Column(*column) for column in columns]

    def __repr__(self) -> str:
        return f"<Table {self.name}: {', '.join(c.name for c in self.columns)}>"

    def row_count(self) -> int:
        """Rows by the index alone; 0: it does not tell."""
        return self._trace._inner.row_count(self.name)

    def _find(self, name: str) -> int:
        return self._trace._inner.find_column(self.name, name)

    def __call__(self, columns: Optional[Union[str, Iterable[str]]] = None, *,
                 time: Optional[_choice.Bounds] = None,
                 threads: Optional[Union[int, str, Iterable[Union[int, str]]]] = None,
                 classes: Optional[str] = None,
                 where: Optional[Mapping[str, _choice.Bounds]] = None) -> Query:
        """Rows of the table, when they are read.

        columns  names, in the order wanted; None: all
        time     (a, b): a <= t < b of the table's first column of times (of objects `born`, of
                 calls `entry`), in nanoseconds or as "1.5s"; None for no bound
        threads  numbers or names; one, or several
        classes  a glob of names: "java.util.**", "*Exception", "java.lang.String[]", or a class
                 without its package: "String"
        where    {column: (a, b)} for a <= value < b, or {column: number}

        Blocks that the index shows to have none of these rows are not read.
        """
        if isinstance(columns, str):
            columns = [columns]
        chosen = (range(len(self.columns)) if columns is None
                  else [self._find(name) for name in columns])
        if threads is not None:
            self._find("thread")
            threads = _choice.threads_of(threads, self._trace._thread_numbers)
        if classes is not None:
            self._find("class")
            told = self._trace._inner.no_class(classes)
            if told is not None:
                warnings.warn(told, _choice.UnmatchedWarning, stacklevel=3)
        ranges = _choice.ranges_of(self.columns, self._find, time, where)
        return Query(self._trace, self.name, self.columns, chosen, ranges, threads, classes)
