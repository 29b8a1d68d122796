# SPDX-License-Identifier: Apache-2.0
# Text out of pipes and devices, and statements and definitions that reach for other files.
steptrace stats $data/closed.txt >wanted
steptrace stats <(cat $data/closed.txt) --from=lines | diff wanted - | grep -c '^[<>] [^f]'
mkfifo pipe
cat $data/closed.txt >pipe &
steptrace convert pipe --from=lines -o pipe.step
echo $?
steptrace dump pipe.step | cmp - $data/closed.txt && echo same
timeout 20 "$STEPTRACE" stats /dev/urandom --from=lines
echo $?

echo Shorter while it is read:
for i in $(seq 2000); do cat $data/closed.txt; done >long.txt
mkfifo lines
steptrace convert long.txt --to=lines -o lines 2>message & # it waits for who reads
exec 3<lines
head -c 1 <&3 >/dev/null
truncate -s 300000 long.txt
cat <&3 >/dev/null
wait $!
echo $?
sed 's/line [0-9]*/line N/; s/offset [0-9]*/offset N/' message

echo Statements:
steptrace convert $data/closed.txt -o a.step
for text in "attach 'x.db' as x" "vacuum into 'x.db'" "pragma temp_store_directory='/'" "pragma main.journal_mode=wal" \
    "attach 'file:x.db?mode=rwc' as x" "pragma writable_schema=1"; do
    steptrace sql a.step "$text"
    echo $?
done
ls x.db* 2>&1
steptrace sql a.step "pragma table_info(ticks)" >/dev/null && steptrace sql a.step "select 1"

echo What stepc writes:
mkdir shared && echo kept >victim && echo 'record R { int x; }' >r.step
bash -c 'ln -s ../victim shared/r.h.$$.tmp; exec "$STEPC" --c shared/r r.step' 2>&1 | sed 's/ .*:/ FILE:/'
cat victim
ls shared | sed 's/[0-9]\{2,\}/N/'

echo Definitions:
echo 'root:*:20228' >secret
ln -s secret link.step
mkdir below && cp secret below/real.step
for file in "$PWD/secret" secret link.step below/real.step; do
    echo "include \"$file\";" >main.step
    stepc --check main.step 2>&1 | sed "s|$PWD|HERE|"
done
cp secret main.step
stepc --check main.step 2>&1
