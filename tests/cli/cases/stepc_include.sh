# SPDX-License-Identifier: Apache-2.0
# Includes: beside the file, in directories of -I, each file once; the text is whole without them.
mkdir defs other
printf 'record Base "base" { int time <property:"time">; }\n' >defs/base.step
printf 'include "base.step";\ninclude "more.step";\nrecord Left extends Base { int l; }\n' >defs/left.step
printf 'include "base.step";\nrecord More extends Base { int m; }\n' >other/more.step
printf '/* include "not.step"; */ include "defs/left.step"; include "defs/base.step";\npackage p { record include { Left include; } }\n' >all.step
stepc --check all.step
echo "without -I: exit $?"
stepc -I other -Idefs --print all.step >printed.step && cat printed.step
stepc --print printed.step | cmp - printed.step && echo same
stepc --check -I other all.step -Idefs && stepc --c out -I other -I defs all.step && grep -c "# from" out.c && grep -c include out.c
printf 'package p { include "base.step"; }\n' >inside.step
stepc --check inside.step
