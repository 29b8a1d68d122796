# SPDX-License-Identifier: Apache-2.0
# A writer that still holds the trace is waited for, but not for ever.
steptrace convert $data/closed.txt -o a.step
mkfifo ready
hold='import fcntl, sys, time
file = open("a.step", "r+b")
fcntl.lockf(file, fcntl.LOCK_EX, 1)
print("held", flush=True)
time.sleep(float(sys.argv[1]))'
python3 -c "$hold" 1 >ready &
read -r state <ready
echo $state
steptrace recover a.step -o whole.step
echo $?
wait
python3 -c "$hold" 600 >ready &
read -r state <ready
echo $state
steptrace recover a.step -o never.step
echo $?
kill $!
rm ready
ls
