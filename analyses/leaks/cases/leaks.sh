# SPDX-License-Identifier: Apache-2.0
steptrace leaks $data/traces/shop-1.step --top 4 --depth 2 | sed 's/[0-9.]* ms/T/'
echo "-- by class, from the sixth collection on"
steptrace leaks $data/traces/shop-1.step --survived 6 --by class --class '!java.**' --top 4 | sed 's/[0-9.]* ms/T/'
echo "-- the leak of a list, told apart from a cache"
steptrace leaks $data/traces/shop-1.step --json --by class+site --site 'Shop.**' --top 0 | python3 -c '
import json, sys
told = json.load(sys.stdin)
for row in told["rows"]:
    if row["site"][0].startswith("Shop."):
        print(row["class"], row["objects"], row["growth_bytes_per_collection"], row["fit"], row["live"])'
echo "-- what survives is what heap and dump tell"
for n in 1 3 6; do
    steptrace leaks $data/traces/shop-1.step --survived $n --json --top 1 | python3 -c '
import json, sys
print(json.load(sys.stdin)["survived"]["objects"])'
    steptrace dump --alive-at end --kind OA $data/traces/shop-1.step >alive
    time=$(steptrace dump --kind OF $data/traces/shop-1.step | cut -d : -f 2 | uniq | tail -n $n | head -n 1)
    awk -F : -v time=$time '$2 < time' alive | wc -l
done
echo "-- a selection changes no collections, and what came at once is no growth"
python3 -c '
# 12 collections; each second one frees nothing of Leak
lines, number = ["VS:0", "VI:0", "CL:0:Leak", "CL:0:Other", "CL:0:Burst", "CL:0:Big"], 0
def make(name, time):
    global number
    number += 1
    lines.append(f"OA:{time}:{name}:{number}")
    return number
for turn in range(1, 13):
    time, dead = turn * 1000000, [make("Other", turn * 1000000)]
    for _ in range(5):
        make("Leak", time)
    if turn % 2 == 0:
        dead.append(make("Leak", time))
    if turn == 9:
        make("Big", time)
        for _ in range(50):
            make("Burst", time)
    lines += [f"OF:{time + 500000}:{name}:{n}" for n, name in zip(dead, ("Other", "Leak"))]
lines.append("VD:13000000")
print("\n".join(lines))' >steady.txt
for part in '' '--class=Leak'; do
    steptrace leaks steady.txt --by class $part --fail-if 'class:Leak leaked_objects > 7' --json >rows.json
    echo $?
    python3 -c '
import json
told = json.load(open("rows.json"))
for row in told["rows"]:
    print(told["collections"], row["class"], row["objects"], row["growth_bytes_per_collection"], row["live"])'
done
echo "-- growth is of bytes, which the text format does not have"
steptrace leaks steady.txt -q --fail-if 'class:Leak growth > 7'
echo $?
echo "-- suppressed"
printf 'class:[B   # known\n\nsite:java.lang.**\nclass:none\n' >known.txt
steptrace leaks $data/traces/shop-1.step --suppress known.txt --top 3 --depth 1 | sed 's/[0-9.]* ms/T/'
echo "-- gates"
steptrace leaks $data/traces/shop-1.step --top 1 --fail-if 'site:Shop.order growth > 1k' --fail-if 'class:[C leaked_objects > 100' >/dev/null
echo $?
echo "-- beside a trace from before"
steptrace leaks $data/traces/shop-2.step --baseline $data/traces/shop-1.step --top 2 --depth 2 --fail-if 'class:[B leaked > +5k' | tail -n 5
steptrace leaks $data/traces/shop-2.step --baseline $data/traces/shop-1.step --by class --json --top 2 | python3 -c '
import json, sys
print(json.load(sys.stdin)["baseline"]["changes"])'
steptrace leaks $data/traces/shop-1.step --baseline $data/traces/shop-1.step --top 1 --fail-if 'leaked > +0' --fail-if 'leaked_objects != +0' | tail -n 1
steptrace leaks $data/traces/shop-1.step --baseline none.step
echo "-- no stacks, no collections, cut"
steptrace leaks $data/closed.txt --survived 0
steptrace leaks $data/heap.hatf.txt --survived 1 --top 2 | tail -n 3
head -c 30000 $data/traces/shop-1.step >cut.step
steptrace leaks cut.step | head -n 1
for bad in 'kind:x' 'class:'; do
    echo "$bad" >bad.txt
    steptrace leaks $data/traces/shop-1.step --suppress bad.txt
done
steptrace leaks $data/traces/shop-1.step --suppress none.txt
steptrace leaks $data/traces/shop-1.step --fail-if 'allocated > 5'
steptrace leaks $data/traces/shop-1.step --fail-if 'leaked > +5'
steptrace leaks none.step
# Frees of one time are one collection, of which all that was born at that time saw it.
printf '%s\n' VS:0 VI:1 OA:2:X:1 OF:2:X:1 OA:2:X:2 OF:2:X:2 OA:2:X:4 OA:3:X:3 OF:3:X:3 VD:4 >tick.txt
steptrace convert tick.txt -o tick.step
steptrace sql tick.step "select (select count(*) from collections) collections, survived from objects where alive"
steptrace leaks tick.step --survived 2 --older-than 0 | head -n 2
steptrace heap tick.step --at gc:1 | head -n 2
steptrace heap tick.step --at gc:2 | head -n 1
steptrace compare tick.step tick.step | grep collections
# With fewer collections than growth takes, what is old is listed, unless limits were given.
printf '%s\n' VS:0 VI:1000 OA:1000:X:1 OA:5000:Y:2 OF:6000:Y:2 OA:9000:Y:3 VD:10000 >few.txt
steptrace leaks few.txt
steptrace leaks few.txt --survived 3
# Rules about what so few collections cannot show are not judged; the others are.
for rule in 'leaked > 1' 'leaked_objects < 5' 'growth > 1'; do
    steptrace leaks few.txt -q --fail-if "$rule"
    echo $?
done
steptrace leaks $data/traces/open_calls.step -q --fail-if 'growth > 1'
echo $?
steptrace leaks $data/traces/open_calls.step -q --fail-if 'leaked > 1'
echo $?
steptrace leaks few.txt -q --survived 1 --fail-if 'leaked_objects > 0'
echo $?
steptrace leaks few.txt -q --survived 0 --older-than 5us --fail-if 'leaked_objects > 5' --fail-if 'growth > 1'
echo $?
steptrace leaks $data/traces/shop-1.step -q --baseline few.txt --fail-if 'leaked > +1'
echo $?
steptrace leaks $data/traces/loaders.step --survived 0 --by class --class 'Loaders$Item' | tail -n 1 | sed 's/.*|//'
