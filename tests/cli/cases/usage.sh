# SPDX-License-Identifier: Apache-2.0
steptrace 2>said
echo $?
steptrace help | cmp - said
steptrace stat x.step
echo $?
steptrace dump
echo $?
steptrace dump --form-time=3 x.step
echo $?
steptrace dump --from-time=3x x.step
echo $?
steptrace dump --kind=OA,XX x.step
echo $?
steptrace dump a b
echo $?
steptrace convert $data/closed.txt
echo $?
steptrace convert $data/closed.txt -o x.what
echo $?
steptrace convert $data/closed.txt -o x.hatf --addresses=none
echo $?
steptrace stats --sort=size $data/closed.txt
echo $?
steptrace record
echo $?
steptrace stats --top
echo $?
steptrace compare a.step b.step -o x.html
echo $?
steptrace heap --retained --site 'Shop.**' a.step
echo $?
steptrace heap --retained --csv a.step
echo $?
steptrace agent-path --malloc
echo $?
steptrace help snapshot
echo $?
steptrace help --manual
echo $?
steptrace attach --snapshot --stop 1
echo $?
steptrace version --json --agent-path
echo $?
STEPTRACE_AGENT=none steptrace version --agent-path
echo $?
STEPTRACE_AGENT=$data/closed.txt steptrace version --agent-path | sed 's|.*/||'
STEPTRACE_MALLOC_LIBRARY=$data/closed.txt steptrace version --malloc-path | sed 's|.*/||'
steptrace attach -d 0 1
echo $?
