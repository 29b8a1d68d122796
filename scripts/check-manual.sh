#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-manual.sh: are the man pages well-formed?  And do the links of all pages lead somewhere?
set -euo pipefail
cd "$(dirname "$0")/.."
mandoc -T lint -W warning docs/man/*.[1-8]
scripts/check-links.py .
