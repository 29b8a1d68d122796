# SPDX-License-Identifier: Apache-2.0
"""Complete traces of what a program's memory and methods did, as tables.

    import steptrace
    trace = steptrace.open("run.step")
    frame = trace.objects(columns=["class", "size", "born", "died"], classes="java.util.**").pandas()

A trace has tables (`trace.tables`); asking for one says which rows and columns are wanted, and reads
nothing yet.  Rows come as numpy arrays (`.read()`), as a pandas frame (`.pandas()`), piece by piece
(`.partitions()`, `.batches()`), or through Arrow's C stream interface (`pyarrow.table(query)`,
`polars.DataFrame(query)`).  numpy and pandas are imported only where they are used.
`steptrace.dask` has the same for many traces on many machines.

What tables and columns mean: docs/tables.md.
"""
from ._choice import UnmatchedWarning
from ._tables import DamageWarning, Error, UnknownName
from ._rows import Rows
from ._table import Column, Part, Query
from ._trace import Table, Trace, open

__all__ = ["Column", "DamageWarning", "Error", "Part", "Query", "Rows", "Table", "Trace",
           "UnknownName", "UnmatchedWarning", "open"]
