# SPDX-License-Identifier: Apache-2.0
# needs: all commands, zstd
# Objects of up to 2^63 bytes in small files: each command ends soon, and says so where it cannot add them up.
for bits in 40 50 58 60 62 63; do
    size=$((1 << bits))
    [ $bits = 63 ] && size=9223372036854775808
    printf '# HATF 1.0, made\ncreateThread 0 0 0 1 0 10\nalloc 4096 %s 0 1 0 20\nfree 4096 0 0 1 0 30\n' $size >size.hatf.txt
    for form in hatf.txt step; do
        [ $form = step ] && { timeout 60 "$STEPTRACE" convert size.hatf.txt -o size.step 2>err || continue; }
        for verb in stats heap lifetimes simulate leaks "report -o o.html" "simulate --young 1m --heap 2m..1t"; do
            timeout 60 "$STEPTRACE" ${verb%% *} size.$form ${verb#"${verb%% *}"} >out 2>err
            code=$?
            [ $code -le 3 ] || echo "$verb of 2^$bits in .$form: $code"
            [ $code -ne 3 ] || echo "$verb of 2^$bits in .$form: $(sed 's/^[^:]*: //' err | tail -n 1)"
        done
    done
done
