# SPDX-License-Identifier: Apache-2.0
# A file of 9 KB has a call stack of 300,000 frames, as no JVM writes it: each frame is looked at once, not once
# for each of its callees, which took minutes.
ulimit -t 60
deep=$data/traces/deep_stack.step
for out in deep.mtf part.step; do
    steptrace convert $deep --class='**' -o $out && echo $out
done
steptrace convert deep.mtf -o deep.step && echo deep.step
for trace in part.step deep.step; do
    steptrace heap --by site --tree=top-down $trace | wc -l
    steptrace stats $trace | head -n 1
done
