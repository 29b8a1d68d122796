# SPDX-License-Identifier: Apache-2.0
# needs: all commands, zstd
# The commands of the table, their groups and summaries are those of README, the manual, and the folders that register
# them: a new command needs its pages, no line here.
root=$data/../../..
steptrace help >help
steptrace --help | cmp - help
grep -v '^  \|^$\|^[A-Z].*:$' help
sed -n 's/^  \([a-z-]*\)  .*/\1/p' help | sort >table
sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/s/^\.Cm //p' "$root/docs/man/steptrace.1" |
    tr ' |' '\n\n' | grep '^[a-z]' | sort -u >synopsis
sed -n '/^\.Sh DESCRIPTION/,/^\.Sh ENV/s/^\.Ss \([a-z][a-z-]*\)$/\1/p' "$root/docs/man/steptrace.1" | sort >sections
grep -rhs --include=CMakeLists.txt '^steptrace_verb(' "$root"/{converter,analyses} | sed 's/.*(\([a-z-]*\) .*/\1/' |
    sort >registered
comm -23 table registered | sed 's/$/: in no CMakeLists.txt/'
for page in synopsis sections; do
    comm -23 table $page | sed "s/$/: not in the manual's $page/"
    comm -13 registered $page | sed "s/$/: in the manual's $page only/"
done
# the manual's sections stand in the order of the help
sed -n 's/^  \([a-z-]*\)  .*/\1/p' help >order
sed -n '/^\.Sh DESCRIPTION/,/^\.Sh ENV/s/^\.Ss \([a-z][a-z-]*\)$/\1/p' "$root/docs/man/steptrace.1" | grep -xFf order | diff order -
# a build may lack commands of analyses, the pages have all
sed -n '/^<!-- commands:/,/^<!-- end/s/^| \(.*\) | \(.*\)|$/\1 \2/p' "$root/README.md" | grep -v '^command\|^---' |
    sed 's/[`*]//g; s/ *$//' >readme
sed -n '/^Other:/q; s/^  \([a-z-]*\)  */\1 /p; s/^\([A-Z].*\):$/\1/p' help >rows
grep '^[a-z]' readme | cut -d' ' -f1 | sort | comm -23 - registered | sed 's/$/: in README only/'
comm -13 table registered | sed 's/$/ /' | grep -vf - readme >built || cp readme built
diff rows built
# the groups of the manual and of the index of the documentation, as `GROUP: COMMAND`
awk '/^[A-Z]/ { group = $0; next } { print group ": " $1 }' rows >groups
awk '/^The commands, in each group/ { here = 1 } here && /^\.El/ { exit } here && sub(/^\.It /, "") { group = $0 }
    here && /^\.Cm / { for (i = 2; i <= NF; i += 2) print group ": " $i }' "$root/docs/man/steptrace.1" >groups_of_manual
awk -F' [|] |^[|] | [|]$' '/^## Commands/ { here = 1; next } /^## / { here = 0 }
    here && /`\]/ { n = split($3, parts, "`"); for (i = 2; i <= n; i += 2) print $2 ": " parts[i] }' "$root/docs/README.md" >groups_of_index
for page in groups_of_manual groups_of_index; do
    comm -13 table registered | sed 's/^/: /; s/$/$/' | grep -vf - $page >built || cp $page built
    diff groups built | sed "s/^/$page: /"
done
for verb in $(cat table); do
    steptrace $verb --help | head -n 1 | grep -v "^usage: steptrace $verb\>"
    steptrace help $verb | cmp - <(steptrace $verb -h)
done
steptrace version | sed 's/[0-9.]*$/N/; q'
echo "-- no line is longer than a terminal of 80 columns"
for verb in help $(cat table); do
    steptrace $verb --help
done | cat - help | awk 'length > 80'
