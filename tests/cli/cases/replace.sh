# SPDX-License-Identifier: Apache-2.0
# needs: all commands, zstd
# What replaces a file has its permissions and goes where a link leads; what recover cannot read stays.
umask 022
steptrace convert $data/closed.txt -o new.step && stat -c '%a %n' new.step
chmod 600 new.step
steptrace pack new.step -o new.step && stat -c '%a %n' new.step
steptrace convert new.step -o new.step && stat -c '%a %n' new.step
size=$(wc -c <new.step)
head -c $((size - 20)) new.step >cut.step
chmod 640 cut.step
steptrace recover cut.step 2>&1 | sed 's/offset [0-9]*/offset PLACE/'
stat -c '%a %n' cut.step
if [ "$(id -u)" = 0 ]; then # root leaves files to their users
    head -c $((size - 20)) new.step >theirs.step
    chown 4242:4343 theirs.step
    steptrace recover theirs.step 2>/dev/null
    stat -c '%u %g' theirs.step
else
    echo 4242 4343
fi

echo Documents of a private trace:
for mode in 600 640 604 666; do
    cp new.step private.step
    chmod $mode private.step
    steptrace convert private.step -o $mode.txt
    steptrace report private.step -o $mode.html
    steptrace convert private.step --to=parquet --table=objects -o $mode.lake
    stat -c '%a' $mode.txt $mode.html $(find $mode.lake -type f)
done
mkdir private && for file in $data/ring/*.bin; do cp $file private/$(basename $file .bin).step; done
chmod 600 private/run.000002.step
steptrace pack private -o ring.step 2>/dev/null
stat -c '%a %n' ring.step

echo Links:
mkdir there
head -c $((size - 20)) new.step >there/cut.step
ln -s there/cut.step link.step
steptrace recover link.step 2>/dev/null
steptrace check there/cut.step && readlink link.step
steptrace convert $data/closed.txt -o link.step && readlink link.step
steptrace check link.step && ls there
ln -s nowhere dangling.step
steptrace convert $data/closed.txt -o dangling.step
echo $?
ls nowhere* 2>&1

echo Live files that cannot be read:
printf x >garbage
{ printf STEPLIVE; printf '\377\377\0\0'; head -c 4096 /dev/zero; } >version
for live in garbage version; do
    head -c $((size - 20)) new.step >cut.step
    cp cut.step before.step
    cp $live cut.step.live
    steptrace recover cut.step 2>&1 | sed 's/offset [0-9]*/offset PLACE/'
    echo "${PIPESTATUS[0]}"
    cmp cut.step before.step && cmp cut.step.live $live
    cp $live new.step.live # beside a whole trace
    steptrace recover new.step
    echo $?
    cmp new.step.live $live && rm new.step.live
done
rm cut.step.live
mkfifo cut.step.live # nobody writes it
timeout 20 "$STEPTRACE" recover cut.step 2>&1 | sed 's/offset [0-9]*/offset PLACE/'
echo "${PIPESTATUS[0]}"
timeout 20 "$STEPTRACE" stats cut.step >/dev/null 2>&1
echo $?
test -p cut.step.live && cmp cut.step before.step

echo A recovered trace ends where its process was killed:
grep -v ':[67]:1' $data/cut.txt >open.txt
steptrace convert open.txt -o open.step
head -c -8 open.step >killed.step
steptrace recover killed.step 2>/dev/null
steptrace check killed.step
