# SPDX-License-Identifier: Apache-2.0
# The agent's option goes where the command's JVM finds it.
cat >agent.so </dev/null
mkdir bin
printf '#!/bin/sh\nfor i; do echo "$i"; done\nexit 7\n' >bin/java
printf '#!/bin/sh\necho "$JAVA_TOOL_OPTIONS"; for i; do echo "$i"; done\n' >bin/mvn
chmod +x bin/*
cp bin/java bin/javac
export STEPTRACE_AGENT=agent.so
here=$(pwd)
relative() { sed "s|$here|HERE|g"; }
PATH=$here/bin:$PATH
set -o pipefail
steptrace record -o my.step --events=alloc,free -O level=9 java -cp x Main --events=no | relative
echo $?
steptrace record -- javac A.java | relative
JAVA_TOOL_OPTIONS=-Dx=y steptrace record -o my.step mvn -q test | relative
steptrace record -o a,b.step java Main
echo $?
steptrace record -o - java Main
echo $?
for command in record attach record-malloc; do
    steptrace $command -o /dev/full 1
    echo $?
    steptrace $command -o 'r%q.step' 1 # only the agent refused it, after the program had begun
    echo $?
done
for command in snapshot stop status; do # what would not be looked at
    steptrace attach --$command -o x.step 1
    steptrace attach -O stack=4 --$command 1
    echo $?
done
steptrace record no-such-command
echo $?
STEPTRACE_AGENT=none.so steptrace record java Main
echo $?
