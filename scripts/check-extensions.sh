#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-extensions.sh EXTENSION FUNCTION...: does the extension export its entry point and nothing else,
# so that it cannot take the place of another library's functions in the program that loads it?
set -euo pipefail
status=0
while [ $# -ge 2 ]; do
    exported=$(nm -D --defined-only "$1" | awk '{ print $3 }')
    if [ "$exported" != "$2" ]; then
        echo "$(basename "$1") exports other names than $2:"
        head -n 5 <<<"$exported"
        status=1
    fi
    shift 2
done
exit $status
