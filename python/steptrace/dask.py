# SPDX-License-Identifier: Apache-2.0
"""Tables of many traces as Dask dataframes: `steptrace.dask.objects("traces/*.step")`.

Each partition is a run of blocks of one trace, cut by its index: nothing is decoded until Dask
computes, and then by the worker that has the partition.  The file names must lead to the traces on
all workers.  What is asked for (columns, time, threads, classes, where: as of a Table) goes down to
the blocks; a projection that Dask finds out later (`frame[["size"]]`) does, too.

Each frame has a column `trace` (Categorical): the file's name, where more than one is asked.
"""
from __future__ import annotations

import functools
import glob
import os
from typing import Any, Iterable, List, Optional, Sequence, Tuple, Union

from ._rows import _module
from ._table import Part, Query
from ._trace import Trace

__all__ = ["table", "objects", "allocations", "frees", "reallocs", "calls", "method_counts", "eden_classes",
           "classes", "methods", "sites", "threads", "collections", "live", "phases",
           "lifetimes", "advice"]

Paths = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]


def _files(paths: Paths) -> List[str]:
    """Names as given, patterns as the files that they fit; absolute, as workers run elsewhere."""
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    found: List[str] = []
    for path in given:
        text = os.fspath(path)
        fitting = sorted(glob.glob(text)) if glob.has_magic(text) and not os.path.exists(text) \
            else [text]
        if not fitting:
            raise FileNotFoundError(f"no file matches {text}")
        found += [os.path.abspath(name) for name in fitting]
    if not found:
        raise ValueError("a query needs at least one trace")
    return found


@functools.lru_cache(maxsize=8)
def _open_unchanged(path: str, stamp: Tuple[int, int]) -> Trace:
    del stamp
    return Trace(path)


def _opened(path: str) -> Trace:
    """The trace, kept open by a worker from one partition to the next."""
    state = os.stat(path)
    return _open_unchanged(path, (state.st_mtime_ns, state.st_size))


class _Read:
    """Reads a partition; Dask asks it for fewer columns (`project_columns`)."""

    def __init__(self, table_name: str, columns: Sequence[str], choice: Any):
        self.table_name, self.columns, self.choice = table_name, list(columns), choice

    def project_columns(self, columns: Union[str, Sequence[str]]) -> "_Read":
        """The same with these columns only."""
        wanted = [columns] if isinstance(columns, str) else list(columns)
        return self if wanted == self.columns else _Read(self.table_name, wanted, self.choice)

    def query(self, trace: Trace) -> Query:
        """What a partition of that trace is read by."""
        wanted = [name for name in self.columns if name != "trace"]
        return trace[self.table_name](wanted, **self.choice)

    def __call__(self, partition: Tuple[str, Optional[Tuple[int, int, int]]]) -> Any:
        path, part = partition
        rows = self.query(_opened(path)).of_part(None if part is None else Part(*part)).read()
        frame = rows.pandas()
        if "trace" in self.columns:
            pandas = _module("pandas", "python3-pandas")
            kind = pandas.CategoricalDtype([os.path.basename(path)])
            codes = [0] * len(frame)
            frame["trace"] = pandas.Categorical.from_codes(codes, dtype=kind)
        return frame[self.columns]


def _empty(query: Query, with_trace: bool) -> Any:
    """A frame without rows, for Dask to know columns and types by; names are of unknown
    categories, as those of each trace are its own."""
    pandas = _module("pandas", "python3-pandas")
    from dask.dataframe.utils import clear_known_categories
    frame = query.empty().pandas()
    if with_trace:
        frame["trace"] = pandas.Categorical([])
    return clear_known_categories(frame)


def table(name: str, paths: Paths, columns: Optional[Iterable[str]] = None, *,
          rows: int = Query.PARTITION_ROWS, **choice: Any) -> Any:
    """A table of traces as a `dask.dataframe.DataFrame`.

    paths    a file, a pattern, or several
    columns  names, with `trace` for the file's name; None: all, with `trace` if there are several
             files
    rows     some so many in a partition
    choice   time, threads, classes, where: as of a Table

    Raises ImportError where Dask is missing, UnknownName where a trace has no such table.
    """
    _module("dask", "python3-dask")
    _module("pandas", "python3-pandas")
    import dask.dataframe
    files = _files(paths)
    first = _opened(files[0])
    wanted = [column.name for column in first[name].columns] if columns is None else list(columns)
    if columns is None and len(files) > 1:
        wanted.append("trace")
    read = _Read(name, wanted, choice)
    partitions = []
    for path in files:
        for part in read.query(_opened(path)).parts(rows):
            partitions.append((path, tuple(part)))
    if not partitions:
        partitions = [(files[0], (0, 0, 0))]
    empty = _empty(read.query(first), "trace" in wanted)[wanted]
    return dask.dataframe.from_map(read, partitions, meta=empty, label=f"steptrace-{name}",
                                   enforce_metadata=False)


def _door(name: str) -> Any:
    def ask(paths: Paths, columns: Optional[Iterable[str]] = None, **choice: Any) -> Any:
        return table(name, paths, columns, **choice)
    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = f"The table `{name}` of traces: see steptrace.dask.table()."
    return ask


objects = _door("objects")
allocations = _door("allocations")
frees = _door("frees")
reallocs = _door("reallocs")
calls = _door("calls")
method_counts = _door("method_counts")
eden_classes = _door("eden_classes")
classes = _door("classes")
methods = _door("methods")
sites = _door("sites")
threads = _door("threads")
collections = _door("collections")
live = _door("live")
phases = _door("phases")
lifetimes = _door("lifetimes")
advice = _door("advice")
