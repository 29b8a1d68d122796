# SPDX-License-Identifier: Apache-2.0
# A selection of a native trace by conditions on objects: a free goes with its allocation, a realloc with either.
for words in "--size >=100" "--size 24..40" "--class big" "--class malloc --size <40" "--thread 2" "--lifetime <500ns"; do
    echo "$words"
    steptrace dump $words $data/heap.hatf.txt | grep -v Thread
done
for words in "--site x.y" "--method x.y"; do # it has no call stacks
    steptrace dump $words $data/heap.hatf.txt | grep -c -E '^(alloc|free|realloc)'
done
# What is left has the same totals as the selection: an object that a realloc moves out of it is freed, and one that it moves in is allocated.
for size in 24..40 '>=41' '<64' '>=64'; do
    steptrace convert --size "$size" $data/heap.hatf.txt -o part.hatf
    steptrace stats --size "$size" $data/heap.hatf.txt | sed -n 1,4p >whole.txt
    steptrace stats part.hatf | grep -E '^(allocated|freed|at end|peak)' | diff whole.txt - && echo "$size: the same"
done
