# SPDX-License-Identifier: Apache-2.0
# Values that are numbered, as files have them that were written when they came: rows and columns.
for layout in rows columns; do
    cp "$data/numbered_$layout.bin" $layout.step
    steptrace dump $layout.step >$layout.txt
    steptrace pack $layout.step -o packed.step 2>/dev/null
    steptrace dump packed.step | cmp - $layout.txt
done
cmp rows.txt columns.txt
cat rows.txt
steptrace sql columns.step 'select t, "p.x", "p.y", "p.s" from R limit 4'
cat >places.dl <<'EOF'
record Q { int z; }
record P {
  int[] a <encoding:"numbered">;
  Q[] q <encoding:"numbered">;
  ~q.element <encoding:"numbered">;
  int x <encoding:"numbered">;
  string s <encoding:"numbered">;
  Q e <encoding:"identifier,numbered">;
}
EOF
stepc --check places.dl
