# SPDX-License-Identifier: Apache-2.0
# needs: all commands
names=$data/traces/names-17.step missed=$data/traces/missed-17.step
gate() { steptrace gate "$@"; echo "exit $?"; }
echo "-- names that look like escapes, or like no name: each has its line, and is found by it"
gate $names --snapshot a.snap --update -q
cat a.snap
gate $names --snapshot a.snap
for name in '#b' '[\]x23b' 'a[\]x0a' 'a[\][\]x0a' '(no name)' '[\]x28no name)' '[\]'; do gate $names --snapshot a.snap --phase "$name"; done
echo "-- calls from before the trace, at which nobody has looked: phases of methods do without"
for what in --phase=Names.name '' --whole=x --phase=program '--phase=#b' '--phase=!program'; do
    echo "$what"
    gate $missed --snapshot b.snap --update $what
done
for what in --phase=Names.name '' --phase=program; do
    echo "$what"
    steptrace stats $missed -q $what --fail-if 'allocated > 1g'; echo "exit $?"
done
steptrace stats $missed -q --fail-if 'allocated > 1k' >/dev/null 2>&1; echo "exit $?"
echo "-- a damaged block of what is not counted"
cp $names damaged.step
printf U | dd of=damaged.step bs=1 seek=15664 conv=notrunc status=none
cp a.snap kept.snap
gate damaged.step --snapshot a.snap --update --phase Names.name
gate damaged.step --snapshot a.snap --phase Names.name
cmp a.snap kept.snap
echo "-- shallow call stacks"
gate $data/traces/phases-17.step --snapshot c.snap --update --phase Phases.checkout
echo "-- beside others who write the snapshot"
python3 -c '
import fcntl, os, time
file = open("a.snap", "r+")
fcntl.lockf(file, fcntl.LOCK_EX)
print("locked", flush=True)
time.sleep(0.5)
text = file.read()
with open("new", "w") as new:
    new.write(text + "z [17]: 1 object, 16 bytes: 1 z\n")
os.rename("new", "a.snap")' >locked &
while [ ! -s locked ]; do sleep 0.05; done
gate $data/traces/phases-17.step --snapshot a.snap --update --phase Phases.checkout 2>/dev/null
wait
grep -c -e '^z ' -e '^Phases.checkout ' a.snap
