#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# show-build.sh LOG STATUS: how a build went that test.sh made, as a test: where it failed, the
# errors in its log and the log's end.
[ "$2" != 0 ] || exit 0
grep -E 'error|Error|FAILED:' "$1" | cut -c1-300 | head -n 40
echo '...'
tail -n 40 "$1" | cut -c1-300
exit "$2"
