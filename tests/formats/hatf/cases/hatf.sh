# SPDX-License-Identifier: Apache-2.0
# needs: all commands, zstd
steptrace convert $data/closed.txt -o a.hatf
od -An -c a.hatf | head -n 2
steptrace convert $data/closed.txt -o a.hatf.gz && gzip -dc a.hatf.gz | cmp - a.hatf
if command -v zstd >/dev/null; then
    steptrace convert $data/closed.txt -o a.hatf.zst && zstd -qdc a.hatf.zst | cmp - a.hatf
fi
for addresses in bump malloc; do
    steptrace convert $data/closed.txt -o b.hatf --addresses=$addresses || echo $addresses
done
steptrace convert $data/closed.txt -o c.hatf --attributes=class
grep -c 'pack/Größe' c.hatf
steptrace dump a.hatf
