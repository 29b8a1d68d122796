# SPDX-License-Identifier: Apache-2.0
for verb in dump info check stats recover; do
    steptrace $verb none.step
    echo $?
done
steptrace convert none.zip -o out.step
echo $?
ls
