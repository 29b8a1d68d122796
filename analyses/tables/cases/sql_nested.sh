# SPDX-License-Identifier: Apache-2.0
# Arrays and variants are text in tables, as JSON: put together again, a row is the line of JSON Lines.
steptrace sql x.step "select 1" 2>&1 | grep -q 'this build has no SQLite' && exit 77
$EXAMPLES/shapes shapes.step >/dev/null
steptrace convert shapes.step -o lines.jsonl
steptrace sql --csv shapes.step "select json_object('\$record', record, 'time', time, 'what', json(what), 'colours', json(colours)) as line from \"shapes.Drawn\"" |
    python3 -c 'import csv, sys; print(*(row["line"] for row in csv.DictReader(sys.stdin)), sep="\n")' | cmp - lines.jsonl && echo same
steptrace sql shapes.step "select time, json_extract(what, '\$.members[0].corners[2].y') as y, json_array_length(colours) as colours from \"shapes.Drawn\" where colours like '[16711680,%'"
