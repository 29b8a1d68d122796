# SPDX-License-Identifier: Apache-2.0
# --prefix: all that is declared begins with it; that of the library is free to it alone.
include=${data%/tests/*}/format/include
metatfc() { "${STEPC%stepc}metatfc" "$@"; }
symbols() {
    cc -std=c11 -Wall -Wextra -Werror -I"$include" -c -o $1.o $1.c && nm -g --defined-only $1.o | awk '{ print $3 }'
}
echo 'package net { record Record { int class; } record Keeper { int n; } record Feeding { Keeper k <encoding:"identifier">; } }' >net.step
stepc --c zoo --prefix my_1_ net.step
symbols zoo
grep -hE '^(struct|enum step_|static inline|extern const)|^ +[A-Z_0-9]+ = [0-9]+,?$' zoo.h | grep -vi my_1_
stepc --prefix step_ --c 9zoo net.step && grep -h '^extern const' 9zoo.h
stepc --c step_zoo net.step
echo $?
metatfc --prefix my_ --c heap "${data%/tests/*}/format/definitions/hatf.dtd" && symbols heap
for prefix in 1a a-b "" $(printf %065d 0 | tr 0 a); do
    stepc --prefix "$prefix" --c bad net.step 2>/dev/null || echo $?
    metatfc --prefix "$prefix" --c bad net.dtd 2>/dev/null || echo $?
done
stepc --c bad net.step --prefix
echo $?
ls bad* 2>/dev/null || echo "nothing made"
