# SPDX-License-Identifier: Apache-2.0
# Many faults in one run, each with its line and a caret; those of included files under their names.
mkdir sub
cat > main.step <<'END'
include "part.step"; recrd Wrong { int x; }
package p {
  record A { int x	y; string s; }
  oops
  record B extends A { ! ; int ok; }
}
record C { struct { int a; } b; int 5; string "lost; }
END
printf 'record Part { string s; }\ninclude "sub/deep.step"; include "main.step";\nrecord Ä { }\n' >part.step
printf '# nothing\ninclude "none.step";\n' >sub/deep.step
stepc --check main.step
echo "exit $?"
cat > names.step <<'END'
package a { record X { Gone g; } record Y extends Missing { int q; ~r <g:"v">; } }
record Z extends a.Y { int q; }
record L1 extends L2 { } record L2 extends L1 { }
record X { int x; int x; a.Away w; } record X { }
END
stepc --check names.step
echo "exit $?"
# a brace that closes what is open is not passed over: Inner stays in p
printf 'package p { record A { int x } junk { } record Inner { int y; } }\nrecord User { p.Inner i; p.A a; int }' >brace.step
stepc --check brace.step - <<'END'
record FromStdin { int x }
END
echo "exit $?"
# pipes, directories, files that are not there or too long
stepc --check <(echo 'record A { int x }') 2>&1 | sed 's|^/dev/fd/[0-9]*|PIPE|'
stepc --check none.step sub; echo "exit $?"
head -c 17000000 /dev/zero | tr '\0' ' ' >long.step
stepc --check long.step; echo "exit $?"
