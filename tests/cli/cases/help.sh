# SPDX-License-Identifier: Apache-2.0
steptrace help
steptrace --help | cmp - <(steptrace help)
for verb in record convert dump info check stats recover; do
    steptrace $verb --help | head -n 1
    steptrace help $verb | cmp - <(steptrace $verb -h)
done
steptrace version | sed 's/[0-9.]*$/N/; q'
