# SPDX-License-Identifier: Apache-2.0
# A young generation of 320k has survivor spaces of 64k and an eden of 192k.  Objects of 40000 bytes, five of which
# would be 200000, so that the fifth begins a collection:
#   births 1 2 3 4 | 5 6 7 8 | 9 10, 1 lives for ever, 2 to the end of the second cohort, 3 and 4 die before 5 is born
#   collection 1: 1 and 2 live: 80000 bytes, of which 65536 fit and 14464 are promoted
#   2 dies; the next threshold is 1, since 65536 are more than half of a survivor space
#   collection 2: what is left of 1 in the survivor space (65536 / 80000 of 40000 bytes: 32768) is promoted; 5 is copied
#   at the end the old generation has 14464 + 32768 bytes, of which 7232 were of 2: 40000 live there
# mark-compact of 256000 bytes, and a semi-space of twice that: six objects fit; when 7 comes 1 2 5 6 live and two more
#   fit; when 9 comes 1 and 5 live: 160000 + 80000 bytes of work.  In 160000 bytes 1 2 5 6 leave no place for 7.
text() {
    echo '# HATF 1.0, hand-made'
    echo 'createThread 0 0 0 1 0 1'
    for i in 1 2 3 4; do echo "alloc ${i}00000 40000 0 1 0 ${i}0"; done
    echo 'free 300000 0 0 1 0 41'
    echo 'free 400000 0 0 1 0 42'
    for i in 5 6 7 8; do echo "alloc ${i}00000 40000 0 1 0 ${i}0"; done
    echo 'free 200000 0 0 1 0 81'
    for i in 6 7 8; do echo "free ${i}00000 0 0 1 0 8$i"; done
    for i in 9 10; do echo "alloc ${i}00000 40000 0 1 0 ${i}0"; done
}
text >hand.hatf.txt
steptrace simulate hand.hatf.txt --young 320k --semi-space 500k,312.5k --mark-compact 250k
steptrace simulate hand.hatf.txt --young 320k..640k,1m --max-tenuring 0 --csv
steptrace simulate hand.hatf.txt --young 320k --semi-space 500k,312.5k --json >hand.json
cat hand.json
$data/../validate.py $data/../../../docs/schemas/simulate.schema.json <hand.json
steptrace simulate hand.hatf.txt --young 320k,512k --max-tenuring 0 --survivor-ratio 1 | tail -n 4
echo "-- an object larger than eden is born in the old generation"
(text; echo 'alloc 1100000 200000 0 1 0 110') >large.hatf.txt
steptrace simulate large.hatf.txt --young 320k --csv
echo "-- regions of 1 MiB, four of them: ten objects of 400000 bytes fill eden, of which 1 and 2 live and take a region;"
echo "-- seven fill the other three; 1 and 2 are promoted, since they are more than half of a region; one is humongous"
regions() {
    text | head -n 2
    for i in $(seq 10); do echo "alloc ${i}000000 400000 0 1 0 ${i}0"; done
    for i in $(seq 3 10); do echo "free ${i}000000 0 0 1 0 1${i}1"; done
    echo 'alloc 50000000 600000 0 1 0 1500'
    for i in $(seq 11 17); do echo "alloc ${i}000000 400000 0 1 0 ${i}00"; done
    for i in $(seq 11 17); do echo "free ${i}000000 0 0 1 0 ${i}01"; done
    echo 'alloc 18000000 400000 0 1 0 1800'
    echo 'free 1000000 0 0 1 0 1801'
    echo 'free 50000000 0 0 1 0 1802'
}
regions >regions.hatf.txt
steptrace simulate regions.hatf.txt --young-regions 4m --csv
steptrace simulate regions.hatf.txt --young-regions 4m,32m --region-size 2m --young 4m --svg run.svg
python3 -c 'import xml.dom.minidom as m; d = m.parse("run.svg"); print([len(p.getAttribute("points").split()) for p in d.getElementsByTagName("polyline")], [t.firstChild.data for t in d.getElementsByTagName("text")])'
echo "-- a heap of both generations: 1 2 5 7 9 live for ever (200000 bytes), and eden takes four objects; each other dies at the next birth."
echo "-- 704k: an old generation of 384k has room for all; 450k: of 130k, which three objects fill, so that the heap is collected whole; 400k: more often"
heaps() {
    text | head -n 2
    for i in $(seq 24); do echo "alloc ${i}00000 40000 0 1 0 ${i}0"; case $i in 1|2|5|7|9) ;; *) echo "free ${i}00000 0 0 1 0 ${i}1";; esac; done
}
heaps >heaps.hatf.txt
steptrace simulate heaps.hatf.txt --young 320k --heap 400k,450k,704k --csv
steptrace simulate heaps.hatf.txt --young 320k --heap 400k,450k,704k
steptrace simulate heaps.hatf.txt --young 320k --heap 400k,704k --json >heaps.json
$data/../validate.py $data/../../../docs/schemas/simulate.schema.json <heaps.json
echo "-- the least heap: with a third, 4 MiB have an eden of 1088k and an old generation of 2752k, together room for 30 blocks of 128k;"
echo "-- with 1 MiB, an eden of 896k and an old generation of 3072k, together 31.  The same heaps with a limit."
live() {
    text | head -n 2
    for i in $(seq $1); do echo "alloc ${i}000000 131072 0 1 0 ${i}0"; done
    echo "free 1000000 0 0 1 0 990"
}
for count in 30 31 32; do
    live $count >live.hatf.txt
    steptrace simulate live.hatf.txt --young 1m --json | grep least_heap
    steptrace simulate live.hatf.txt --young 1m --heap 4m,6m --csv | cut -d , -f 4,14
done
echo "-- 1200k do not fit into that eden, but into the old generation beside 1500k, and not beside 1600k"
for size in 1500 1600; do
    (text | head -n 2; echo "alloc 1000000 $((size * 1024)) 0 1 0 10"; echo 'alloc 9000000 1228800 0 1 0 20'
        echo 'free 1000000 0 0 1 0 30') >live.hatf.txt
    steptrace simulate live.hatf.txt | grep -E '^(minimum|least)'
done
echo "-- deaths found by collections"
steptrace simulate $data/traces/shop-1.step --young 192k --mark-compact 64k,1m
steptrace simulate $data/traces/shop-1.step --young 192k --existing-old --csv
echo "-- no sizes; no frees; cut"
steptrace simulate $data/closed.txt || echo $?
grep -v free hand.hatf.txt >births.hatf.txt
steptrace simulate births.hatf.txt --young 320k --csv
head -c 20000 $data/traces/shop-1.step >cut.step
steptrace simulate cut.step --young 192k --csv || echo $?
(text; echo 'alloc 1100000 4611686018427387904 0 1 0 110') >huge.hatf.txt
steptrace simulate huge.hatf.txt --young 320k || echo $?
echo "-- usage"
for words in '--young 4m..1m' '--young 100k' '--young 0' '--young 4m,' '--semi-space 1k..2048t' '--survivor-ratio 0' \
    '--max-tenuring 16' '--target-survivor 101' '--csv --json' '--young-regions 1m' \
    '--young 4m --heap 4m' '--young 4m --heap 8m --svg x.svg' '--young-regions 8m --region-size 3m' '--young-regions 8m --region-size 512k'; do
    steptrace simulate hand.hatf.txt $words || echo $?
done
