#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-release.sh [--tag]: do all places say the same version (CMakeLists.txt, CHANGELOG.md, CITATION.cff,
# debian/changelog, docs/tutorial.md's example, check-install.sh)?  --tag: and can this commit get the tag, that
# is, is the tree clean, does nothing wait in the changelog, and does no other commit have the tag?
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^project(steptrace VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
failed=0
fail() {
    echo "$*" && failed=1
}
# same WHAT SAYS
same() {
    [ "$2" = "$version" ] || fail "$1: says '$2', CMakeLists.txt '$version'"
}
# the changelog's lines between its first two headings of versions
waiting() {
    awk '/^## /{ n++; next } n == 1 && NF' CHANGELOG.md
}
same CHANGELOG.md "$(sed -n 's/^## \[\([0-9.]*\)\].*/\1/p' CHANGELOG.md | head -n 1)"
same CITATION.cff "$(sed -n 's/^version: //p' CITATION.cff)"
same debian/changelog "$(sed -n '1s/.*(\(.*\)-.*/\1/p' debian/changelog)"
same docs/tutorial.md "$(sed -n 's/^producer  *StepTrace libtracer.so //p' docs/tutorial.md)"
same tests/abi "$(basename tests/abi/*.abi.xz .abi.xz | sed 's/.*-//').${version##*.}"
same scripts/check-install.sh "$(sed -n 's/^find_package(StepTrace \([0-9.]*\) .*/\1/p' scripts/check-install.sh).${version##*.}"
grep -q '^## \[Unreleased\]' CHANGELOG.md || fail 'CHANGELOG.md: no heading [Unreleased] for what comes next'
if [ "${1:-}" = --tag ]; then
    [ -z "$(git status --porcelain)" ] || fail 'there are changes that are not committed'
    [ -z "$(waiting)" ] || fail 'CHANGELOG.md: lines under [Unreleased] belong to the release'
    tagged=$(git rev-parse -q --verify "v$version^{commit}" || true)
    [ -z "$tagged" ] || [ "$tagged" = "$(git rev-parse HEAD)" ] || fail "v$version is the tag of $tagged"
    [ "$failed" = 1 ] || echo "next: git tag -a v$version -m 'StepTrace $version'"
fi
[ "$failed" = 1 ] || echo "version $version everywhere"
exit "$failed"
