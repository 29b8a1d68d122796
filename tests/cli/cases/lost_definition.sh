# SPDX-License-Identifier: Apache-2.0
# needs: all commands, zstd
# A trace whose definition is damaged, and the copy too or not there: --definition=FILE stands in.
steptrace convert $data/closed.txt -o good.step 2>/dev/null
steptrace info --definition good.step >java.step
python3 - <<'PY'
data = bytearray(open("good.step", "rb").read())
header = data[32:36]
places = [i for i in range(32, len(data)) if data[i : i + 4] == header and data[i + 4 : i + 80] == data[36:112]]
first, copy = places[0], places[-1]
assert first == 32 and copy > first
data[first + 120] ^= 1
open("killed.step", "wb").write(data[:copy])
open("copy.step", "wb").write(data)
data[copy + 120] ^= 1
open("lost.step", "wb").write(data)
PY
for verb in dump info stats check "report -o report.html" "pack -o packed.step" "recover -o recovered.step"; do
    steptrace $verb lost.step >out.txt 2>err.txt
    echo "$verb without: $?"
    steptrace $verb --definition=java.step lost.step >out.txt 2>err.txt
    echo "$verb: $?"
    grep -c 'the one that was given is used' err.txt
done
for file in lost killed; do
    steptrace dump --definition=java.step $file.step 2>/dev/null | cmp - $data/closed.txt && echo "$file: all of it"
    steptrace dump --all $file.step --definition java.step >$file.txt 2>/dev/null
    steptrace dump --all good.step 2>/dev/null | cmp - $file.txt
done
steptrace dump copy.step --definition=java.step 2>&1 >/dev/null | grep -o 'its copy is used'
steptrace dump packed.step | cmp - $data/closed.txt
steptrace info --definition --definition=java.step lost.step 2>/dev/null | cmp - java.step
echo 'record Other { int a; }' >other.step
steptrace dump --definition=other.step good.step | cmp - $data/closed.txt
steptrace dump --definition=other.step lost.step >out.txt 2>err.txt
echo "other: $?"
echo 'record Other { int a }' >wrong.step
steptrace dump --definition=wrong.step lost.step
echo "wrong: $?"
steptrace dump --definition=none.step lost.step
echo "none: $?"
true
