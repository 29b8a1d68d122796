# SPDX-License-Identifier: Apache-2.0
# What --json prints is as docs/schemas says; and where there is nothing to say it on.
valid() { "$data/../validate.py" "$data/../../../docs/schemas/$1.schema.json" "${@:2}"; }
steptrace version --json | valid version
for file in closed.txt breaches.txt cut.txt heap.hatf.txt heap_breaches.hatf.txt; do
    steptrace check --json --limit=3 $data/$file 2>/dev/null >check.json
    echo "$file $? $(valid check <check.json)"
    grep -E '"(verdict|count|breach_count|cut|live_at_end)"' check.json
done
steptrace convert --json $data/closed.txt -o closed.step >convert.json
sed "s/: $(wc -c <closed.step)$/: SIZE/" convert.json
valid convert <convert.json
steptrace dump --json closed.step | valid dump --lines
steptrace dump --json closed.step | tail -n 1
steptrace info --json closed.step | valid info
steptrace convert --json $data/closed.txt --to=step -o - | wc -c
steptrace dump --json --kind=OA closed.step
steptrace check --json none.step
echo $?
echo "-- verbs that tell of traces; replay's is validated by malloc-recorder.replay"
shop=$data/traces/shop-1.step
for file in $shop $data/closed.txt $data/cut.txt $data/heap.hatf.txt; do
    steptrace stats --json --top 0 $file 2>/dev/null | valid stats
    steptrace info --json $file 2>/dev/null | valid info
done
python3 $data/paper_metatf.py --dtd >trains.dtd && python3 $data/paper_metatf.py --write 2 big >t.mtf
steptrace info --json t.mtf | valid info
for how in '--by=class' '--by=class+site+thread --allocated --at=end' '--diff gc:2 end'; do
    steptrace heap --json $how $shop | valid heap
done
steptrace leaks --json --by=class+site $shop | valid leaks
steptrace watch --json $shop | valid watch
steptrace compare --json --by all $shop,$shop $data/traces/shop-2.step | valid compare
if steptrace help | grep -q '^  sql '; then
    steptrace sql --json $shop "select class, size, size * 1.5, null from objects limit 2" | valid sql
else
    echo valid
fi
echo "-- whole numbers are not rounded"
printf 'alloc 4096 123456789\nalloc 1073741824 9876543210\n' >big.hatf.txt
printf 'alloc 4096 123456788\n' >one.hatf.txt
steptrace compare --json one.hatf.txt big.hatf.txt | grep -A 3 '"allocated"'
echo "-- each verb with --json has a schema, and each schema its verb"
for verb in $(steptrace help | sed -n 's/^  \([a-z-]*\)  *.*/\1/p'); do
    case $verb in help) continue ;; esac
    steptrace $verb --help | grep -q -- '--json' && echo $verb
done | grep -v '^sql$' | LC_ALL=C sort |
    diff - <(ls $data/../../../docs/schemas | sed 's/\..*//' | grep -Ev '^(sql|retained|watch-sampled|sarif|code-quality)$' | LC_ALL=C sort) && echo the same
