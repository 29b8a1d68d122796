# SPDX-License-Identifier: Apache-2.0
# needs: all commands, zstd
steptrace convert $data/closed.txt -o a.step
size=$(wc -c <a.step)
steptrace recover a.step
head -c $((size - 20)) a.step >cut.step
steptrace check cut.step 2>/dev/null
echo $?
place=$(($(wc -c <cut.step) - 12)) # of the footer, whose last 20 bytes are gone
steptrace recover cut.step -o whole.step 2>&1 | sed "s/offset $place/offset PLACE/" >&2
steptrace check whole.step
steptrace dump whole.step | cmp - $data/closed.txt
steptrace recover cut.step 2>&1 | sed "s/offset $place/offset PLACE/" >&2
cmp cut.step whole.step
echo no trace >other.step
steptrace recover other.step
echo $?
ls
echo "-- a copy of a trace with a damaged block says so"
cp $data/ring/run.000002.bin damaged.step
printf XXXX | dd of=damaged.step bs=1 seek=5300 conv=notrunc 2>/dev/null
for verb in recover pack; do
    steptrace $verb damaged.step -o copy.step 2>/dev/null
    steptrace check copy.step 2>told
    echo $?
    grep -o 'the trace is incomplete: .*' told
    rm copy.step
done
python3 - <<'PY'
data = bytearray(open("a.step", "rb").read())
places = [i for i in range(32, len(data)) if data[i : i + 4] == data[32:36] and data[i + 4] == 3]
data[places[-1] + 96] ^= 1  # of the last dictionary block
open("names.step", "wb").write(data)
PY
head -c $((size - 20)) a.step >cut.step
for file in names cut; do
    steptrace convert $file.step -o copy.step 2>/dev/null
    steptrace info copy.step 2>/dev/null | grep -E '^(incomplete|recovered-records)'
done
echo "-- so does what is converted from a cut file of another format"
steptrace convert $data/closed.txt -o whole.mtf
steptrace convert $data/heap.hatf.txt -o whole.hatf
cp $data/closed.txt whole.txt
for ending in txt mtf hatf; do
    head -c -3 whole.$ending >part.$ending
    steptrace convert part.$ending -o part.step 2>/dev/null
    echo $?
    steptrace info part.step 2>/dev/null | grep -E '^(incomplete|recovered-records)'
    steptrace stats part.step >/dev/null 2>told
    echo $?
    grep -o 'the trace is incomplete: .*' told
    for between in mtf hatf hatf.txt; do # through formats without a footer
        steptrace convert part.$ending -o copy.$between 2>/dev/null
        steptrace stats copy.$between 2>&1 >/dev/null | sed 's/^.*the trace/the trace/'
        steptrace convert copy.$between -o copy.mtf 2>/dev/null
        steptrace convert copy.mtf -o copy.step 2>/dev/null
        steptrace info copy.step 2>/dev/null | grep -c '^incomplete'
        steptrace dump copy.$between 2>/dev/null | grep -c 'is incomplete'
    done
    steptrace convert part.step --class='**' -o again.step 2>/dev/null
    steptrace info again.step 2>/dev/null | grep -c '^incomplete'
done
echo "-- and of a trace whose recorder lost events"
steptrace convert $data/traces/drops.step -o drops.mtf 2>/dev/null
for file in $data/traces/drops.step drops.mtf; do
    for ending in hatf hatf.txt; do
        steptrace convert $file -o drops.$ending 2>/dev/null
        steptrace stats drops.$ending 2>&1 >/dev/null
        echo $?
    done
done
steptrace convert drops.hatf -o drops.step 2>/dev/null
steptrace info drops.step 2>/dev/null | grep '^incomplete'
