# SPDX-License-Identifier: Apache-2.0
one=$data/traces/shop-1.step two=$data/traces/shop-2.step
echo "-- nothing fails"
steptrace compare $one $two --top 1 --fail-if 'allocated > +50%' --fail-if 'class:Shop allocated > 0' --json >out.json
echo $?
echo "-- some fail"
cat >budget.txt <<'B'
# what a run may take
allocated_objects > +5%   # in all
class:java.lang.** allocated > 10m
  any site:Shop.order alive_at_end > 10k
method:Shop.order calls != 80
thread:"helper-#" allocated_objects <= 3
B
steptrace compare $one $two --top 1 --budget budget.txt --fail-if 'class:[B allocated>=+0' --junit gates.xml >/dev/null
echo $?
python3 -c '
import xml.etree.ElementTree as xml
suite = xml.parse("gates.xml").getroot()
print(suite.attrib, [(case.get("name"), len(case)) for case in suite])'
echo "-- stats: absolute, or against a baseline"
steptrace stats $two --fail-if 'allocated > 1m' --fail-if 'collections < 1' >/dev/null
echo $?
steptrace stats $two --fail-if 'allocated > +1k' --baseline $one >/dev/null
echo $?
steptrace stats - --site Shop.order --fail-if 'allocated > 10k' --top 1 <$two >/dev/null
echo $?
steptrace stats $two --fail-if 'allocated > +1k'
echo $?
echo "-- heap: of a moment, or from one to another"
steptrace heap $two --top 1 --at end --fail-if 'class:[B alive > 1k' --fail-if 'thread:main alive_objects < 1' --fail-if 'site:Shop.order alive <= 14k' >/dev/null
echo $?
steptrace heap $two --top 1 --diff gc:1 end --fail-if 'alive > +0' --fail-if 'alive_objects > +50%' >/dev/null
echo $?
steptrace heap $two --fail-if 'alive > +1k'
steptrace heap $two --fail-if 'allocated > 5'
echo "-- bad rules"
for rule in '' 'allocatd > 5' 'allocated 5' 'allocated > ' 'allocated > 5%' 'allocated > +x%' 'allocated > 5 MiB' 'lifetime > 5k' \
    'clas:x allocated > 5' 'any allocated > 5' 'class: allocated > 5' 'thread:"a allocated > 5' 'leaked > 5' \
    'method:Shop.order allocated > 1k' 'class:Shop calls > 5' 'any site:Shop.** time > 1s' 'time > 1s' 'thread:main alive > 5' \
    'allocated < 0'; do
    steptrace stats $one --fail-if "$rule" 2>&1 | head -n 1
done
printf 'allocated > 5k\n\nfreed >> 5\n' >bad.txt
steptrace stats $one --budget bad.txt
steptrace stats $one --budget none.txt
printf '\0allocated > 5\n' >bad.txt
steptrace stats $one --budget bad.txt
(grep -q __asan_report_ "$STEPTRACE" || ulimit -v 4000000; steptrace stats $one --budget /dev/zero)
echo "-- quiet: nothing, or what fails; values that look alike are told apart"
steptrace stats $one --quiet --fail-if 'allocated > 1m'; echo $?
steptrace heap $one --at end --quiet --fail-if 'alive > 1m'; echo $?
steptrace leaks $one -q --fail-if 'leaked > 1m'; echo $?
steptrace compare $one $two -q --fail-if 'allocated > +50%'; echo $?
steptrace stats $one -q --fail-if 'allocated > 395255'; echo $?
echo "-- any: the row that is farthest beyond the limit"
steptrace stats $two -q --fail-if 'any site:Shop.** allocated > 1k'; echo $?
steptrace compare $one $two -q --fail-if 'any site:Shop.** allocated > +10%'; echo $?
echo "-- bytes of a trace without sizes are not judged, its objects are"
printf 'VS:0\nVI:1\nCL:1:A\n' >sizeless.txt
for i in 1 2 3 4 5 6; do printf "OA:$((10 * i)):A:$i\nOA:$((10 * i + 1)):A:$((100 + i))\nOF:$((10 * i + 5)):A:$((100 + i))\n"; done >>sizeless.txt
echo 'VD:99' >>sizeless.txt
steptrace stats sizeless.txt -q --fail-if 'allocated > 1'; echo $?
steptrace stats sizeless.txt -q --fail-if 'allocated_objects > 100'; echo $?
steptrace heap sizeless.txt -q --fail-if 'alive > 1'; echo $?
steptrace leaks sizeless.txt -q --fail-if 'leaked > 0'; echo $?
steptrace leaks sizeless.txt
echo "-- bytes are judged if all traces have sizes, objects also if not"
for rule in 'allocated > +5%' 'allocated_objects > +5%'; do
    steptrace compare $data/closed.txt $data/traces/shop-1.step -q --fail-if "$rule" 2>told
    echo $?
    grep "'$rule'" told
done
echo "-- a name that is nowhere: not judged, but for rules that ask for absence, and those that hold for 0"
named() { steptrace "$@" -q --junit names.xml; echo "$?: $(grep -c '<error' names.xml) of $(grep -c '<testcase' names.xml)"; }
named stats $one --class=No.Such --fail-if 'allocated > 1m'
named stats $one --class=No.Such --fail-if 'allocated > 0'
named stats $one --thread=99 --fail-if 'allocated > 1m'
named stats $one --class='!No.Such' --fail-if 'allocated > 1m'
named stats $one --class=No.Such --class=Shop --fail-if 'allocated > 1m'
for rule in 'class:No.Such allocated > 1m' 'any class:No.Such allocated > 1m' 'site:No.such allocated > 1k' 'thread:no allocated > 1m' \
    'class:No.Such allocated != 0' 'class:No.Such allocated_objects >= 1' 'class:No.Such allocated < 1' 'class:Shop allocated > 1m' 'class:[B allocated > 1m'; do
    named stats $one --fail-if "$rule"
done
for rule in 'class:No.Such alive > 1m' 'any site:No.such alive > 1k' 'thread:no alive > 1m' 'class:No.Such alive > 0' 'class:Shop alive > 1m' 'thread:main alive > 1m' 'alive > 1m'; do
    named heap $one --at end --fail-if "$rule"
done
named heap $one --at end --class=No.Such --fail-if 'alive > 1m'
named heap $one --diff gc:1 end --site=No.such --fail-if 'alive > +1m'
named heap $data/note.memory-infra.json --fail-if 'class:No.Such alive > 1m' --fail-if 'alive > 1g'
for rule in 'class:No.Such leaked > 1m' 'any site:No.such growth > 1k' 'class:No.Such leaked > 0' 'class:Shop leaked > 1m' 'site:Shop.order leaked > 1m' 'leaked > 1m'; do
    named leaks $one --fail-if "$rule"
done
named leaks $one --class=No.Such --fail-if 'leaked > 1m'
named leaks $one --baseline $two --site=No.such --fail-if 'leaked > +1m'
sed 's/^CL:1:A$/&\nCL:1:Unused/' sizeless.txt >unused.txt
named heap unused.txt --at end --fail-if 'class:Unused alive_objects > 5' --fail-if 'class:Unuse alive_objects > 5'
named leaks unused.txt --fail-if 'class:Unused leaked_objects > 5' --fail-if 'class:Unuse leaked_objects > 5'
named stats $data/traces/open_calls.step --fail-if 'method:No.such calls > 5' --fail-if 'class:shop.Main allocated > 1m'
named compare $one $two --fail-if 'class:No.Such allocated > +5%'
named compare $one $two --class=No.Such --fail-if 'allocated > +5%'
