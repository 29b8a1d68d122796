#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_versions.sh STEPTRACE DIRECTORY: files of every version of every format, as some release wrote
# them, are still read.  They are never made again: a new version gets a new file.
set -eu
steptrace=$1 directory=$2
status=0
for file in "$directory"/versions/*.step "$directory"/versions/*.zip; do
    case $file in *-heap*) continue ;; esac
    "$steptrace" dump "$file" | cmp - "$directory/../formats/text/trace.txt" || { echo "$file: other events" && status=1; }
done
for file in "$directory"/versions/*.hatf "$directory"/versions/*-heap*.step; do
    "$steptrace" dump "$file" | cmp - "$directory/versions/hatf.txt" || { echo "$file: other records" && status=1; }
done
for file in "$directory"/versions/*.mtf; do
    "$steptrace" dump "$file" | cmp - "$directory/../formats/text/trace.txt" || { echo "$file: other events" && status=1; }
done
exit $status
