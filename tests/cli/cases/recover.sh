steptrace convert $data/closed.txt -o a.step
size=$(wc -c <a.step)
steptrace recover a.step
head -c $((size - 20)) a.step >cut.step
steptrace check cut.step 2>/dev/null
echo $?
steptrace recover cut.step -o whole.step
steptrace check whole.step
steptrace dump whole.step | cmp - $data/closed.txt
steptrace recover cut.step
cmp cut.step whole.step
echo no trace >other.step
steptrace recover other.step
echo $?
ls
