# SPDX-License-Identifier: Apache-2.0
steptrace check $data/closed.txt
echo $?
steptrace check $data/breaches.txt
echo $?
steptrace check --limit=1 $data/breaches.txt
