# SPDX-License-Identifier: Apache-2.0
# Lifetimes by site, and advice, of hand-made traces of a native program, whose deaths are exact.  The attribute is the
# class: 'once' is one block of 4096 at a time, 'pool' four of 8000 to 8032, 'kept' lives to the end, 'mixed' is freed
# in another order.  All sizes and moments are known, so that each percentile and each sum can be checked by hand:
#   once: 20 blocks that die with nothing allocated meanwhile (their own 4096 bytes), 19 after another: 77824 bytes
#   pool: 24 blocks, of which 20 (160336 bytes) die before the fourth after them, and 4 live at the end
#   kept: 32 blocks of 2048, which all see five collections if there is one for each 64 KiB of the 332 KiB
blocks() {
    echo '# HATF 1.0, hand-made'
    echo 'createThread 0 0 0 1 0 1'
    at=10
    for i in $(seq 1 32); do echo "alloc 7${i}000 2048 0 1 0 $((at += 10)) kept"; done
    for i in $(seq 1 20); do
        echo "alloc 1000 4096 0 1 0 $((at += 10)) once"
        echo "free 1000 0 0 1 0 $((at += 5))"
    done
    for i in $(seq 1 24); do
        [ $i -gt 4 ] && echo "free 2$((i % 4))000 0 0 1 0 $((at += 1))"
        echo "alloc 2$((i % 4))000 $((8000 + i % 3 * 16)) 0 1 0 $((at += 10)) pool"
    done
}
blocks >hand.hatf.txt
steptrace lifetimes hand.hatf.txt --histogram
steptrace lifetimes hand.hatf.txt --json >lives.json
cat lives.json
$data/../validate.py $data/../../../docs/schemas/lifetimes.schema.json <lives.json
echo "-- advice"
steptrace advise hand.hatf.txt
steptrace advise hand.hatf.txt --young 64k --json >advice.json
cat advice.json
$data/../validate.py $data/../../../docs/schemas/advise.schema.json <advice.json
steptrace advise hand.hatf.txt --within 4 --least 1m
steptrace advise hand.hatf.txt --within 3 --top 1 | tail -n 3
steptrace advise - --from hatf.txt --top 1 <hand.hatf.txt | tail -n 3
echo "-- deaths found by collections, call stacks"
steptrace lifetimes $data/traces/shop-1.step --top 3 --depth 2
steptrace advise $data/traces/shop-1.step --top 3 --depth 2 --least 1k
echo "-- no sizes; no objects; cut; sizes beyond 2^62"
steptrace lifetimes $data/closed.txt || echo $?
steptrace advise $data/closed.txt || echo $?
head -n 2 hand.hatf.txt >none.hatf.txt
steptrace lifetimes none.hatf.txt
steptrace advise none.hatf.txt
head -c 40000 $data/traces/shop-1.step >cut.step
steptrace lifetimes cut.step --top 1 || echo $?
steptrace advise cut.step --top 1 || echo $?
(blocks; echo 'alloc 9000000 4611686018427387904 0 1 0 110000') >huge.hatf.txt
steptrace lifetimes huge.hatf.txt || echo $?
echo "-- usage"
for words in '--top x' '--least 1q' '--within -1' '--young'; do
    steptrace advise hand.hatf.txt $words || echo $?
done
steptrace lifetimes || echo $?
