#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make-manuals.sh STEPTRACE SOURCE OUT: the man pages steptrace-VERB(1), of each verb's table of options and
# of what SOURCE, steptrace.1, says of the verb; and the shells' completions.
set -eu
steptrace=$1 source=$2 out=$3
rm -rf "$out/man" "$out/completion"
mkdir -p "$out/man" "$out/completion"
run() { ${EMULATOR:-} "$steptrace" "$@"; } # of a cross build
date=$(sed -n 's/^\.Dd //p' "$source")
for verb in $(run help | sed -n 's/^  \([a-z-]*\) .*/\1/p'); do
    page=$out/man/steptrace-$verb.1
    run help --manual "$verb" | sed "s/^\.Dd .*/.Dd $date/" >"$page"
    awk -v verb="$verb" '
        /^\.(Ss|Sh) / { inside = ($0 == ".Ss " verb); if (inside) print ".Sh DETAILS"; next }
        inside' "$source" >>"$page"
    printf '.Sh SEE ALSO\n.Xr steptrace 1\n' >>"$page"
done
run help --completion=bash >"$out/completion/steptrace"
run help --completion=zsh >"$out/completion/_steptrace"
run help --completion=fish >"$out/completion/steptrace.fish"
