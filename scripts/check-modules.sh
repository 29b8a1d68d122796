#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-modules.sh LIBTRACER LIBMALLOCTRACER STEPTRACE OLD_JVM: do the libraries that others load
# need no more than glibc 2.17, and are they hardened?  Where one cannot work (a library is missing, the
# JVM is too old, it is for another machine) the program runs untraced and one line says so; with
# required=yes it does not run.
set -euo pipefail
tracer=$1 recorder=$2 steptrace=$3 old_jvm=$4
oldest=2.17
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0
complain() {
    echo "$*"
    status=1
}

allowed='libc\.so\.6|ld-linux-[a-z0-9-]*\.so\.[12]'
[ "${ZSTD:-1}" = 1 ] || allowed+='|libz\.so\.1'
for module in "$tracer" "$recorder"; do
    name=$(basename "$module")
    [ "$name" = libtracer.so ] || allowed+='|libpthread\.so\.0|libdl\.so\.2'
    "${READELF:-readelf}" -dlW "$module" >"$scratch/dynamic"
    "${OBJDUMP:-objdump}" -T "$module" >"$scratch/symbols"
    while read -r library; do
        complain "$name needs $library"
    done < <(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$scratch/dynamic" | grep -vxE "$allowed" || true)
    while read -r function; do
        complain "$name needs a libc after $oldest: $function"
    done < <(grep -oE '\(?GLIBC_[0-9.]+\)? +\S+$' "$scratch/symbols" | tr -d '()' |
        while read -r version symbol; do
            newest=$(printf '%s\n' "${version#GLIBC_}" "$oldest" | sort -V | tail -n 1)
            [ "$newest" = "$oldest" ] || echo "$symbol ($version)"
        done)
    grep -q 'BIND_NOW' "$scratch/dynamic" || complain "$name: no BIND_NOW"
    grep -q GNU_RELRO "$scratch/dynamic" || complain "$name: no RELRO"
    grep -q __stack_chk "$scratch/symbols" || complain "$name: no stack protector"
done

# expect NAME CODE OUTPUT MESSAGE COMMAND...: exit code, standard output, and the one line on stderr,
# of which MESSAGE is a part.
expect() {
    local name=$1 code=$2 output=$3 message=$4 got=0
    shift 4
    (cd "$scratch" && "$@") >"$scratch/out" 2>"$scratch/err" </dev/null || got=$?
    [ "$got" = "$code" ] || complain "$name: exit code $got, not $code"
    [ "$(cat "$scratch/out")" = "$output" ] || complain "$name: printed '$(cat "$scratch/out")'"
    grep -qF -- "$message" "$scratch/err" || complain "$name: no '$message' in: $(cat "$scratch/err")"
    [ "$code" != 0 ] || [ "$(wc -l <"$scratch/err")" = 1 ] ||
        complain "$name: more than a line: $(cat "$scratch/err")"
}

untraced='; the program runs untraced'
expect 'Java 8' 0 0 "no JVMTI 11: JDK 17 or later is needed$untraced" "$old_jvm" "$tracer" '' 1.8
expect 'Java 11' 0 0 "this JVM is of Java 11: JDK 17 or later is needed$untraced" \
    "$old_jvm" "$tracer" '' 11
expect 'Java 11, required' 0 -1 'JDK 17 or later is needed' "$old_jvm" "$tracer" required=yes 11

if [ "${ZSTD:-1}" = 1 ]; then # a libzstd that cannot be loaded
    mkdir "$scratch/bad"
    echo 'no library' >"$scratch/bad/libzstd.so.1"
    bad=(env "LD_LIBRARY_PATH=$scratch/bad")
    record=(env "LD_PRELOAD=$recorder" STEPTRACE_MALLOC_DRAIN=/none)
    expect 'no drain: malloc' 0 hello 'steptrace-drain' "${record[@]}" "$(command -v echo)" hello
    expect 'no drain: malloc, required' 1 '' 'steptrace-drain' \
        env STEPTRACE_MALLOC=file=m.step,required=yes "${record[@]}" "$(command -v echo)" hello
    expect 'no zstd: agent' 0 0 "install it (package libzstd1 or libzstd) or put it beside this library$untraced" \
        "${bad[@]}" "$old_jvm" "$tracer" file=run.step 17
    # beside the agent it is found
    cp "$tracer" "$scratch/"
    cp "$(PATH=$PATH:/usr/sbin:/sbin ldconfig -p 2>/dev/null | sed -n 's/.*libzstd\.so\.1 .*=> //p' | head -n 1)" "$scratch/libzstd.so.1"
    expect 'zstd beside it' 0 0 'JDK 17 or later' "${bad[@]}" "$old_jvm" "$scratch/libtracer.so" '' 11
fi

# another machine's agent: byte 18 is the machine's number
cp "$tracer" "$scratch/other.so"
printf '\025\000' | dd of="$scratch/other.so" bs=1 seek=18 conv=notrunc status=none
expect 'other machine' 0 hello "it is for POWER" "$steptrace" record --agent="$scratch/other.so" \
    -o run.step "$(command -v echo)" hello
expect 'other machine, required' 1 '' "it is for POWER" "$steptrace" record -O required=yes \
    --agent="$scratch/other.so" -o run.step "$(command -v echo)" hello

ls "$scratch"/*.step >/dev/null 2>&1 && complain "a trace was left: $(ls "$scratch"/*.step)"
exit $status
