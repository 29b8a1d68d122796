# SPDX-License-Identifier: Apache-2.0
# Attributes that are misspelt, have bad values, or do not fit what they stand at.
cp "$data/bad_attributes.step" bad.step
stepc --check bad.step
echo "exit $?"
stepc -Werror --check bad.step 2>&1 | grep -c warning
stepc --c out bad.step 2>/dev/null
echo "exit $?"; ls | grep -c "^out"
# warnings alone are no fault, but for -Werror; a group is told of once
cat > warn.step <<'END'
record R { <mine:"a"> <encoding:"default"> int x <mine:"b"> <proprety:"time"> <encoding:"sise=4">; string s <property:"time">; }
END
stepc --check warn.step; echo "exit $?"
stepc --c warned warn.step 2>/dev/null; echo "exit $?"; ls warned.*
stepc --check -Werror warn.step 2>&1 | grep -v '^ '; echo "exit ${PIPESTATUS[0]}"
# a message is one line of text, whatever the value has
printf 'record R { int x <encoding:"del\033ta=\n1">; }' >escape.step
stepc --check escape.step 2>&1 | tr '\033' E
# modifiers, elements, lengths; what a reader could not follow
cat > parts.step <<'END'
record P { int a; int[] b <encoding:"delta">; string s; P2 by <encoding:"identifier,size=4..">; data d; }
record P2 { string name; }
record Q extends P {
  ~a <encoding:"given=b">; ~b.length <encoding:"delta=4">; ~b.element <encoding:"charset=UTF-8">;
  ~s.length <encoding:"given=a">; ~s <encoding:"constant,default,identifier,prefix,charset=utf-8">;
  ~by <encoding:"prefix">; ~d <encoding:"charset=UTF-8">;
  int c <encoding:"age=P.s">, e <encoding:"age=P.a">, f <encoding:"age=P">, g <encoding:"given=a,stack=P2">;
}
END
stepc --check parts.step; echo "exit $?"
