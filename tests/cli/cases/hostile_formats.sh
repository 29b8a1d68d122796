# SPDX-License-Identifier: Apache-2.0
# needs: all commands, zstd
# Each format of the table is written of a trace whose names have controls, escape sequences, quotes, newlines and bytes
# that are no UTF-8, and of one with names of 64 KB; formats of text are UTF-8, and what is said is fit for a terminal.
names=$data/hostile/names.step
controls='[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]'
python3 - >long.txt <<'END'
name = "a/" + "x" * 65000 + "\"<;,é"
print("VS:0\nVI:0\nTB:0:1", f"CL:0:{name}", f"MN:1:1:{name}:{'m' * 65000}:0", f"OA:2:{name}:1", f"OA:2:{name}:2",
      f"MX:3:1:{name}:{'m' * 65000}", "OF:4:" + name + ":1", "TE:5:1\nVD:6", sep="\n")
END
steptrace convert long.txt --from=lines -o long.step
"${STEPTRACE}" convert --help | sed -n 's/^  \([a-z][a-z.-]*\)  .*/\1/p' >formats
for trace in "$names" long.step; do
    while read -r format; do
        rm -rf out
        case $format in parquet | clickhouse-native) table=--table=objects ;; *) table= ;; esac
        "${STEPTRACE}" convert "$trace" --to="$format" $table -o out >said 2>err
        code=$?
        tr -d '\r' <err | LC_ALL=C grep -aqP "$controls" && echo "$format: says controls"
        iconv -f UTF-8 -t UTF-8 err >/dev/null 2>&1 || echo "$format: says no UTF-8"
        # what the trace lacks, with the agent's option for it
        [ $code = 0 ] || { [ -e out ] && echo "$format: a file in spite of $code"; echo "$format: $code $(sed 's/^[^:]*: //; s/^[^ ]*: //' err | tail -n 1)"; }
        [ $code != 0 ] || [ -d out ] || [ -s out ] || echo "$format: is empty"
        case $format in
        text | step | hatf | hatf.zip | mtf | simple-binary | pprof | otlp | ctf | jfr | parquet | clickhouse-native) ;;
        elephant-tracks) cat out/trace out/names | iconv -f UTF-8 -t UTF-8 >/dev/null || echo "$format: is not UTF-8" ;;
        *) [ $code != 0 ] || iconv -f UTF-8 -t UTF-8 out >/dev/null 2>&1 || echo "$format: is not UTF-8" ;;
        esac
    done <formats
done
"${STEPTRACE}" convert "$names" --to=otlp -o - | tr -d '\0' | LC_ALL=C grep -ac $'\xef\xbf\xbd' >replaced
grep -q '^0$' replaced && echo "otlp: nothing was replaced"
[ -s formats ] || echo "the help lists none"
