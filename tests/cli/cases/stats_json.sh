# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || exit 77
steptrace stats --json $data/closed.txt | python3 -c '
import json, sys
s = json.load(sys.stdin)
print(s["events"], s["objects"]["allocated_objects"], s["objects"]["freed_objects"], s["live"]["end_objects"])
for c in s["classes"]:
    print(c["name"], c["allocated_objects"], c["freed_objects"], c["live_objects"], c.get("lifetimes"))
for m in s["methods"]:
    print(m["class"], m["method"], m["calls"], m["exceptions"], m["exclusive_ns"], m["inclusive_ns"])
for t in s["threads"]:
    print(t["thread"], t.get("start_ns"), t.get("end_ns"), t["calls"])'
