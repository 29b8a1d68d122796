# SPDX-License-Identifier: Apache-2.0
# Records of any definition as JSON lines, as CSV, and as STEP again, filtered.
$EXAMPLES/producer2 two.step
convert() { steptrace convert two.step "$@" || echo "exit $?"; }
convert -o all.jsonl && wc -l <all.jsonl && tail -n 4 all.jsonl
convert -o - --to=jsonl --record Udp --where 'time<2'
convert -o - --to jsonl --where time=100 --where 'port!=0x17'
convert -o - --to=csv --record Packet --where 'time>=99' | tr '\r' R
convert -o part.step --record Packet --where 'time>97' --where 'time<=99'
steptrace dump part.step
convert -o whole.step && steptrace dump whole.step | cmp - <(steptrace dump two.step) && echo same
steptrace dump --where 'start=hello' --where 'time<2' two.step
convert -o sliced.csv --from-time 101ns && tr '\r' R <sliced.csv
cat two.step | steptrace convert - -o piped.step && cmp piped.step whole.step && echo same
# faults of usage, of names and of files
convert -o none.csv --where 'nothing=1'
convert -o none.csv --where 'time=abc'
convert -o none.csv --where 'time'
convert -o none.csv --record Missing
convert -o none.zip --record Packet
convert -o none.jsonl --kind OA
head -c 900 two.step >cut.step
steptrace convert cut.step -o cut.jsonl 2>/dev/null; echo "exit $?"; wc -l <cut.jsonl
steptrace convert $data/closed.txt -o text.jsonl; echo "exit $?"
ls none.* text.* 2>/dev/null
# of a Java trace as well
steptrace convert $data/closed.txt -o java.step && steptrace convert java.step -o - --to=jsonl --record Event | head -n 3
exit 0
