# SPDX-License-Identifier: Apache-2.0
# Each format of the table is written of traces without what it needs; what is said names the agent's option that
# records it, and the exit status is 1 where there is no output.  Formats of a group of `convert --help` say the same:
# a line names the group, and those of its formats that say something else.
trace() { # NAME: of the lines on standard input
    cat >"$1.txt" && steptrace convert "$1.txt" --from=lines -o "$1.step"
}
start='VS:0\nVI:0\nCL:0:A\nTB:0:1\n' end='TE:5:1\nVD:6\n'
printf "$start$end" | trace nothing
printf "${start}OA:1:A:1\n$end" | trace undead
printf "${start}MN:1:1:A:f:0\nMX:2:1:A:f\n$end" | trace calls
steptrace convert "$data/heap.hatf.txt" -o native.step
steptrace convert --help | sed -n '/^IN or OUT/q; /^compressed/d; s/^\([a-z].*\):$/=\1/p; s/^  \([a-z][a-z.-]*\)  .*/\1/p' |
    awk '/^=/ { group = substr($0, 2); next } { print $1 "\t" (group == "" ? "events" : group) }' >formats
for trace in nothing undead calls native; do
    while IFS=$'\t' read -r format group; do
        case $format in parquet | clickhouse-native) table=--table=objects ;; *) table= ;; esac
        rm -rf out
        steptrace convert $trace.step --to="$format" $table -o out >said 2>&1
        code=$?
        [ $code = 0 ] && [ ! -e out ] && echo "$format: no file" >&2
        [ $code = 0 ] || [ ! -e out ] || echo "$format: a file in spite of $code" >&2
        [ -s said ] || echo "nothing" >said
        printf '%s\t%s\t%s\n' "$group" "$format" \
            "$(sed "s/^steptrace: $trace.step: //; s/^/$code: /" said | paste -sd '\t')"
    done <formats | awk -F '\t' -v trace=$trace '
        {
            group = $1; format = $2
            said = $0; sub(/^[^\t]*\t[^\t]*\t/, "", said)
            if (!(group in most)) groups[++group_count] = group
            formats[group] = formats[group] " " format
            of[format] = said
            if (++count[group, said] > count[group, most[group]]) most[group] = said
        }
        function show(who, said, parts, n, i) {
            n = split(said, parts, "\t")
            for (i = 1; i <= n; i++) print trace ": " who ", " parts[i]
        }
        END {
            for (g = 1; g <= group_count; g++) {
                show(groups[g], most[groups[g]])
                n = split(formats[groups[g]], names, " ")
                for (f = 1; f <= n; f++)
                    if (of[names[f]] != most[groups[g]]) show(names[f], of[names[f]])
            }
        }'
done
# a selection that leaves out what the trace has
steptrace convert calls.step -o out.calls.speedscope.json --thread=7
steptrace convert undead.step -o out.hatf --kind=TB
# with layout=yes no length of an array is an estimate
steptrace convert "$data/traces/layouts.step" -o layouts.et
# tables without rows: each that was asked for, once, and those of a second trace
steptrace convert nothing.step -o tables --to=parquet --table=objects,allocations,frees,calls,methods,sites,phases,threads
steptrace sql nothing.step "select count(*) from calls; select count(*) from objects join Calls using (thread)"
steptrace sql undead.step n=nothing.step "select count(*) from objects; select (select count(*) from n.objects), (select count(*) from n.threads)"
steptrace sql calls.step "select count(*) from calls; select count(*) from classes"
