# SPDX-License-Identifier: Apache-2.0
# Names with controls, escape sequences, turns of direction, tags, quotes and bytes that are no UTF-8: what
# reaches a terminal obeys none of it, and what has a syntax keeps it.
trace=$data/hostile/names.step
controls='[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]'

# Nothing that a terminal would obey, and UTF-8.
is_shown() {
    tr -d '\r' <"$2" | LC_ALL=C grep -aqP "$controls" && echo "$1: has controls"
    iconv -f UTF-8 -t UTF-8 "$2" >/dev/null 2>&1 || echo "$1: is not UTF-8"
}

for verb in dump "dump --records" "dump --records --entries" info "info --definition" check "check --limit=1000" \
    stats "heap --by class,site" "heap --by thread" "heap --by site --tree=top-down" "heap --csv --by site" "heap --csv --by class" "info --json" "stats --json" \
    "heap --json --by class,site" "report -o -"; do
    steptrace $verb "$trace" >out 2>err
    is_shown "$verb" out
    is_shown "$verb, errors" err
done
# Each table, each way that it is printed; names of columns and values of queries, too.
steptrace sql --csv "$trace" "select 'select * from \"' || name || '\";' from pragma_table_list where schema = 'main' and type = 'virtual'" |
    tail -n +2 | python3 -c 'import csv, sys
sys.stdout.writelines(row[0] for row in csv.reader(sys.stdin))' >statements
[ $(grep -o select statements | wc -l) -gt 15 ] || echo "tables: $(cat statements)"
for form in --csv --json --; do
    steptrace sql $form "$trace" "$(cat statements)" >out 2>err
    is_shown "sql $form of all tables" out
done
steptrace sql --csv "$trace" "select * from classes" | python3 -c 'import csv, sys
assert len({len(row) for row in csv.reader(sys.stdin)}) == 1' || echo "sql: no CSV"
for form in --csv --json --; do
    steptrace sql $form "$trace" "select x'1b5b324a' as \"$(printf '\33[2J,\"\"')\", char(27, 155, 8238, 34, 44, 10) as b, 9e999 as c, -9e999 as d, null as e" >out 2>err
    is_shown "sql $form" out
    cat out
done
steptrace layout "$trace" --csv >out 2>err
is_shown "layout --csv" out
# Formats that others read are UTF-8.
for ending in collapsed callgrind calls.callgrind massif heaptrack csv; do
    steptrace convert "$trace" -o out.$ending 2>/dev/null
    test -s out.$ending || echo "$ending: is empty"
    iconv -f UTF-8 -t UTF-8 out.$ending >/dev/null 2>&1 || echo "$ending: is not UTF-8"
done
steptrace dump "$trace" | grep -a -m 3 'CL:0:.*\\u00'
steptrace heap --csv --by class,site "$trace" | python3 -c 'import csv, sys
assert len({len(row) for row in csv.reader(sys.stdin)}) == 1' || echo "no CSV"
for file in "$data/hostile/control_dtd.mtf" $'no\e[31mthing.step' $'a\xe2\x80\xaeb'; do
    for verb in info dump check stats heap pack recover; do
        steptrace $verb "$file" >out 2>err
        is_shown "$verb of a bad file" err
    done
done
steptrace $'du\e[2Jmp' "$trace" 2>err || is_shown "unknown command" err
steptrace dump $'--\e[2J' "$trace" 2>err || is_shown "unknown option" err
steptrace check "$data/hostile/control_dtd.mtf" 2>&1 | sed 's/.*DTD/DTD/'

for verb in "info --json" "stats --json" "heap --json --by class,site"; do
    steptrace $verb "$trace" | python3 -c 'import json, sys; json.load(sys.stdin)' || echo "$verb: no JSON"
done
for ending in trace.json speedscope.json calls.speedscope.json memory-infra.json dhat.json; do
    steptrace convert "$trace" -o "a.$ending" 2>err || cat err
    python3 -c 'import json, sys; json.load(open(sys.argv[1], encoding="utf-8"))' "a.$ending" ||
        echo "$ending: no JSON"
done
steptrace report "$trace" -o a.html
steptrace convert "$data/closed.txt" -o plain.step
steptrace report plain.step -o plain.html
for tag in '<script' '</script' '<!--' '<img' '<b>'; do
    [ "$(grep -o -i "$tag" a.html | wc -l)" = "$(grep -o -i "$tag" plain.html | wc -l)" ] || echo "$tag: in the page"
done
# the file has the names as they are
steptrace convert "$trace" -o names.zip && steptrace convert names.zip -o names.step
unzip -p names.zip trace | LC_ALL=C grep -aqP '\x1b' && echo "the text has them"
# what dump prints is read again
steptrace dump "$trace" >shown.txt && steptrace convert shown.txt --from=lines -o again.step && steptrace dump again.step | cmp - shown.txt
for verb in info check stats heap dump report; do
    steptrace $verb "$data/hostile/odd_calls.txt" -o odd.html >out 2>err
    steptrace $verb "$data/hostile/odd_calls.txt" >out 2>err
    is_shown "$verb of odd calls" out
done
# comments and attributes of a heap's trace, with an escape sequence, a turn of direction and no UTF-8
printf '# it \\x1b[2J \xe2\x80\xae \xff \\x80 \xc3\xa9\nalloc 16 8 0 1 0 5 a\xe2\x80\xaeb\xfe\n' >heap.hatf.txt
printf '\x0a\0\x0b\x1b[2J \xe2\x80\xae\xff\xc3\xa9' >heap.hatf
for verb in info dump check stats heap "convert -o -"; do
    for file in heap.hatf.txt heap.hatf; do
        steptrace ${verb%% *} $file ${verb#"${verb%% *}"} >out 2>err
        [ "${verb%% *}" = convert ] || is_shown "$verb of $file" out
        is_shown "$verb of $file" err
    done
done
steptrace dump heap.hatf
steptrace dump heap.hatf.txt | tail -n 1
steptrace convert heap.hatf -o again.hatf.txt && steptrace convert again.hatf.txt -o again.hatf
# records of one's own: a line each, a table, frames between semicolons
"${STEPTRACE}" convert "$trace" -o own.jsonl 2>err || cat err
"${STEPTRACE}" convert "$trace" -o own.csv 2>err || cat err
"${STEPTRACE}" convert "$trace" -o own.collapsed 2>err || cat err
python3 - <<'EOF'
import csv, json
lines = [json.loads(line) for line in open('own.jsonl', encoding='utf-8')]
rows = list(csv.reader(open('own.csv', encoding='utf-8', errors='replace', newline='')))
assert len({len(row) for row in rows}) == 1 and len(rows) == len(lines) + 1, (len(rows), len(lines))
for line in open('own.collapsed', 'rb').read().split(b'\n')[:-1]:
    assert line.rpartition(b' ')[2].isdigit() and all(byte >= 32 for byte in line), line
EOF
true
