# SPDX-License-Identifier: Apache-2.0
# Generated C compiles whatever things are called, as C11 and as C++17, after all standard headers.
include=${data%/tests/*}/format/include
headers=$(for h in assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg \
    stdbool stddef stdint stdio stdlib stdnoreturn string time uchar wchar wctype; do echo "#include <$h.h>"; done)
plus=$(echo "$headers" | grep -v 'complex\|stdnoreturn')
compile() {
    stepc --c $1 $1.step || return
    { echo "$headers"; echo "#include \"$1.c\""; } >$1_all.c
    { echo "$plus"; echo "#include \"$1.h\""; echo 'int main() { return 0; }'; } >$1_plus.cc
    cc -std=c11 -Wall -Wextra -Werror -I"$include" -fsyntax-only $1_all.c && echo "$1: C11"
    cc -std=gnu17 -Wall -Wextra -Werror -I"$include" -fsyntax-only $1.c && echo "$1: GNU C"
    c++ -std=c++17 -Wall -Wextra -Werror -I"$include" -fsyntax-only $1_plus.cc && echo "$1: C++17"
}
words="$(sed -n '/^static const char reserved/,/clang-format on/p' "${data%/tests/*}/compilers/c_reserved.c" | grep -o '"[^"]*"' | tr -d '"')"
dl="package record extends int string data include"
field=$(for w in $words; do [[ " $dl " == *" $w "* ]] || echo "int $w;"; done)
record=$(for w in $words; do [[ " $dl " == *" $w "* ]] || echo "record $w { R r <encoding:\"identifier\">; }"; done)
echo "record R { $field } record Empty { } record U { Empty e <encoding:\"identifier\">; }" >fields.step
echo "record R { int x; } $record" >records.step
echo 'package net { record Record { int class, class_, class__; } record RecordCount { } record Reader { } record Binding { } }' >net.step
echo 'package step { record Reader { step_writer w; } record step_writer { int EOF, EOF_; } record Record { } }
record step_reader { int int64_t, b; } record A_B { } package a { record B { } record b { } record _b { } }
record B { } record b { } record NightPut { } record Night { } record night_get { } record Tm { } record Eof { } record Errno { } record SizeMax { }' >clash.step
for name in fields records net clash; do compile $name; done
grep -h '^struct .* {\|^    [A-Z_]* = ' net.h clash.h
grep -h 'class' net.h
