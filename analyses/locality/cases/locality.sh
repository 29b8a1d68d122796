# SPDX-License-Identifier: Apache-2.0
# What has no references is refused; tests/graph/try_locality.py has the answers for traces that have some.
for trace in traces/shop-1.step closed.txt heap.hatf.txt no-such.step; do
    steptrace locality $data/$trace || echo $?
done
echo "-- usage"
for words in '--top x' '--csv' '--from step' 'second.step'; do
    steptrace locality $data/traces/shop-1.step $words || echo $?
done
steptrace locality || echo $?
steptrace locality --help
