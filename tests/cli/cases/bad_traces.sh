# SPDX-License-Identifier: Apache-2.0
# needs: all commands, zstd
# What the verbs that need much of a trace say of one that has little: without deaths, with drops, cut, of a native
# program, sampled, without sizes, empty.  Exit status 0 means complete.  traces/layouts.step has no deaths.
# traces/drops.step is the first 396 objects of java-tests/facts/Fill.java (buffer=1m,overflow=drop,existing=no).
grep -v -E '^(free|realloc)' $data/heap.hatf.txt >native-no-frees.hatf.txt
head -c 20000 $data/traces/layouts.step >cut.step
head -n 3 $data/heap.hatf.txt >native-empty.hatf.txt
printf 'VS:0\nVI:1\nVD:2\n' >empty.txt
steptrace convert empty.txt -o empty.step
: >nothing.step
printf '<hotspot_log>\n<hotspot_log_done/>\n</hotspot_log>\n' >jit.log
traces="$data/traces/layouts.step native-no-frees.hatf.txt $data/traces/drops.step cut.step $data/heap.hatf.txt $data/sampled.bin
    $data/closed.txt empty.step native-empty.hatf.txt nothing.step"
# The lines of the output that tell what it is worth.
worth='^(ALD|AOA|GMD|death times|generations)|estimate|unknown|none|upper bound|at most'
while read -r words; do
    for trace in $traces; do
        steptrace $words $trace >out 2>err
        code=$?
        echo "== $words ${trace##*/}: $code, $(wc -l <out) lines"
        grep -E "$worth" out | cut -c 1-180 | head -n 4
        cut -d: -f 3- err
        if [ $code -ne 0 ] && [ ! -s err ]; then echo "no reason"; fi
        if [ $code -eq 0 ] && [ -s err ]; then echo "a message, but complete"; fi
    done
done <<'END'
nominal
simulate --young 192k
simulate --young 192k --csv
layout --top 3
lifetimes --top 3
advise --top 3
escape --jit-log jit.log
END
