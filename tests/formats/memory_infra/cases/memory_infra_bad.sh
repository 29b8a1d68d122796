# SPDX-License-Identifier: Apache-2.0
# each fault is told, what is good is used, and the exit code is 3
steptrace heap $data/bad.memory-infra.json --at gc:1 --by site; echo $?
steptrace heap $data/bad.memory-infra.json --at gc:3 --by class+site 2>/dev/null; echo $?
note=$data/note.memory-infra.json
# cut anywhere: never a crash, never a dump that is not whole
size=$(stat -c %s $note)
for length in $(seq 0 97 $size); do
    head -c $length $note >cut.json
    steptrace heap --at end cut.json >out 2>err
    echo $? $(grep -c "dump 1" out)
done | sort | uniq -c | sed 's/^ *[0-9]* /some /'
head -c 1300 $note >cut.json
steptrace heap --at end cut.json
# 10,000 frames in each other
awk 'BEGIN { printf "[{\"name\":\"stackFrames\",\"ph\":\"M\",\"pid\":1,\"args\":{\"stackFrames\":{";
    for (i = 1; i <= 10000; i++)
        printf "%s\"%d\":{\"name\":\"f%d\"%s}", (i > 1 ? "," : ""), i, i,
            (i > 1 ? ",\"parent\":\"" (i - 1) "\"" : "");
    printf "}}},{\"name\":\"d\",\"ph\":\"v\",\"pid\":1,\"id\":\"1\",\"ts\":1,\"args\":{\"dumps\":{\"heaps\":{";
    printf "\"m\":{\"entries\":[{\"size\":\"64\",\"bt\":\"\"},{\"size\":\"64\",\"bt\":\"10000\"}]}}}}}]" }' >deep.json
steptrace heap deep.json --by site
steptrace heap deep.json --tree top-down | tail -n 1
steptrace heap deep.json --tree bottom-up | wc -l
steptrace convert deep.json -o deep.collapsed && tr ';' '\n' <deep.collapsed | wc -l
# 100,000 arrays in each other
head -c 100000 /dev/zero | tr '\0' '[' >nested.json
steptrace heap nested.json; echo $?
printf '{"traceEvents": [{"ts": 1e999999, "pid": 99999999999999999999999}]}' >huge.json
steptrace heap huge.json; echo $?
printf 'no JSON' >none.json
steptrace convert none.json --from memory-infra -o x.collapsed; echo $?
ls x.* 2>&1
