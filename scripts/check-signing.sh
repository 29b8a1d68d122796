#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-signing.sh DIRECTORY: sign-release.sh's signatures hold, and not for other files, sums or keys.
set -euo pipefail
sign=$(realpath "$(dirname "$0")/sign-release.sh")
command -v ssh-keygen >/dev/null || { echo 'no ssh-keygen: skipped' && exit 77; }
rm -rf "$1"
mkdir -p "$1/release"
cd "$1"
for name in key other; do
    ssh-keygen -q -t ed25519 -N '' -C '' -f $name
    echo "release $(cat $name.pub)" >$name.signers
done
echo one >'release/a package.deb'
echo two >release/steptrace.spdx.json
refuse() { # REASON SIGNERS
    if "$sign" --verify release "$2" >told 2>&1; then
        echo "check-signing: $1 is taken" && exit 1
    fi
}
"$sign" release key >/dev/null
"$sign" --verify release key.signers >/dev/null
refuse "another's key" other.signers
cp -r release whole
restore() {
    rm -rf release
    cp -r whole release
}
echo three >release/steptrace.spdx.json
refuse 'another file' key.signers
restore
rm release/steptrace.spdx.json
refuse 'a missing file' key.signers
restore
echo more >release/more.deb
refuse 'a file more' key.signers
restore
echo three >release/steptrace.spdx.json
(cd release && sha256sum -- 'a package.deb' steptrace.spdx.json >SHA256SUMS)
refuse 'other sums' key.signers
restore
rm release/SHA256SUMS.sig
refuse 'no signature' key.signers
echo 'signing: 6 faults are found'
