# SPDX-License-Identifier: Apache-2.0
# needs: all commands, zstd
# The formats of the table, their endings and their options are those of the completions, the manual, README and the
# formats' pages, each compared with the others: a new format needs its pages, no line here.
root=$data/../../..
steptrace convert --help | sed -n 's/^  \([a-z][a-z.-]*\)  *\(\.[a-z.-]*\)*  .*/\1 \2/p' >rows
cut -d' ' -f1 rows | sort >table
steptrace help --completion=bash | sed -n "/'convert --to')/s/.*echo '\(.*\)'.*/\1/p" | tr ' ' '\n' | sort >completed
sed -n '/^\.It Fl -to Ns/,/^The options below/s/^\.Li \(.*\)/\1/p' "$root/docs/man/steptrace.1" |
    sed 's/ \.$//; s/ *, */\n/g' | sed '/^$/d' | sort >manual
# page, names, endings
sed -n '/^<!-- formats:/,/^<!-- end/s/^| \[.*(docs\/\(.*\)) | \(.*\) | \(.*\) | .* |$/\1|\2|\3/p' "$root/README.md" |
    tr -d '`' >readme
cut -d'|' -f2 readme | tr -s ' ' '\n' | sort >named
cut -d'|' -f3 readme | tr ' ' '\n' | sed '/^$/d' | sort >endings
# formats of analyses, which a build may not have, though the pages do
sed -n 's/^steptrace_formats([a-z_]* \(.*\))$/\1/p' "$root"/analyses/*/CMakeLists.txt | tr '_ ' '-\n' >optional
for page in completed manual named; do
    comm -23 table $page | sed "s/$/: not in $page/"
    comm -13 table $page | grep -vxFf optional | sed "s/$/: in $page only/"
done
sed -n 's/.* \(\..*\)/\1/p' rows | sort | diff - endings
steptrace convert --from=none x -o y.step
takes() { # FORMAT OPTION: does the format take it?
    ! steptrace convert none.txt --to="$1" "$2" -o out 2>&1 | grep -q 'is an option of'
}
while read -r out option; do
    # refused; what the message lists are the formats that take it, and it is theirs whose page has it
    steptrace convert "$data/closed.txt" -o "$out" "$option" 2>said && echo "$out $option: taken"
    sed 's/is an option of .*, not of/is an option of LIST, not of/' said >&2
    sed -n 's/.* is an option of \(.*\), not of .*/\1/p' said | sed 's/ and of what is compressed.*//; s/, /\n/g' | sort >listed
    while read -r name; do
        ! takes "$name" "$option" || echo "$name"
    done <table | diff listed - || echo "$option: those that take it are not those listed"
    cut -d'|' -f1 readme | sort -u | while read -r page; do
        grep "^$page|" readme | cut -d'|' -f2 | tr ' ' '\n' | sort | comm -12 - listed | grep -q . && taken=yes || taken=no
        grep -q -- "${option%%=*}\b" "$root/docs/$page" && has=yes || has=no
        case $option,$taken in
            --level*,yes) continue ;;               # of all that are packed, says the manual
            --plain*,no | --record*,no) continue ;; # pages name it for what is converted from STEP
        esac
        [ $taken = $has ] || echo "${option%%=*}: taken: $taken, on the page: $has: $page"
    done
done <<'END'
x.step --encoding=best
x.txt --level=3
x.hatf --plain
x.hatf.txt --split=fields
x.mtf --addresses=bump
x.simple.bin --layout=index
x.hatf --field-bytes=4
x.heaptrack --at=end
x.collapsed --v2
x.pb.gz --every=gc
x.hprof --allocated
x.trace.json --least=1%
x.csv --table=objects
x.jsonl --clock
x.ctf --omit=time
x.zip --record=Missing
END
steptrace convert "$data/closed.txt" -o in.step
for option in --record=java.ObjectAlloc --level=1 --plain --omit=time; do
    steptrace convert in.step -o taken.step $option || echo "$option: refused"
done
{
    steptrace convert "$data/closed.txt" --to=parquet -o x --at=end
    steptrace convert "$data/closed.txt" --to=clickhouse-native -o x --level=3
} 2>&1 | sed 's/is an option of .*, not of/is an option of LIST, not of/' >&2
ls
# .gz after an ending compresses the formats that the help marks with a plus, and no others; read again, the file is
# what it was; a name with a compressor is no format
steptrace convert --help | sed -n 's/^  [a-z][a-z.-]*  *\(\.[a-z.-]*\)  .* +$/\1/p' >packing
while read -r ending; do
    rm -f out.*
    for source in "$data/traces/shop-1.step" "$data/traces/deep_stack.step"; do
        [ -e out"$ending" ] || steptrace convert "$source" -o out"$ending" 2>/dev/null || continue
        steptrace convert "$source" -o out"$ending".gz --level=9 2>/dev/null
        gzip -dc out"$ending".gz | cmp - out"$ending"
        break
    done
    [ -e out"$ending".gz ] || echo "$ending: not tried"
done <packing
[ -s packing ] || echo "none is marked with a plus"
sed -n 's/^[^ ]* \(\..*\)/\1/p' rows | grep -vxFf packing | while read -r ending; do
    steptrace convert in.step -o out"$ending".gz 2>said && echo "$ending.gz: taken"
    grep -q "is not compressed by its ending\|names no format" said || cat said
done
# nor is a file compressed that a name of --to makes one of those, or by another compressor than its ending's, or more
# than once, or beyond the compressor's levels
for out in '--to=lines -o x.gz' '--to=pprof -o x.zst' '-o x.step.zst' '-o x.hatf.gz.gz' '-o x.hatf.gz --level=10'; do
    steptrace convert in.step $out 2>&1
    echo "$out: $?"
done
steptrace convert in.step -o out.hatf.txt.gz && steptrace dump out.hatf.txt.gz | wc -l
steptrace convert in.step --to=hatf.gz -o x; echo $?
steptrace dump --from=memory-infra.gz x; echo $?
