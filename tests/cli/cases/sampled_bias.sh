# SPDX-License-Identifier: Apache-2.0
# A sampled trace of a JDK before 25, whose sampler is biased: no number passes for a 95 % interval, each command
# says so, and rules are not judged.
trace=$data/sampled-17.bin
says() {
    steptrace "$@" >made 2>told
    echo "$1: $? $(grep -c 'samples with a bias' told) $(grep -c '95 % intervals)\|(95 %)\|at 95 %' made)"
}
for verb in stats heap leaks check info dump; do
    says $verb $trace
done
says compare $trace $trace --by class
says compare $data/sampled.bin $trace --by class
says watch --once $trace
says sql $trace 'select sum(weight) from objects'
says convert $trace --to parquet --table=objects -o lake
says pack $trace -o x.step
says report $trace -o x.html
echo "-- the words"
steptrace stats --top 1 $trace | grep -v '^ '
steptrace heap --by class --top 1 $trace | sed -n '2p;5p'
steptrace compare --by class --top 1 $trace $trace | grep -n 'bias\|^allocated'
steptrace leaks --by class --top 1 $trace | grep 'bias'
COLUMNS=100 steptrace watch --once --top 1 $trace | grep -c 'bias'
steptrace stats <$trace - >/dev/null
echo "-- rules"
for rule in 'allocated > 1' 'allocated < 1' 'class:T$Small allocated_objects > 1'; do
    steptrace stats -q --fail-if "$rule" $trace; echo $?
done
steptrace heap -q --fail-if 'alive > 1g' $trace; echo $?
steptrace leaks -q --fail-if 'growth > 1g' $trace; echo $?
steptrace compare -q --fail-if 'allocated > +5%' $data/sampled.bin $trace; echo $?
steptrace stats -q --fail-if 'allocated > +5%' --baseline $trace $data/sampled.bin; echo $?
echo "-- JSON and the page"
command -v python3 >/dev/null || exit 77
valid() { python3 $data/../validate.py $data/../../../docs/schemas/$1.schema.json; }
flag() { grep -E '"(interval_valid|interval_fault|not_recorded_ns)"' $1 | sed 's/samples with.*/.../' | sort | uniq -c; }
for verb in stats leaks heap; do
    steptrace $verb --json $trace >$verb.json 2>/dev/null
    valid $verb <$verb.json; flag $verb.json
done
steptrace compare --json $data/sampled.bin $trace >compare.json 2>/dev/null; valid compare <compare.json; flag compare.json
steptrace watch --json $trace >watch.json 2>/dev/null; valid watch-sampled <watch.json; flag watch.json | cut -c1-200
grep -o '"interval_valid": *[a-z]*' x.html; grep -c 'its JVM (17' x.html
