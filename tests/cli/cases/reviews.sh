# SPDX-License-Identifier: Apache-2.0
# needs: all commands
# What gates and advice write for reviewers, with names that are meant to break out.
hostile=$data/traces/phases-17.step shop=$data/traces/shop-1.step
unset GITHUB_WORKSPACE CI_PROJECT_DIR GITHUB_ACTIONS GITHUB_STEP_SUMMARY
valid() { "$data/../validate.py" "$data/../../../docs/schemas/$1.schema.json" <$2; }
files() { echo --sarif=out/$1.sarif --code-quality=out/$1.json --junit=out/$1.xml --markdown=out/$1.md; }
mkdir out 'dir,:%'
echo "-- phases without a line"
echo 'Phases.* [17]: 1 object, 2 bytes' >'dir,:%/a.snap'
printf 'a ::error::b ##[error]c %%0A](x)\xff\x1b[31m [17]: 1 object, 2 bytes\n' >>'dir,:%/a.snap'
run="steptrace gate $hostile --snapshot=./dir,:%/a.snap -q"
$run $(files phases) 2>told
echo $?
grep -c 'fails\|not judged' told
GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=out/summary.md GITHUB_WORKSPACE=$PWD/dir,:% $run 2>out/phases.github
GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=out/summary.md $run --phase Phases.lambda 2>out/one.github
echo "-- rules of a budget and of the command line"
printf 'any class:<b>&* allocated > 5k\nany class:* allocated > 5k\nclass:[x](javascript:1) allocated > 5k\nclass:a\xff\x01\x1b,::error::x allocated < 7\nclass:##[add-path]x allocated > 1k\nallocated > 1g\n' >budget.txt
run="steptrace stats $shop -q --budget=budget.txt"
$run $(files rules) 2>/dev/null
echo $?
GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=/dev/full $run 2>out/rules.github
echo $?
for command in "heap $shop --at end --fail-if=alive>1" "leaks $shop --fail-if=leaked>=0" "compare $shop $shop --fail-if=allocated>=+0%"; do
    name=${command%% *}
    steptrace $command -q --sarif=out/$name.sarif 2>/dev/null
done
echo "-- nothing fails"
steptrace stats $shop -q --fail-if 'allocated > 1g' $(files none)
GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=nothing steptrace stats $shop -q --fail-if 'allocated > 1g'
ls nothing 2>/dev/null
echo "-- advice, at sources that are there"
mkdir -p src/main/java && touch src/main/java/Shop.java
steptrace advise $shop --least 0 --young 16k --top 8 --sarif out/advice.sarif --code-quality out/advice.json --markdown out/advice.md >/dev/null
GITHUB_ACTIONS=true CI_PROJECT_DIR=$PWD/src steptrace advise $shop --least 0 --young 16k --top 3 2>out/advice.github >/dev/null
for file in out/*.sarif; do valid sarif $file; done | sort | uniq -c
for file in out/*.json; do valid code-quality $file; done | sort | uniq -c
"$data/../reviews.py" out
echo "-- the summary is appended to, and through no link"
ln -s victim link
echo victim >victim
for summary in link . /dev/null none/summary; do
    GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=$summary steptrace stats $shop -q --fail-if 'allocated > 1' 2>&1 | tail -n 1 | cut -c 1-80
done
cat victim
