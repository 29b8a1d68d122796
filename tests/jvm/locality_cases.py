# SPDX-License-Identifier: Apache-2.0
"""What `steptrace locality` says of a program whose pairs of objects lie at known distances, and of all its other objects."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "graph"))
from locality_oracle import Oracle, compare  # noqa: E402
from session import Failure, shown  # noqa: E402

OPTIONS = "file=run.step,events=class+alloc+free+reference,snapshot=start"
COUNT, WHOLE, PART, ARRAY = 500, 16, 24, 1000
# By holder: references, within one thread, neighbours, distance, a candidate.
WANTED = {"facts/Neighbours$Whole": (COUNT, COUNT, COUNT, WHOLE, True),
          "facts/Neighbours$Far": (COUNT, COUNT, 0, PART + 10 * ARRAY, False),
          "facts/Neighbours$Foreign": (COUNT, 0, 0, None, False)}


def require(condition, text):
    if not condition:
        raise Failure(text)


def check_planted(session, answer):
    rows = {row["holder"]: row for row in answer["fields"] if row["field"] == "part"}
    require(set(rows) == set(WANTED), f"rows: {sorted(rows)}")
    for holder, (references, one_thread, neighbours, distance, is_candidate) in WANTED.items():
        row = rows[holder]
        found = tuple(row[key] for key in ("references", "one_thread", "neighbours", "two_threads", "unknown"))
        require(found == (references, one_thread, neighbours, references - one_thread, 0), f"{holder}: {row}")
        most = row["distance_bytes"] and row["distance_bytes"]["most"]
        require((most, row["is_candidate"]) == (distance, is_candidate), f"{holder}: {row}")
    text = session.step("locality", "run.step", "--top=0").decode()
    candidates = text.partition("Candidates for co-allocation")[2]
    require([f"{holder}.part" in candidates for holder in WANTED] == [True, False, False], candidates)


def locality(session):
    """Three kinds of pairs, and every other field of the trace as an implementation of its own counts it."""
    result = session.run(session.java("Neighbours", "", OPTIONS))
    require((result.returncode, result.stdout) == (0, b"true\n"), shown(result.stderr))
    answer = json.loads(session.step("locality", "--json", "run.step"))
    check_planted(session, answer)
    try:
        compare(answer, Oracle(session.steptrace, session.path("run.step")))
    except AssertionError as error:
        raise Failure(f"the oracle: {error}") from error


TABLE = {"locality": locality}
