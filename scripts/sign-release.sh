#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sign-release.sh DIRECTORY KEY: writes DIRECTORY/SHA256SUMS of all other files there, and its signature SHA256SUMS.sig
# by this private key of SSH.
# sign-release.sh --verify DIRECTORY SIGNERS: are these the files that one of the signers has signed? SIGNERS has lines
# `release KEYTYPE KEY` (ssh-keygen(1), ALLOWED SIGNERS).
set -euo pipefail
fail() {
    echo "sign-release: $1" >&2
    exit 1
}
files() { # all but the two, sorted
    find . -type f ! -name SHA256SUMS ! -name SHA256SUMS.sig -printf '%P\n' | LC_ALL=C sort
}
verify=''
[ "${1:-}" != --verify ] || { verify=1 && shift; }
[ $# = 2 ] || fail 'it needs a directory and a file with a key, or with signers'
[ -r "$2" ] || fail "$2 cannot be read"
key=$(realpath "$2")
cd "$1"
[ -n "$(files)" ] || fail "there are no files in $1"
if [ -z "$verify" ]; then
    rm -f SHA256SUMS.sig
    files | tr '\n' '\0' | xargs -0 sha256sum -- >SHA256SUMS
    ssh-keygen -q -Y sign -f "$key" -n steptrace SHA256SUMS
    echo "$(wc -l <SHA256SUMS) files: SHA256SUMS, SHA256SUMS.sig"
    exit 0
fi
ssh-keygen -q -Y verify -f "$key" -I release -n steptrace -s SHA256SUMS.sig <SHA256SUMS >/dev/null ||
    fail 'the signature is not one of the signers'
sha256sum --quiet --strict -c SHA256SUMS || fail 'a file is not the one that was signed'
[ "$(files)" = "$(sed 's/^[0-9a-f]*  //' SHA256SUMS)" ] || fail 'a file is not in SHA256SUMS'
echo "$(wc -l <SHA256SUMS) files are those that were signed"
