# SPDX-License-Identifier: Apache-2.0
"""An opened trace."""
from __future__ import annotations

import glob
import json
import os
import warnings
from typing import Any, Dict, List, Optional, Union

from . import _tables
from ._table import Query, Table


def _has_rotated_files(path: str) -> bool:
    """Whether the path is the name, without numbers, of files that rotate= has made."""
    stem, ending = os.path.splitext(path)
    return any(glob.iglob(f"{glob.escape(stem)}.[0-9]*{ending}"))


class _Closed:
    """Stands in for the compiled part of a trace that was closed."""

    def __getattr__(self, name: str) -> Any:
        raise ValueError("the trace is closed")


class Trace:
    """A `.step` trace, open until `close()`, the end of its `with`, or until it is forgotten.

    Its tables are `trace["objects"]`, asked by a call: `trace["objects"](columns=["size"])`.  Those
    that Java's and native programs' traces have are methods too: `trace.objects(...)`; `trace.tables`
    has all.  A trace may be used by several threads: they take turns.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"]):
        self.path = os.fspath(path)
        if not _has_rotated_files(self.path):
            os.stat(self.path)  # raises what Python raises for files
        self._inner: Any = _tables.Trace(self.path)
        self._told: Optional[str] = None
        self._threads: Optional[Dict[str, List[int]]] = None
        self.tables: Dict[str, Table] = {
            name: Table(self, name, doc, columns) for name, doc, columns in self._inner.tables()}
        self._warn(stack=4)

    def __repr__(self) -> str:
        names = [name for name in self.tables if "." not in name]
        types = len(self.tables) - len(names)
        return f"<Trace {self.path}: {', '.join(names)}, and {types} record types>"

    def close(self) -> None:
        """Closes the file when no scan that was begun reads it any more.  Other queries then raise ValueError."""
        self._inner = _Closed()

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return (Trace, (os.path.abspath(self.path),))

    def __getitem__(self, name: str) -> Table:
        if name not in self.tables:
            self._inner.row_count(name)  # raises, with the names that there are
        return self.tables[name]

    def _warn(self, stack: int = 3, inner: Any = None) -> None:
        """Warns of what is damaged, once for each thing that is told.  `inner`: of a scan that outlives close()."""
        told = (inner or self._inner).damage()
        if told is not None and told != self._told:
            self._told = told
            warnings.warn(told, _tables.DamageWarning, stacklevel=stack)

    def _thread_numbers(self) -> Dict[str, List[int]]:
        if self._threads is None:
            self._threads = {}
            rows = self["threads"](["thread", "name"]).read()
            for number, name in zip(rows["thread"].tolist(), rows["name"]):
                self._threads.setdefault(name, []).append(number)
        return self._threads

    @property
    def damage(self) -> Optional[str]:
        """What is cut or damaged, as far as the trace was read; None: nothing."""
        return self._inner.damage()

    @property
    def info(self) -> Dict[str, Any]:
        """What the file's index and properties tell; no block is decoded."""
        return {"trace": self.path, **self._inner.summary(), "damage": self._inner.damage(),
                "records": self._inner.records(), "properties": self._inner.properties()}

    def stats(self) -> Dict[str, Any]:
        """What the trace adds up to, by class, thread and method: `steptrace stats --json --top=0`."""
        found = json.loads(_tables.stats(self.path))
        self._warn()
        return found

    # Tables of Java's traces and of native programs'; each is called as a Table is.

    def objects(self, *columns: Any, **choice: Any) -> Query:
        """One row for each object: class, thread, site, size, when it was born and died."""
        return self["objects"](*columns, **choice)

    def allocations(self, *columns: Any, **choice: Any) -> Query:
        """One row for each allocation."""
        return self["allocations"](*columns, **choice)

    def frees(self, *columns: Any, **choice: Any) -> Query:
        """One row for each free."""
        return self["frees"](*columns, **choice)

    def reallocs(self, *columns: Any, **choice: Any) -> Query:
        """One row for each realloc of a native program."""
        return self["reallocs"](*columns, **choice)

    def calls(self, *columns: Any, **choice: Any) -> Query:
        """One row for each call of a traced method."""
        return self["calls"](*columns, **choice)

    def method_counts(self, *columns: Any, **choice: Any) -> Query:
        """What was counted of methods (`method=count`)."""
        return self["method_counts"](*columns, **choice)

    def eden_classes(self, *columns: Any, **choice: Any) -> Query:
        """What was allocated by class (`engine=walk`)."""
        return self["eden_classes"](*columns, **choice)

    def classes(self, *columns: Any, **choice: Any) -> Query:
        """One row for each class."""
        return self["classes"](*columns, **choice)

    def methods(self, *columns: Any, **choice: Any) -> Query:
        """One row for each method."""
        return self["methods"](*columns, **choice)

    def sites(self, *columns: Any, **choice: Any) -> Query:
        """One row for each frame of the tree of call stacks."""
        return self["sites"](*columns, **choice)

    def threads(self, *columns: Any, **choice: Any) -> Query:
        """One row for each thread."""
        return self["threads"](*columns, **choice)

    def collections(self, *columns: Any, **choice: Any) -> Query:
        """One row for each time at which objects were found dead."""
        return self["collections"](*columns, **choice)

    def live(self, *columns: Any, **choice: Any) -> Query:
        """Objects and bytes that lived, over time."""
        return self["live"](*columns, **choice)

    def phases(self, *columns: Any, **choice: Any) -> Query:
        """One row for each phase."""
        return self["phases"](*columns, **choice)

    def lifetimes(self, *columns: Any, **choice: Any) -> Query:
        """One row for each allocation site: how long its objects live."""
        return self["lifetimes"](*columns, **choice)

    def advice(self, *columns: Any, **choice: Any) -> Query:
        """One row for each piece of advice on an allocation site."""
        return self["advice"](*columns, **choice)


def open(path: Union[str, "os.PathLike[str]"]) -> Trace:  # pylint: disable=redefined-builtin
    """Opens a `.step` trace.  Of another format `steptrace convert` makes one.

    Raises OSError where there is no file, Error where it is no trace; warns with DamageWarning
    where it is cut or damaged and gives what is whole.
    """
    return Trace(path)
