# SPDX-License-Identifier: Apache-2.0
# What C2 removes, of a program that was recorded with bytecode indexes, and the log of an untraced run of it on JDK 17:
# F.plain and F.inner make points that leave nothing (20,000 and 60,000), F.held keeps its array (20,000).
steptrace escape $data/escape.bin --jit-log=$data/escape-jit.xml
steptrace escape $data/escape.bin --jit-log=$data/escape-jit.xml --top 1 | tail -n 4
steptrace escape $data/escape.bin --jit-log=$data/escape-jit.xml --json >escape.json
$data/../validate.py $data/../../../docs/schemas/escape.schema.json <escape.json
echo "-- a log that is cut in the midst of a compilation: what it has, and 3"
head -n 480 $data/escape-jit.xml >cut.log
steptrace escape $data/escape.bin --jit-log=cut.log | tail -n +2 | head -n 4
echo ${PIPESTATUS[0]}
echo "-- no log, none of this kind, none at all; traces that have no bytecode indexes, no JVM"
steptrace escape $data/escape.bin || echo $?
steptrace escape $data/escape.bin --jit-log=$data/closed.txt || echo $?
steptrace escape $data/escape.bin --jit-log=missing.log || echo $?
steptrace escape $data/traces/shop-1.step --jit-log=$data/escape-jit.xml || echo $?
steptrace escape $data/heap.hatf.txt --jit-log=$data/escape-jit.xml || echo $?
