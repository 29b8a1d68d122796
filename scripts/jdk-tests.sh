#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# jdk-tests.sh: the JDK's own regression tests, without the agent and with it, and the difference.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd -P)

usage() {
    cat <<'END'
usage: scripts/jdk-tests.sh [OPTION]... [GROUP...]
  GROUP             a folder or test of the suites jdk and hotspot: jdk:java/lang/Throwable (all that --list has)
  --list            prints the groups that matter for the agent, and ends
  --java HOME       the JDK (/usr/lib/jvm/java-17-openjdk-amd64)
  --build BUILD     a build of this tree (build-gcc)
  --options LIST    options of the agent, without file= (events=all)
  --time SECONDS    the limit of each group, for each of its two runs (1800)
  --directory DIR   for sources, jtreg and results (~/.cache/steptrace/jdk-tests; 1 GB)
  --suite NAME      the Debian release whose source package openjdk-N is taken (this machine's; sid has the newest)
  --tests N         takes the tests of openjdk-N, where the mirror has none of the JDK's own version
  --keep            keeps the traces in DIR
Source package and jtreg come from the mirrors of this machine's apt; nothing is installed. Exit status 0: each test that
passed without the agent passed with it, or is one of those that no agent can pass; 1: not so, or a trace is not consistent;
77: what is needed cannot be had. docs/jvms.md tells what the results mean.
END
}

java=/usr/lib/jvm/java-17-openjdk-amd64 build=$top/build-gcc directory=${XDG_CACHE_HOME:-$HOME/.cache}/steptrace/jdk-tests suite='' tests='' rest=()
while [ $# -gt 0 ]; do
    case $1 in
        --help) usage && exit 0 ;;
        --list) exec python3 -B "$top/tests/jvm/jdk_suites.py" --list ;;
        --keep) rest+=("$1") && shift ;;
        --java | --build | --directory | --suite | --tests | --options | --time)
            [ $# -ge 2 ] || { usage >&2 && exit 2; }
            case $1 in
                --java) java=$2 ;;
                --build) build=$2 ;;
                --directory) directory=$2 ;;
                --suite) suite=$2 ;;
                --tests) tests=$2 ;;
                *) rest+=("$1" "$2") ;;
            esac
            shift 2
            ;;
        -*) usage >&2 && exit 2 ;;
        *) rest+=("$1") && shift ;;
    esac
done
lacks() {
    echo "jdk-tests.sh: $*" >&2
    exit 77
}
[ -x "$java/bin/javac" ] || lacks "$java is no JDK: --java names one"
build=$(realpath -m "$build")
[ -e "$build/agent/libtracer.so" ] ||
    lacks "no build of the agent: cmake --preset gcc && cmake --build build-gcc"
for tool in apt-get dpkg-deb tar xz python3; do
    command -v "$tool" >/dev/null || lacks "$tool is missing: this needs a Debian"
done
version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$java/release")
[ -n "$tests" ] || tests=$version
[ -n "$suite" ] || suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
mkdir -p "$directory"
directory=$(realpath "$directory")

# A configuration of apt of its own, with the sources of this machine's mirrors: no root, and no package is touched.
apt=$directory/apt-$suite
mirrors() {
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null |
        sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\) .*/\2/p' | sort -u
}
own_apt() {
    "$@" -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User="$(id -un)" \
        -o Acquire::Check-Valid-Until=false
}
prepare_apt() {
    [ ! -e "$apt/made" ] || return 0
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    local url
    for url in $(mirrors); do
        case $url in
            */debian | */debian/) echo "$url $suite main" ;;
            */debian-security | */debian-security/) [ "$suite" = sid ] || echo "$url $suite-security main" ;;
        esac
    done | sed 's/^/[signed-by=\/usr\/share\/keyrings\/debian-archive-keyring.gpg] /; p' |
        sed '1~2s/^/deb /; 2~2s/^/deb-src /' >"$apt/sources.list"
    [ -s "$apt/sources.list" ] || lacks "no mirror of Debian in /etc/apt"
    own_apt apt-get -qq update || lacks "no mirror of Debian answers"
    touch "$apt/made"
}

source=$directory/openjdk-$tests-$suite
if [ ! -e "$source/test/jdk/TEST.ROOT" ]; then
    prepare_apt
    mkdir -p "$source"
    # A mirror may have the list of a security update, and not its files.
    (cd "$apt" && for release in "" "--target-release=$suite"; do
        # shellcheck disable=SC2086 # no word if empty
        own_apt apt-get -qq --download-only --only-source $release source "openjdk-$tests" >/dev/null 2>errors && exit 0
    done && exit 1) || lacks "the source package openjdk-$tests of $suite cannot be had (--suite sid?): $(tail -n 1 "$apt/errors")"
    tar -xf "$apt/openjdk-$tests"_*.orig.tar.xz -C "$source" --strip-components=1 --wildcards '*/test'
    rm -f "$apt/openjdk-$tests"_*
fi
# Debian's package has all that jtreg needs in one folder; the tests say which version they need.
needed=$(sed -n 's/^requiredVersion *= *\([0-9]*\).*/\1/p' "$source/test/jdk/TEST.ROOT")
[ "${needed:-7}" -ge 8 ] || needed=7
jtreg=$directory/jtreg$needed
if [ ! -e "$jtreg/usr/share/jtreg/lib/jtreg.jar" ]; then
    prepare_apt
    (cd "$apt" && own_apt apt-get -qq download "jtreg$needed" >/dev/null) || lacks "$suite has no jtreg$needed"
    dpkg-deb -x "$apt/jtreg$needed"_*.deb "$jtreg"
fi
exec python3 -B "$top/tests/jvm/jdk_suites.py" --java "$java" --build "$build" --source "$source" \
    --jtreg "$jtreg/usr/share/jtreg" --results "$directory/results-$version" "${rest[@]}"
