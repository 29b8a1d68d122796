#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# central.sh [--key KEY] BUILD DIRECTORY: what Maven Central takes of steptrace.jar, as central-VERSION.zip in the new directory:
# the JAR file, its POM, sources and documentation, each with checksums and a signature by gpg (KEY: which of the
# caller's keys; without it gpg's default).  It looks first whether the POM has all that Central wants.  Nothing is sent.
set -euo pipefail
key=()
[ "${1:-}" != --key ] || { key=(--local-user "$2") && shift 2; }
[ $# = 2 ] || { sed -n '3,5s/^# //p' "$0" >&2 && exit 2; }
top=$(cd "$(dirname "$0")/.." && pwd) build=$(realpath "$1")
mkdir "$2"
out=$(realpath "$2")
pom=$(ls "$build"/java/steptrace-*.pom)
version=$(basename "$pom" .pom) && version=${version#steptrace-}
group=$(sed -n 's/.*<groupId>\(.*\)<.*/\1/p' "$pom" | head -n 1)
for wanted in groupId artifactId version name description url licenses developers scm; do
    grep -q "<$wanted>" "$pom" || { echo "central.sh: $pom has no <$wanted>" >&2 && exit 1; }
done
if grep -q '\.invalid' "$pom" || [ "$group" = steptrace ]; then
    echo "central.sh: $pom names nobody: configure with -DSTEPTRACE_URL=https://... and with -DSTEPTRACE_GROUP=..., a" \
        "namespace that Central knows as yours" >&2
    exit 1
fi
place=$out/${group//.//}/steptrace/$version name=steptrace-$version
mkdir -p "$place"
cp "$build/java/steptrace.jar" "$place/$name.jar"
cp "$pom" "$place/$name.pom"
jar=(jar --create --date=2026-01-01T00:00:00Z)
"${jar[@]}" --file "$place/$name-sources.jar" -C "$top/java/src" .
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
api=$(sed -n 's/^STEPTRACE_JAR_JUNIT:INTERNAL=//p' "$build/CMakeCache.txt")
javadoc -quiet -Xdoclint:all,-missing -Werror -notimestamp --release 17 -encoding UTF-8 -d "$scratch" -classpath "$api" -sourcepath "$top/java/src" \
    steptrace steptrace.junit
"${jar[@]}" --file "$place/$name-javadoc.jar" -C "$scratch" .
cd "$place"
for file in "$name"*; do
    gpg --batch --yes --armor --detach-sign "${key[@]}" "$file"
    for sum in md5 sha1 sha256 sha512; do
        "${sum}sum" "$file" | cut -d' ' -f1 >"$file.$sum"
    done
done
cd "$out"
find "${group%%.*}" -type f | sort | zip -q -X "central-$version.zip" -@
echo "$out/central-$version.zip: $(unzip -l "central-$version.zip" | tail -n 1 | awk '{print $2}') files of $group:steptrace:$version"
