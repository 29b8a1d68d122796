# SPDX-License-Identifier: Apache-2.0
# Small files that stand for much: numbers near 2^32, a stack of 300,000 frames, a million exits without
# entry, dictionaries that begin at 3e9 and 2^53, streams of 8 large blocks.  Each ends soon, in 256 MiB.
grep -q __asan_report_ "$STEPTRACE" && limit= || limit=--memory=256m
for name in class_4294967290 thread_4294967290 deep300k badexits1M first3e9 first2pow53; do
    for verb in info check stats "heap --by thread" "report -o a.html" "dump --records --entries" \
        "pack -o a.step" "recover -o b.step" "convert -o a.pb.gz" \
        "convert -o a.memory-infra.json"; do
        steptrace ${verb%% *} "$data/hostile/$name.step" $limit ${verb#"${verb%% *}"} >out 2>err
        echo "$name, ${verb%% *}: $?"
    done
done
[ -z "$limit" ] || for verb in stats check dump; do
    steptrace $verb "$data/hostile/mem8.step" --memory=64m >out 2>err
    [ $? = 1 ] && grep -q 'than the limit of 64.0 MiB' err || cat err
done
# The text of a stack is bounded, and so are the texts that are in memory; depths are counted once.
deep="$data/hostile/deep300k.step"
steptrace sql $deep ${limit:+--memory=128m} "select max(length(stack)) longest from (select stack from sites limit 8000)"
steptrace sql $deep ${limit:+--memory=128m} "select max(depth) deepest from sites"
# A column that only types outside of the block have, measured from by another; an array of 2^60 elements that have no values of
# their own.
for name in linked_one_type inner2pow60; do
    for verb in check dump stats; do
        steptrace $verb "$data/hostile/$name.step" $limit >out 2>err
        echo "$name, $verb: $?"
    done
    steptrace dump "$data/hostile/$name.step" 2>&1 >out | sed 's|.*/||'
done
