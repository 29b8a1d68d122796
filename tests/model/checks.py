# SPDX-License-Identifier: Apache-2.0
"""All checks, by name: of commands, of rules and tables, and of formats, whose readers are those of tests/formats."""
import pathlib
import sys

FORMATS = pathlib.Path(__file__).resolve().parent.parent / "formats"
sys.path[:0] = [str(FORMATS / name) for name in ("", "hatf", "heaptrack", "otlp", "parquet", "clickhouse_native", "jfr", "hprof", "ctf", "elephant_tracks")]
import commands  # noqa: E402,F401
import exports  # noqa: E402,F401
import figures  # noqa: E402,F401
import clockless  # noqa: E402,F401
import sampled  # noqa: E402,F401
import graph_files  # noqa: E402,F401
import recordings  # noqa: E402,F401
import collectors  # noqa: E402,F401
import members  # noqa: E402,F401
import pages  # noqa: E402,F401
import same  # noqa: E402,F401
import graphs  # noqa: E402,F401
from registry import CHECKS  # noqa: E402,F401
