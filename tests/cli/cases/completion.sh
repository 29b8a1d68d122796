# SPDX-License-Identifier: Apache-2.0
# Completion in the shells that are there, out of the tables of options; and the man pages.
sh "$data/../../../scripts/make-manuals.sh" "$STEPTRACE" "$data/../../../docs/man/steptrace.1" made
for verb in $(steptrace help | sed -n 's/^  \([a-z-]*\) .*/\1/p'); do
    for option in $(steptrace $verb --help | sed -nE 's/^  (-., |    )--([a-z0-9.-]*).*/\2/p'); do
        grep -q -- "--$option" made/completion/steptrace || echo "bash: no $verb --$option"
        [ $option = help ] || grep -q -- "--$option\b" made/completion/_steptrace || echo "zsh: no $verb --$option"
        sed 's/\\-/-/g' made/man/steptrace-$verb.1 | grep -q "Fl -$option\b" || echo "man: no $verb --$option"
    done
    ! command -v mandoc >/dev/null || mandoc -T lint -W error made/man/steptrace-$verb.1
done
touch trace.step
complete_line() { # WORD...: what bash offers for the last
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _steptrace
    echo "${COMPREPLY[@]}"
}
compopt() { :; }
. made/completion/steptrace
complete_line steptrace re | tr ' ' '\n' | diff - <(steptrace help | sed -n 's/^  \(re[a-z-]*\) .*/\1/p')
complete_line steptrace check --l
complete_line steptrace check tr
complete_line steptrace convert --output = tr
complete_line steptrace convert --to = tr
complete_line steptrace convert -o tr
complete_line steptrace help esc
complete_line steptrace heap --by ''
complete_line steptrace compare --by = m
complete_line steptrace heap --at = ''
complete_line steptrace paths --at g
complete_line steptrace convert --to hea | tr ' ' '\n' | sort |
    diff - <(steptrace convert --help | sed -n 's/^  \(hea[a-z.-]*\) .*/\1/p' | sort)
complete_line steptrace convert --to = parq
complete_line steptrace watch tr
jvm=$(mktemp -d) && cp "$(command -v sleep)" "$jvm/java"
"$jvm/java" 60 &
until [[ $(readlink "/proc/$!/exe") == */java ]]; do sleep 0.01; done
complete_line steptrace attach '' | tr ' ' '\n' | grep -cx "$!"
complete_line steptrace watch '' | tr ' ' '\n' | grep -cx "$!\|trace.step"
kill $!
rm -r "$jvm"
complete_line steptrace record bas | tr ' ' '\n' | grep -c '^bash$' | sed 's/[1-9][0-9]*/some/'
if command -v zsh >/dev/null; then zsh -n made/completion/_steptrace; fi
if command -v fish >/dev/null; then
    fish --no-config -c 'source made/completion/steptrace.fish; complete -C "steptrace check --l"' |
        grep -q '^--limit' || echo "fish: no --limit"
fi
grep -o "'\*--by=\[[^]]*\]:[A-Z+]*:([^)]*)" made/completion/_steptrace | sed 's/.*:(/zsh: /'
grep -o ':(peak end gc.*)' made/completion/_steptrace | sort -u
sed -n "s/.*_from \([a-z]*\)' -l by .*-a '\([^']*\)'.*/fish: \1 \2/p" made/completion/steptrace.fish
grep -c "_from convert' -l to .* parquet " made/completion/steptrace.fish
steptrace help --completion=tcsh
echo $?
