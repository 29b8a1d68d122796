# SPDX-License-Identifier: Apache-2.0
# Call stacks that method events make are the same whatever is selected: calls are followed, what is counted is selected.
trace=$data/traces/open_calls.step
steptrace convert --time=..15us $trace -o before.step
steptrace heap --allocated --at end --by site $trace
sums_of_compare() {
    steptrace compare --json --by=site --depth=0 "$@" before.step $trace | python3 -B -c '
import json, sys
for row in json.load(sys.stdin).get("sites", []):
    if "allocated" in row:
        print(";".join(row["site"][::-1]).replace("(no stack)", ""), row["allocated"]["after"])' | sort
}
# without the class, which is the last frame
sums_of_heap() {
    steptrace convert --at end --allocated --to=collapsed -o - "$@" $trace |
        awk '{sub(/;?[^;]* /, " "); n = $NF; sub(/ [0-9]*$/, ""); sum[$0] += n} END {for (i in sum) print i, sum[i]}' | sort
}
for part in '--size=>=1000' '--class=[B' --thread=1 '--thread=pool-*' --site=shop.Cart --method=shop.Item.name '--method=!shop.Item' --time=100us..125us; do
    echo "-- $part"
    sums_of_heap "$part" | tee heap.txt
    sums_of_compare "$part" | diff heap.txt -
    steptrace convert "$part" $trace -o part.heaptrack && grep -o '^s shop/.*' part.heaptrack
    steptrace convert "$part" $trace -o part.jfr && grep -aoE 'shop/(Main|Cart|Item)' part.jfr | sort -u | tr '\n' ' '
    steptrace report "$part" $trace -o part.html && grep -oE '"shop/[A-Z][a-z]*\.[a-z]+"' part.html | sort -u | tr '\n' ' '
    echo
done
echo "-- events of a kind alone"
sums_of_compare --kind=OA | diff <(sums_of_heap) - && echo the same
echo "-- rules and what is selected by place see the same; copies have no derived stacks"
steptrace stats -q --fail-if='site:shop.Cart.add allocated > 3055' --size='>=1' $trace || echo $?
steptrace stats -q --fail-if='site:shop.Cart.add allocated > 3056' $trace && echo $?
steptrace dump --site=shop.Cart.add $trace
steptrace convert --site=shop.Cart.add $trace -o part.step && steptrace dump part.step --records | grep -c AllocAt
echo "-- times of calls are the same whatever is selected; those open at the start of a slice begin there"
times_of_stats() {
    steptrace stats --json "$@" $trace | python3 -B -c '
import json, sys
for row in json.load(sys.stdin).get("methods", []):
    print(row["class"], row["method"], *(row[key] for key in ("calls", "exceptions", "exclusive_ns", "inclusive_ns")))' | sort
}
times_of_stats | tee times.txt
{ times_of_stats --method=shop.Main; times_of_stats --class=shop.Cart; times_of_stats --method=shop.Item.name; } |
    sort | diff times.txt - && echo the same
steptrace compare -q --method=shop.Main.main --fail-if='method:shop.Main.main own_time > 179us' --fail-if='own_time > 180us' before.step $trace || echo $?
steptrace stats -q --method=shop.Main.main --fail-if='own_time > 179us' --fail-if='own_time > 180us' $trace || echo $?
for part in --time=105us.. --time=25us..125us '--time=105us..125us --method=shop.Cart.add' --time=115us..; do
    echo "-- $part"
    times_of_stats $part
done
