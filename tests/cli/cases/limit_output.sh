# SPDX-License-Identifier: Apache-2.0
# What an output may come to is bounded, whichever way it is written.
for ending in text.zip step trace.json; do
    steptrace convert $data/closed.txt --limit-output=100 -o out.$ending 2>err
    echo "$ending: $? $(tail -n 1 err)"
done
ls out* 2>&1
steptrace convert $data/closed.txt --limit-output=1m -o good.step && ls good.step
steptrace convert $data/closed.txt --limit-output=0 -o good.step && ls good.step
steptrace convert $data/closed.txt --limit-output=10 --to=lines -o - >cut.txt 2>/dev/null
echo $? $(wc -c <cut.txt)
for form in "" --records --json; do
    steptrace dump good.step $form --limit-output=100 >cut.txt 2>err
    echo "dump $form: $? $(wc -c <cut.txt) $(tail -n 1 err)"
done
echo Endless pages:
timeout 60 "$STEPTRACE" report $data/traces/sums_wrap.step -o page.html
echo $?
