# SPDX-License-Identifier: Apache-2.0
# needs: all commands, zstd
steptrace help
steptrace --help | cmp - <(steptrace help)
for verb in record convert dump info check stats recover; do
    steptrace $verb --help | head -n 1
    steptrace help $verb | cmp - <(steptrace $verb -h)
done
steptrace version | sed 's/[0-9.]*$/N/; q'
echo "-- no line is longer than a terminal of 80 columns"
{
    steptrace help
    for verb in $(steptrace help | sed -n 's/^  \([a-z-]*\)  .*/\1/p'); do
        steptrace $verb --help
    done
} | awk 'length > 80'
