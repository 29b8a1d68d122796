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
