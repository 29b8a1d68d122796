# SPDX-License-Identifier: Apache-2.0
# What an output may come to is bounded, whichever way it is written.
for ending in text.zip step trace.json; do
    steptrace convert $data/closed.txt --limit-output=100 -o out.$ending 2>err
    echo "$ending: $? $(tail -n 1 err)"
done
# also where another thread compresses
steptrace convert $data/traces/shop-1.step --limit-output=1k -o out.heaptrack.gz 2>err
echo "heaptrack.gz: $? $(tail -n 1 err)"
ls out* 2>&1
steptrace convert $data/closed.txt --limit-output=1m -o good.step && ls good.step
steptrace convert $data/closed.txt --limit-output=0 -o good.step && ls good.step
steptrace convert $data/closed.txt --limit-output=10 --to=lines -o - >cut.txt 2>/dev/null
echo $? $(wc -c <cut.txt)
for form in "" --records --json; do
    steptrace dump good.step $form --limit-output=100 >cut.txt 2>err
    echo "dump $form: $? $(wc -c <cut.txt) $(tail -n 1 err)"
done
for form in -- --csv --json; do
    timeout 60 "$STEPTRACE" sql --limit-output=5k $form good.step \
        "with recursive c(x) as (select 1 union all select x + 1 from c) select x from c" >cut.txt 2>err
    echo "sql $form: $? $(wc -c <cut.txt) $(tail -n 1 err)"
done
# What is sorted is not what is printed.
steptrace sql --limit-output=5k --csv good.step "with recursive c(x) as (select 1 union all select x + 1 from c limit 30000)
    select max(r) from (select row_number() over (order by randomblob(9000)) r from c)"
echo Endless pages:
timeout 60 "$STEPTRACE" report $data/traces/sums_wrap.step -o page.html
echo $?
