# SPDX-License-Identifier: Apache-2.0
export LC_ALL=C COLUMNS=80
shop=$data/traces/shop-1.step
echo "-- a trace that has ended"
steptrace watch --once --top 3 $shop
steptrace watch --once --top 2 --by site --sort allocated --class '[B' $shop | tail -n 3
echo "-- the sums of stats"
for part in '' '--class=java.lang.**' '--site=Shop.order' '--thread=main' '--size=>=100' '--time=..320ms' '--time=250ms..320ms' '--class=none'; do
    steptrace watch --json --top 1 $part $shop >watch.json
    "$data/../validate.py" "$data/../../../docs/schemas/watch.schema.json" <watch.json
    steptrace stats --json --top 1 $part $shop >stats.json
    python3 -c '
import json
told, known = json.load(open("watch.json"))["total"], json.load(open("stats.json"))["objects"]
print([told[key] for key in told], all(told[key] == known[key] for key in told if key != "calls"))'
done
echo "-- calls"
steptrace watch --once --by method --top 2 $data/traces/shop-2.step | tail -n 3
echo "-- phases, of a trace that has none"
steptrace watch --once --top 1 --phase measure $shop | head -n 2
steptrace watch --once --top 1 --phase '' $shop | head -n 1
echo "-- cut, damaged, empty, others"
head -c 30000 $shop >cut.step
steptrace watch --once --top 1 cut.step | head -n 2
cp $shop damaged.step
printf 'xxxx' | dd of=damaged.step bs=1 seek=20000 conv=notrunc status=none
steptrace watch --once --top 1 damaged.step | head -n 1
: >empty.step
steptrace watch --once empty.step
steptrace watch --once $data/closed.txt
steptrace watch --once none.step
steptrace watch --once 4194305
echo "-- faults of usage"
steptrace watch
steptrace watch $shop --lifetime '<3ms'
steptrace watch $shop --interval 1ms
steptrace watch $shop --cpu 0
steptrace watch $shop --by color
steptrace watch $shop --sort growth
steptrace watch --once --top 500 $shop
steptrace watch $shop </dev/null
