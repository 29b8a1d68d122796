# SPDX-License-Identifier: Apache-2.0
# needs: all commands
old=$data/traces/phases-17.step more=$data/traces/phases-17-more.step other=$data/traces/phases-25.step
gate() { steptrace gate "$@"; echo "exit $?"; }
echo "-- no file; a new one, of two JDKs; the same lines by another way"
gate $old --snapshot a.snap
gate $old --snapshot a.snap --update
gate $old $other --snapshot a.snap --update --quiet
cat a.snap
$data/../snapshot_model.py $STEPTRACE $old $other >model
grep -Fxf model a.snap | wc -l
wc -l <model
gate $old $other --snapshot a.snap
gate $old $other --snapshot a.snap -q
before=$(stat -c %i.%Y a.snap)
gate $old $other --snapshot a.snap --update
[ $before = $(stat -c %i.%Y a.snap) ] && echo not written
echo "-- more objects, exactly, within a tolerance, and beyond it"
some="--phase Phases.*"
gate $more --snapshot a.snap $some
gate $more --snapshot a.snap $some --objects 3 --bytes 48
gate $more --snapshot a.snap $some --objects 3 --bytes 47
gate $old $more --snapshot a.snap $some
gate $old $more --snapshot a.snap $some --update
echo "-- an update changes lines of this JDK and these phases only"
cp a.snap b.snap
gate $more --snapshot b.snap $some --update
gate $old --snapshot b.snap --phase '*e' --update
diff a.snap b.snap
echo "-- lines without a phase, and phases without a line"
gate $more --snapshot a.snap -q 2>told; grep -c 'not judged' told
grep -v nothing a.snap >c.snap
gate $more --snapshot c.snap $some -q
echo 'Phases.gone [17]: 1 object, 16 bytes: 1 a.B' >>c.snap
gate $more --snapshot c.snap --update $some | grep gone
printf 'Phases.nothing [8]: 0 objects, 0 bytes\n' >d.snap
gate $more --snapshot d.snap --phase Phases.nothing
printf 'Phases.nothing [8]: 0 objects, 0 bytes\nPhases.nothing [9]: 1 object, 16 bytes: 1 a.B\n' >d.snap
gate $more --snapshot d.snap --phase Phases.nothing
echo "-- the whole program, a part of its objects, patterns that match nothing"
gate $old --snapshot w.snap --whole 'the program' --site Phases.inner --update
gate $old --snapshot w.snap --whole 'the program'
gate $old --snapshot a.snap --phase No.such
gate $old --snapshot a.snap --class No.Such -q
gate $old --snapshot a.snap --whole x --phase y
gate $old
echo "-- comments before the first line stay, CR and blank lines do not matter"
{ echo '# of our tests'; echo '# reviewed'; echo; grep -v '^#' a.snap; } | sed 's/$/\r/' >e.snap
gate $old $other --snapshot e.snap
gate $more --snapshot e.snap $some --update -q
head -n 3 e.snap | cat -A
echo "-- no snapshots"
fault() { printf "$1" >bad.snap; gate $old --snapshot bad.snap --update; printf "$1" | cmp - bad.snap; }
fault 'nonsense\n'
fault '# head\na.B [17]: 1 object, 16 bytes\na.B []: 1 object, 16 bytes\n'
fault 'a.B [x]: 1 object, 16 bytes\n'
fault 'a.B [170000]: 1 object, 16 bytes\n'
fault 'a.B [17]: 1 object, 1234567890123456789 bytes\n'
fault 'a.B [17 17]: 1 object, 16 bytes\n'
fault 'a.B [17]: 1 object, 16 bytes\na.C [17]: 1 object, 16 bytes\na.B [8 17]: 2 objects, 16 bytes\n'
fault 'a.B [17]: 1 object, 16 bytes\0\n'
fault '\0'
fault '#\0\n'
fault 'a.\033[31m\n'
printf 'a [17]: 1 object, 16 bytes: %0100000d' 0 >long.snap
gate $old --snapshot long.snap --phase a
yes 'a.B [17]: 1 object, 16 bytes' | head -c 70000000 >bad.snap
gate $old --snapshot bad.snap
yes '[' | tr -d '\n' | head -c 3000000 >bad.snap
gate $old --snapshot bad.snap 2>&1 | cut -c 1-100
echo "-- what is no regular file, and a full disk"
mkdir directory.snap
mkfifo fifo.snap
ln -s a.snap link.snap
ln -s nowhere dangling.snap
for name in directory.snap fifo.snap /dev/full /dev/null dangling.snap; do gate $old --snapshot $name --update; done
cp a.snap kept.snap
gate $more --snapshot link.snap $some --update -q
[ -L link.snap ] && diff kept.snap a.snap
cp kept.snap a.snap
chmod 640 a.snap
(ulimit -f 0; steptrace gate $more --snapshot a.snap $some --update -q 2>/dev/null)
echo "exit $?"
cmp a.snap kept.snap && ls | grep -c snap
gate $more --snapshot a.snap $some --update -q
stat -c %a a.snap
echo "-- traces that cannot be judged"
gate $data/closed.txt --snapshot a.snap
gate $data/heap.hatf.txt --snapshot a.snap
gate $data/traces/shop-1.step --snapshot a.snap
gate $data/sampled.bin --snapshot a.snap
head -c 20000 $old >cut.step
gate cut.step --snapshot a.snap --update
wc -l <a.snap
