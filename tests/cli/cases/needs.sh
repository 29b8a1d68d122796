# SPDX-License-Identifier: Apache-2.0
# Each format of the table is written of traces without what it needs; what is said names the agent's option that
# records it, and the exit status is 1 where there is no output.
trace() { # NAME: of the lines on standard input
    cat >"$1.txt" && steptrace convert "$1.txt" --from=lines -o "$1.step"
}
start='VS:0\nVI:0\nCL:0:A\nTB:0:1\n' end='TE:5:1\nVD:6\n'
printf "$start$end" | trace nothing
printf "${start}OA:1:A:1\n$end" | trace undead
printf "${start}MN:1:1:A:f:0\nMX:2:1:A:f\n$end" | trace calls
steptrace convert "$data/heap.hatf.txt" -o native.step
steptrace convert --help | sed -n 's/^  \([a-z][a-z.-]*\)  .*/\1/p' >formats
for trace in nothing undead calls native; do
    while read -r format; do
        case $format in *.zst) continue ;; esac # a build may lack zstd
        case $format in parquet | clickhouse-native) table=--table=objects ;; *) table= ;; esac
        rm -rf out
        steptrace convert $trace.step --to="$format" $table -o out >said 2>&1
        code=$?
        [ $code = 0 ] && [ ! -e out ] && echo "$format: no file"
        [ $code = 0 ] || [ ! -e out ] || echo "$format: a file in spite of $code"
        sed "s/^steptrace: $trace.step: /$trace: $format, $code: /" said
    done <formats
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
