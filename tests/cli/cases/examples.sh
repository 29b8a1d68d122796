# SPDX-License-Identifier: Apache-2.0
# The programs of examples/: a producer, a consumer, both versions of a definition, and the others.
$EXAMPLES/producer one.step && $EXAMPLES/producer2 two.step && ls
for consumer in consumer consumer2; do
    for trace in one two; do
        echo "$consumer $trace.step:"
        $EXAMPLES/$consumer $trace.step || echo "exit $?"
    done
done
$EXAMPLES/dynamic one.step
echo "Packet, Lost:" && $EXAMPLES/dynamic one.step net.Packet Lost
echo "Transfer:" && $EXAMPLES/dynamic two.step Transfer
$EXAMPLES/dynamic one.step Nothing || echo "exit $?"
$EXAMPLES/consumer none.step || echo "exit $?"
$EXAMPLES/custom_io
mkdir many && $EXAMPLES/many many && ls many
# damaged and cut: what is lost is an error, and the rest is read
size=$(wc -c <one.step)
cp one.step bad.step
printf '\377\377\377' | dd of=bad.step bs=1 seek=700 conv=notrunc 2>/dev/null
head -c $((size - 1)) one.step >cut.step
for consumer in consumer consumer2; do
    for trace in bad cut; do
        $EXAMPLES/$consumer $trace.step >$consumer.$trace 2>$consumer.err || echo "$consumer $trace.step: exit $?"
        cat $consumer.err
    done
done
$EXAMPLES/shapes shapes.step && steptrace dump shapes.step && steptrace convert shapes.step -o - --to=jsonl
