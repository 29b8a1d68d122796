#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# storm.sh: traced JVMs in all weathers.  It builds the project where build-gcc lacks what it needs,
# and runs each scenario of tests/storm once (some minutes), or for as long as --minutes=N says.
# `scripts/storm.sh --help` tells of the options, docs/results/storm.md what was found.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ " $* " != *" --build"* ]]; then
    [ -d build-gcc ] || cmake --preset gcc >/dev/null
    cmake --build build-gcc -j "$(nproc)" --target tracer steptrace java_tests nativecalls \
        storm_programs stormnatives stormsampler >/dev/null
fi
exec python3 -B tests/storm/storm.py "$@"
