# SPDX-License-Identifier: Apache-2.0
steptrace compare $data/traces/shop-1.step $data/traces/shop-2.step --top 3 --depth 3 --by all | grep -v 'itself\|duration\|mean life \|^ .* [um]s .*Shop'
echo "-- tree"
steptrace compare $data/traces/shop-1.step $data/traces/shop-2.step --tree | head -n 8
echo "-- csv"
steptrace compare $data/traces/shop-1.step $data/traces/shop-2.step --csv --top 2 --by class+site | cut -d , -f 1-12
echo "-- the same trace"
steptrace compare $data/traces/shop-1.step $data/traces/shop-1.step | tail -n 2
echo "-- the sums are those of stats"
steptrace compare $data/traces/shop-1.step $data/traces/shop-2.step --json --top 0 --by class --exact --class '!**Lambda*' >changes.json
for i in 1 2; do steptrace stats $data/traces/shop-$i.step --json --top 0 --class '!**Lambda*' >stats$i.json; done
python3 - <<'P'
import json
changes = json.load(open('changes.json'))
for side, file in (('before', 'stats1.json'), ('after', 'stats2.json')):
    stats = {row['name']: row for row in json.load(open(file))['classes']}
    for row in changes['classes']:
        own = stats.get(row['class'], {})
        for metric, key in (('allocated', 'allocated_bytes'), ('freed_objects', 'freed_objects'), ('alive_at_end', 'live_bytes')):
            if row.get(metric, {side: 0})[side] != own.get(key, 0):
                print(side, row['class'], metric, row.get(metric), own.get(key))
print(len(changes['classes']) > 0)
P
echo "-- runs of one program: the middle, and what they differ by"
mkdir runs
cp $data/traces/shop-1.step runs/a.step
cp $data/traces/shop-2.step runs/b.step
steptrace compare runs $data/traces/shop-2.step,$data/traces/shop-1.step,$data/traces/shop-2.step --top 1 | grep -v 'duration\|itself\|mean life '
steptrace compare runs $data/traces/shop-2.step --fail-if 'allocated > +1%' >/dev/null
echo $?
echo "-- a page"
steptrace compare $data/traces/shop-1.step $data/traces/shop-2.step --html page.html
grep -c '"is_after":true' page.html
echo "-- a class that is kept, though as much of it is allocated"
for how in keep drop; do
    python3 -c '
import sys
print("VS:0\nVI:0\nCL:0:Order\nCL:0:Other")
print("\n".join(f"OA:{n}:{name}:{2 * n + i}" for n in range(1, 101) for i, name in enumerate(("Order", "Other"))))
print("\n".join(f"OF:500:{name}:{2 * n + i}" for n in range(1, 101)
                for i, name in enumerate(("Order", "Other")) if name == "Other" or sys.argv[1] == "drop"))
print("VD:1000")' $how >$how.txt
done
steptrace compare drop.txt keep.txt
steptrace compare drop.txt keep.txt --class Order --json | python3 -c '
import json, sys
for row in json.load(sys.stdin)["classes"]:
    print(row["class"], row["alive_at_end_objects"])'
steptrace compare drop.txt keep.txt --csv | cut -d , -f 2,5-6,9-10,15-18
echo "-- stacks of 8 frames and of 3"
steptrace compare $data/traces/shop-1.step $data/traces/shop-3.step --by site --json | python3 -c '
import json, sys
rows = json.load(sys.stdin)["sites"]
print(max(len(row["site"]) for row in rows), sum(row["site"][0] == "Shop.order" for row in rows))'
echo "-- what can hardly be compared"
steptrace compare $data/closed.txt $data/traces/shop-1.step --top 1 | head -n 3
steptrace compare $data/heap.hatf.txt $data/closed.txt --top 1 | tail -n 2
head -c 30000 $data/traces/shop-1.step >cut.step
cp $data/traces/shop-1.step whole.step
steptrace compare cut.step whole.step --top 1 | head -n 5 | cut -c 1-50
echo ${PIPESTATUS[0]}
for pair in "none.step cut.step" "$data/traces/shop-1.step none.step" "$data/bad.memory-infra.json cut.step" "empty cut.step"; do
    mkdir -p empty
    steptrace compare $pair >/dev/null
    echo $?
done
steptrace compare $data/traces/shop-1.step
steptrace compare $data/traces/shop-1.step $data/traces/shop-1.step --by size
steptrace compare $data/traces/shop-1.step $data/traces/shop-1.step --json --csv
