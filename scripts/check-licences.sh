#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-licences.sh: does each source file name its licence?  .reuse/dep5 speaks for the rest; `reuse lint`
# looks at all of it where it is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0
while read -r file; do
    head -n 5 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || { echo "$file: no SPDX line" && status=1; }
done < <(git ls-files | grep -E '\.(c|h|l|y|sh|py|cmake|in|map|js|css|html|java|[1-8])$|(CMakeLists|\.clang-.*)(\.txt)?$' |
    grep -v '^tests/.*/data/\|^tests/fuzz/corpus/')
if command -v reuse >/dev/null; then
    found=$(reuse lint 2>/dev/null) || { echo "$found" && status=1; }
fi
exit $status
