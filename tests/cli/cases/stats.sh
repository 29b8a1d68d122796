# SPDX-License-Identifier: Apache-2.0
# needs: all commands, zstd
steptrace stats $data/closed.txt

echo "-- growth in a native program: no advice for Java"
(printf 'createThread 0 0 0 1 0 1000\n'
for i in $(seq 40); do
    printf 'alloc %d 8192 0 1 0 %d\nalloc %d 16 0 1 0 %d\nfree %d 0 0 1 0 %d\n' $((i * 16384)) $((i * 1000 + 1000)) \
        $((i * 16384 + 8192)) $((i * 1000 + 1001)) $((i * 16384 + 8192)) $((i * 1000 + 1002))
done) >grows.hatf.txt
steptrace stats grows.hatf.txt | grep Grows
