# SPDX-License-Identifier: Apache-2.0
# Files of one recording with rotate= as one trace: objects that live across them, and files that are not there, are
# damaged, or do not belong to them.
fill() {
    rm -rf ring && mkdir ring
    for file in "$data"/ring/*.bin; do
        cp "$file" ring/"$(basename "$file" .bin)".step
    done
}
rows() { grep -E '^ *(samples|[0-9]+ .*Early|[0-9]+ .*Late)'; }
fill
steptrace stats ring | rows
steptrace stats ring/run.step | grep estimated
(cd ring && steptrace heap run.step --by class | rows)
steptrace leaks ring --by class --top 1
steptrace check ring
steptrace info ring | grep -E '^(state|engine|file-|sample-repeats|end)'
steptrace sql ring "select class, count(*) as samples, round(sum(weight)) as objects,
  round(sum(life_weight) filter (where alive)) as alive from objects where class like '%ate' or class like '%arly' group by class"
steptrace dump --records ring/run.000003.step | grep -c ObjectFreeEarlier
steptrace dump --records ring | grep -c ObjectFreeEarlier
steptrace pack ring -o packed.step 2>/dev/null
steptrace stats packed.step | rows
steptrace compare ring packed.step --by class --top 1 | head -n 2
mkdir runs && cp ring/*.step runs && cp packed.step runs/run2.step
steptrace compare ring runs --by class --top 1 | head -n 2
steptrace convert ring --to parquet --table=objects -o lake && ls lake
echo "-- what is not recorded between the files is said"
for verb in stats heap leaks; do
    steptrace $verb --json ring 2>told | grep not_recorded_ns; grep -c 'not recorded: 356 ms of 3.99 s' told
done
steptrace compare --json ring ring/run.000001.step 2>told | grep not_recorded_ns; grep -c 'not recorded: 356 ms of 3.99 s' told
steptrace report ring -o page.html 2>/dev/null; grep -o 'not recorded: [^;]*' page.html
echo "-- what keep= has removed is said"
rm ring/run.000001.step
steptrace stats ring | rows
echo "$?"
echo "-- a file between others"
fill
rm ring/run.000002.step
steptrace stats ring >stats; echo $?
steptrace info ring 2>told | grep ^state
echo "-- a damaged file"
fill
printf XXXX | dd of=ring/run.000002.step bs=1 seek=7400 conv=notrunc 2>/dev/null
steptrace heap ring >heap; echo $?
echo "-- a cut file"
fill
truncate -s 7500 ring/run.000003.step
steptrace stats ring >stats; echo $?
echo "-- what is no file"
fill
rm ring/run.000002.step
mkfifo ring/run.000002.step
mkdir ring/run.000007.step
timeout 20 "$STEPTRACE" stats ring >stats; echo $?
echo "-- many files that are none"
fill
for number in $(seq 100 140); do ln -s /dev/null ring/run.000$number.step; echo x >ring/run.000$((number + 50)).step; done
steptrace stats ring 2>told >stats; echo $?
grep -c . told; grep likewise told
echo "-- files of others"
fill
cp "$data"/sampled-leak.bin ring/run.000009.step
steptrace stats ring >stats; echo $?; grep ^allocated stats
fill
cp ring/run.000001.step ring/run.000009.step
steptrace stats ring >stats; echo $?; grep ^allocated stats
fill
echo none >ring/run.000009.step
steptrace stats ring >stats; echo $?; grep ^allocated stats
fill
echo none >ring/run.000001.step
steptrace stats ring >stats 2>told; echo $?; grep 'is missing' told
rm ring/run.000001.step && mkdir ring/run.000001.step
steptrace stats ring >stats 2>told; echo $?; grep 'is missing' told
rmdir ring/run.000001.step
steptrace stats ring >stats 2>told; echo $?; grep -c 'earlier files were removed' told
fill
cp ring/run.000001.step ring/other.000001.step
steptrace stats ring; echo $?
steptrace stats ring/other.step | grep estimated
steptrace stats ring/none.step; echo $?
fill
mv ring/run.000002.step ring/run.000002.2.step # its name was taken
ln -s /etc/passwd ring/run.000002.step
steptrace stats ring >stats 2>told; echo $?; grep ^allocated stats; grep -c 'run.000002.step: offset 0: not a STEP trace' told
rm ring/run.000002.step
steptrace stats ring >stats 2>told; echo $?; grep ^allocated stats
rm ring/* && echo none >ring/run.000001.step
steptrace stats ring/run.step; echo $?
mkdir empty
steptrace stats empty; echo $?
echo "-- a shell's pattern gives files, not the recording"
fill
refused() {
    steptrace "$@" >made 2>told
    echo "$1: $? $(grep -c 'run.step, or their directory, stands for all' told) $(wc -c <made)"
}
for verb in dump info check stats heap paths lifetimes advise escape nominal layout locality simulate compare leaks watch \
    replay recover; do
    refused $verb ring/run.*.step
done
refused convert ring/run.*.step -o x.txt
refused deaths ring/run.*.step -o x.step
refused report ring/run.*.step -o x.html
refused pack ring/run.*.step -o x.step
refused sql ring/run.*.step 'select count(*) from objects'
refused sql ring/run.000001.step ring/run.000003.step 'select count(*) from objects'
refused paths ring/run.000001.step ring/run.000002.step
cat told
ls x.* 2>/dev/null
steptrace sql a=ring/run.000001.step b=ring/run.000002.step 'select count(*) as samples from b.objects'
steptrace compare ring/run.000001.step,ring/run.000002.step ring/run.000003.step; echo $?
steptrace compare ring/run.000001.step ring/run.000002.step --by class --top 1 | head -n 2
steptrace recover ring/run.step; echo $?
steptrace recover ring -o x.step; echo $?
