# SPDX-License-Identifier: Apache-2.0
steptrace convert $data/closed.txt -o a.step
for in in $data/closed.txt a.step; do
    echo "-- time"
    steptrace dump --from-time 2.5us --to-time=2900ns $in
    echo "-- thread"
    steptrace dump --thread 1 $in
    echo "-- kind"
    steptrace dump --kind OF,te $in
    echo "-- class"
    steptrace dump --class 'pack/*' $in
    steptrace dump --class '*' --kind OA $in
    steptrace dump --class 'java.**' --kind OA $in
    echo "-- late frees know their class"
    steptrace dump --from-time 3us --kind OF $in
    echo "-- stats of a time: object 3, which is older, is freed in it but not counted"
    steptrace stats --time=2750ns.. $in | grep -E '^(allocated|freed|live|at end)|\[I'
done
