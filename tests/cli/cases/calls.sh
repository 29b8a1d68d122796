# SPDX-License-Identifier: Apache-2.0
# method events as calls: what the slice cuts is opened and closed at its ends
steptrace convert $data/closed.txt -o all.trace.json && cat all.trace.json
steptrace convert $data/closed.txt -o part.trace.json --from-time 2300ns --to-time 2700ns && cat part.trace.json
steptrace convert $data/closed.txt -o all.calls.speedscope.json && cat all.calls.speedscope.json
steptrace convert $data/closed.txt -o none.calls.speedscope.json --thread 1 && cat none.calls.speedscope.json
# exits without their calls, and calls in each other that one exit ends
cat >odd.txt <<'EOF'
VS:0
VI:1
MX:2:1:A:lost
MN:3:1:A:a:0
MN:4:1:A:b:0
MN:5:2:A:c:0
FP:6:1:A:a
VD:7
EOF
steptrace convert odd.txt -o odd.trace.json && cat odd.trace.json
steptrace convert odd.txt -o odd.calls.speedscope.json && cat odd.calls.speedscope.json
# Callgrind's profile of the same calls: own and inclusive costs
steptrace convert odd.txt -o odd.calls.callgrind && cat odd.calls.callgrind
cat >recursion.txt <<'EOF'
VS:0
MN:10:1:A:f:0
MN:20:1:A:f:0
MN:30:1:A:g:0
MX:40:1:A:g
MX:60:1:A:f
MX:100:1:A:f
VD:100
EOF
steptrace convert recursion.txt -o recursion.calls.callgrind && sed -n '/^fl=/,$p' recursion.calls.callgrind
echo "-- a part of the calls: the time of callees that are not selected is their caller's own, in stats it is not"
steptrace convert --method=Shop.main $data/traces/shop-1.step -o part.calls.callgrind
grep -A1 '^fn=.*Shop.main' part.calls.callgrind
steptrace stats --method=Shop.main $data/traces/shop-1.step | grep 'Shop.main('
