# SPDX-License-Identifier: Apache-2.0
# needs: all commands, zstd
# The same statistics computed from the tables, by another program, with a YAML reader.
python3 -c 'import yaml' 2>/dev/null || exit 77
for trace in shop-1 shop-2 shop-3; do
    python3 $data/../nominal.py "$STEPTRACE" $data/traces/$trace.step
done
