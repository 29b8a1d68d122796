# SPDX-License-Identifier: Apache-2.0
# DaCapo's nominal statistics of a Java trace and of a native one, and what a trace cannot say.
steptrace nominal $data/traces/shop-1.step
steptrace nominal $data/traces/shop-1.step --run-time 100us --min-heap 100k --json >run.json
cat run.json
$data/../validate.py $data/../../../docs/schemas/nominal.schema.json <run.json
steptrace nominal $data/heap.hatf.txt
echo "-- no deaths, from standard input; all sizes large: within 1.6 %"
for i in 1 2 3 4 5 6 7 8 9 10; do echo "alloc ${i}000000 $((i * 100000)) 0 1 0 ${i}000"; done >large.hatf.txt
steptrace nominal - --from hatf.txt <large.hatf.txt
echo "-- lifetimes: 64 bytes live 256, 192 live 192: 1 - (192 * 36864 + 64 * (2 * 36864 + 16384)) / (256 * 53248) = 0.0577"
lives='alloc 100000 64 0 1 0 10
alloc 200000 192 0 1 0 20
free 100000 0 0 1 0 30
free 200000 0 0 1 0 40'
(head -n 2 $data/heap.hatf.txt; echo "$lives") >lives.hatf.txt
steptrace nominal lives.hatf.txt | grep ALD
echo "-- 2048 more that live 2048 or longer: the least is 1 - (192 * 36864 + 64 * (2 * 36864 + 16384) + 2048 * (2 * 53248 + 2^22)) / (2304 * (53248 + 2^22)) = 0.0987"
(cat lives.hatf.txt; echo 'alloc 300000 2048 0 1 0 50') >longer.hatf.txt
steptrace nominal longer.hatf.txt | grep ALD
echo "-- 192 that live 192 or longer beside 64 that live 256: the same, if they live 256"
grep -v 'free 200000' lives.hatf.txt >equal.hatf.txt
steptrace nominal equal.hatf.txt | grep ALD
echo "-- no phase of that name; no sizes; nothing; cut; sizes beyond 2^62"
steptrace nominal $data/traces/shop-1.step --phase measure
steptrace nominal $data/closed.txt || echo $?
head -n 1 $data/heap.hatf.txt >none.hatf.txt
steptrace nominal none.hatf.txt | grep -c 'unknown: the trace has no allocations'
head -c 40000 $data/traces/shop-1.step >cut.step
steptrace nominal cut.step || echo $?
(cat $data/heap.hatf.txt; echo 'alloc 990000000 4611686018427387904 0 1 0 110000') >huge.hatf.txt
steptrace nominal huge.hatf.txt || echo $?
echo "-- usage"
for words in '--run-time x' '--min-heap 1q' '--phase'; do
    steptrace nominal none.hatf.txt $words || echo $?
done
