#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-format.sh [--fix]: is all C source as clang-format has it?  --fix makes it so.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(--dry-run -Werror)
[ "${1:-}" != --fix ] || mode=(-i)
find agent converter format java-tests tests -name '*.[ch]' -print0 | xargs -0 -r clang-format "${mode[@]}"
