# SPDX-License-Identifier: Apache-2.0
# Meta-TF of any DTD, against a reader and a writer made from the paper (paper_metatf.py).
paper() { python3 $data/paper_metatf.py "$@"; }
paper --dtd >trains.dtd
paper --write 2 big >t.mtf
steptrace dump t.mtf
steptrace dump t.mtf --metadata --record passes
steptrace dump t.mtf --record stations.station | head -n 1
steptrace info t.mtf
steptrace info t.mtf --json | grep -E 'int_bytes|"dtd'
steptrace check t.mtf
steptrace convert t.mtf -o t.csv && cat t.csv
steptrace convert t.mtf -o t.jsonl && cat t.jsonl
steptrace convert t.mtf -o t.txt && steptrace dump t.mtf | cmp - t.txt
cat t.mtf | steptrace info - --dtd trains.dtd | grep records
cat t.mtf | steptrace dump - --dtd trains.dtd | cmp - t.txt
cat t.mtf | steptrace convert - --from=mtf --to=jsonl --dtd trains.dtd -o - | cmp - t.jsonl
# Each class and order: read as the paper says, written as it prints.
for class in 1 2; do
    for order in little big; do
        paper --write $class $order >t.mtf
        paper t.mtf trains.dtd | diff - <(steptrace dump t.mtf)
        steptrace convert t.mtf -o same.mtf --layout=index --byte-order=$order --bits=$((32 * class))
        cmp t.mtf same.mtf
        steptrace convert t.mtf -o other.mtf && steptrace convert other.mtf -o same.mtf --layout=index \
            --byte-order=$order --bits=$((32 * class)) && cmp t.mtf same.mtf
        for trace in heap.hatf.txt closed.txt; do
            for split in "" --split=address; do
                steptrace convert $data/$trace -o p.mtf --layout=index --byte-order=$order \
                    --bits=$((32 * class)) $split
                steptrace info --definition p.mtf >p.dtd
                steptrace dump --records p.mtf | grep -v '^#' | diff - <(paper p.mtf p.dtd) && echo $trace
                steptrace dump p.mtf | cmp - $data/$trace
            done
        done
    done
done | sort | uniq -c
# One run without an index; a DTD with sections that are data has no such.
steptrace convert $data/heap.hatf.txt -o r.mtf --layout=records && steptrace dump r.mtf | cmp - $data/heap.hatf.txt
steptrace convert $data/heap.hatf.txt -o r.mtf --layout=records --split=address
# The header's number of records, the places of sections.
paper --write 1 little >t.mtf
printf '\011' | dd of=t.mtf bs=1 seek=24 conv=notrunc 2>/dev/null
steptrace check t.mtf
echo $?
steptrace info t.mtf | grep state
printf '\005' | dd of=t.mtf bs=1 seek=24 conv=notrunc 2>/dev/null
printf '\143' | dd of=t.mtf bs=1 seek=66 conv=notrunc 2>/dev/null
steptrace check t.mtf
echo $?
# What is refused.
steptrace dump other.mtf --from-time 3ns
steptrace convert other.mtf --record nobody -o t.csv
steptrace convert other.mtf -o t.hatf
steptrace stats other.mtf
