#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-manual.sh: are the man pages well-formed?  And does every page and format page that the
# README and the index name exist?
set -euo pipefail
cd "$(dirname "$0")/.."
mandoc -T lint -W warning docs/man/*.[1-8]
status=0
for page in README.md docs/README.md docs/formats/*.md; do
    while read -r link; do
        [ -e "$(dirname "$page")/$link" ] || { echo "$page: no such file: $link" && status=1; }
    done < <(grep -oE '\]\([^)#:]+' "$page" | cut -c3-)
done
exit $status
