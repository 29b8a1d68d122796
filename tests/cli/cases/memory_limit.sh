# SPDX-License-Identifier: Apache-2.0
# needs: all commands, zstd
# What stands for much more than its size: a limit, a message, exit code 1, since the trace may be whole; 0 is no limit.
grep -q __asan_report_ "$STEPTRACE" && exit 77 # its own tables do not fit into a limit
{
    printf 'VS:0\nVI:0\nTB:0:1\nCL:0:A\n'
    seq 4096 4096 1228800000 | sed 's,^,OA:0:A:,'
    printf 'VD:1\n'
} >many.txt
steptrace convert many.txt -o many.step
for verb in stats check heap "report -o many.html" "convert -o many.hatf" "pack -o many2.step" \
    "convert -o many.collapsed" "convert -o many.zip"; do
    steptrace ${verb%% *} --memory=16M many.step ${verb#"${verb%% *}"} >out 2>err
    echo "$verb $? $(tail -n 1 err)"
done
ls many*
steptrace stats --memory=1g many.step | head -n 1
steptrace stats --memory=0 many.step | head -n 1
for size in 1 12x '' -3 99999999999g; do
    steptrace stats --memory="$size" many.step
    echo "$size: $?"
done
