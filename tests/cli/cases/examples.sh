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
$EXAMPLES/shapes shapes.step && steptrace dump shapes.step && steptrace convert shapes.step -o - --to=jsonl
