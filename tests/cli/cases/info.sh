# SPDX-License-Identifier: Apache-2.0
steptrace convert $data/closed.txt -o a.step
steptrace info a.step | sed 's/, [0-9,]* bytes.*/, N bytes/; s/^producer.*/producer/'
steptrace info $data/closed.txt | sed 1d
command -v python3 >/dev/null && steptrace info --json a.step | python3 -c '
import json, sys
i = json.load(sys.stdin)
assert i["whole"] and i["events"] == 20 and i["kinds"]["OA"] == 4 and i["classes"] == 3, i
assert i["records"]["java.ObjectFree"] == 2 and i["properties"]["resolution-ns"] == "1", i'
