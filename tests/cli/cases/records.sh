# SPDX-License-Identifier: Apache-2.0
# Traces of other definitions, through the definition that they embed.
$EXAMPLES/producer one.step && $EXAMPLES/producer2 two.step
steptrace info one.step | sed 's/, [0-9,]* bytes.*/, N bytes/'
steptrace dump one.step | tail -n 3
steptrace dump --record Tcp,net.Lost one.step
steptrace dump --record Packet two.step | tail -n 2
steptrace dump --record Transfer two.step
echo "with maps:" && steptrace dump --record Transfer --maps two.step
steptrace dump --entries two.step
steptrace dump --from-time 98ns --to-time 99ns two.step | cut -d' ' -f1-2
steptrace info --definition two.step | head -n 3
steptrace dump --records $data/closed.txt || echo "exit $?"
steptrace dump --record Missing one.step || echo "exit $?"
steptrace dump --kind OA one.step || echo "exit $?"
cat one.step | steptrace dump --record Lost -
head -c 400 one.step >cut.step
steptrace dump cut.step | wc -l
steptrace convert $data/closed.txt -o java.step
steptrace dump --record ObjectAlloc java.step
steptrace check one.step || echo "exit $?"
steptrace convert one.step -o one.zip || echo "exit $?"
ls one.zip* 2>/dev/null
