# SPDX-License-Identifier: Apache-2.0
# traces/layouts.step is of java-tests/facts/OtherLayouts.java with JDK 25 (layout=yes,events=class+alloc,existing=no, from
# the entry of main() to its exit); jvm.other_layouts compares with the JVM itself.
trace=$data/traces/layouts.step
steptrace layout $trace --top 5
echo "-- the program's classes, in other layouts"
steptrace layout $trace --class 'facts/OtherLayouts$*' --top 0 --as header=8 --as header=16,reference=8 --as alignment=256
steptrace layout $trace --class 'facts/OtherLayouts$Mixed' --class 'facts/OtherLayouts$Deep[]' --csv --as header=8,alignment=16
steptrace layout $trace --class 'facts/OtherLayouts$Deep' --json --as reference=8 >deep.json
cat deep.json
$data/../validate.py $data/../../../docs/schemas/layout.schema.json <deep.json
echo "-- JDK 14 and earlier; headers and references that it did not have; value classes, which it did not have either"
steptrace layout $trace --class 'facts/OtherLayouts$*' --top 0 --as fields=old --as fields=old,header=16,reference=8 --as fields=old,header=16
steptrace layout $trace --as fields=old,reference=8 || echo $?
steptrace layout $trace --as header=8,fields=old || echo $?
steptrace layout $trace --as fields=old,values || echo $?
echo "-- value classes: Point is one, Bytes has subclasses"
steptrace layout $trace --class 'facts/OtherLayouts$*' --top 6 --value 'facts/OtherLayouts$Point' --value 'facts/OtherLayouts$Bytes' --value none/Such
steptrace layout $trace --class 'facts/OtherLayouts$Point' --csv --value 'facts/OtherLayouts$Point' --as values,header=8
echo "-- figures that are not exact, and none at all"
steptrace layout $trace --class 'java/lang/Th*' --as header=8
steptrace layout $trace --class none/Such --as header=8
echo "-- traces without layouts, of native programs; cut"
steptrace layout $data/traces/shop-1.step || echo $?
steptrace layout $data/closed.txt || echo $?
steptrace layout $data/heap.hatf.txt || echo $?
steptrace convert $trace -o copy.step && steptrace layout copy.step || echo $?
head -c 20000 $trace >cut.step
steptrace layout cut.step --csv --as header=8 >cut.csv || echo $?
echo "-- usage"
for words in '--as header=9' '--as alignment=24' '--as reference=' '--as header=8,' '--as values' '--as header=8 --value X' '--csv --json' '--as'; do
    steptrace layout $trace $words || echo $?
done
