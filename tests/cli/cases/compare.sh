# SPDX-License-Identifier: Apache-2.0
steptrace compare $data/shop-1.step $data/shop-2.step --top 3 --depth 3 --by all | grep -v 'itself\|duration\|mean life \|^ .* [um]s .*Shop'
echo "-- tree"
steptrace compare $data/shop-1.step $data/shop-2.step --tree | head -n 8
echo "-- csv"
steptrace compare $data/shop-1.step $data/shop-2.step --csv --top 2 --by class+site | cut -d , -f 1-12
echo "-- the same trace"
steptrace compare $data/shop-1.step $data/shop-1.step | tail -n 2
echo "-- the sums are those of stats"
steptrace compare $data/shop-1.step $data/shop-2.step --json --top 0 --by class --exact --class '!**Lambda*' >changes.json
for i in 1 2; do steptrace stats $data/shop-$i.step --json --top 0 --class '!**Lambda*' >stats$i.json; done
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
cp $data/shop-1.step runs/a.step
cp $data/shop-2.step runs/b.step
steptrace compare runs $data/shop-2.step,$data/shop-1.step,$data/shop-2.step --top 1 | grep -v 'duration\|itself\|mean life '
steptrace compare runs $data/shop-2.step --fail-if 'allocated > +1%' >/dev/null
echo $?
echo "-- a page"
steptrace compare $data/shop-1.step $data/shop-2.step --html page.html
grep -c '"is_after":true' page.html
echo "-- what can hardly be compared"
steptrace compare $data/closed.txt $data/shop-1.step --top 1 | head -n 3
steptrace compare $data/heap.hatf.txt $data/closed.txt --top 1 | tail -n 2
head -c 30000 $data/shop-1.step >cut.step
cp $data/shop-1.step whole.step
steptrace compare cut.step whole.step --top 1 | head -n 5 | cut -c 1-50
echo ${PIPESTATUS[0]}
for pair in "none.step cut.step" "$data/shop-1.step none.step" "$data/bad.memory-infra.json cut.step" "empty cut.step"; do
    mkdir -p empty
    steptrace compare $pair >/dev/null
    echo $?
done
steptrace compare $data/shop-1.step
steptrace compare $data/shop-1.step $data/shop-1.step --by size
steptrace compare $data/shop-1.step $data/shop-1.step --json --csv
