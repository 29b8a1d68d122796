# SPDX-License-Identifier: Apache-2.0
# stepc refuses what no writer takes, and takes what writers take.
check() {
    stepc --check $1.step 2>&1 | cut -c 1-150 | grep -v '^ '
    echo "$1: ${PIPESTATUS[0]}"
}
printf 'record Node { int v; } record Pair extends Node { Node left, right <encoding:"type=variable">; }' >tree.step
printf 'record List { int v; List next <encoding:"type=variable">; List[] more <encoding:"type=default">; }' >list.step
printf 'record Self { int v; Self next; }' >self.step
printf 'record Selves { int v; Selves[] next; }' >selves.step
printf 'record N {} record P { N p; } record Q extends P { ~p <encoding:"type=variable">; }' >modified.step
printf '# nothing\n' >empty.step
nest() { echo 'record R0 { int x; }'; for ((i = 1; i <= $1; i++)); do echo "record R$i { R$((i - 1)) r; }"; done; }
nest 32 >nest32.step
nest 33 >nest33.step
types() { for ((i = 1; i <= $1; i++)); do echo "record R$i {}"; done; }
types 65535 >types.step
types 65536 >many_types.step
fields() { for ((k = 0; k < $1; k++)); do echo "record R$k {"; for ((i = 0; i < 4096; i++)); do echo "int f$i;"; done; echo '}'; done; }
fields 16 >columns.step
(fields 16; echo 'record More { int x; }') >many_columns.step
for name in tree list self selves modified empty nest32 nest33 types many_types columns many_columns; do check $name; done
stepc --c out nest33.step 2>/dev/null; echo "--c: $?"; ls | grep -c "^out"
exit 0
