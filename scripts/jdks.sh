#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# jdks.sh: JDKs that this Debian does not have, in a directory with Debian unstable, for the tests.
set -euo pipefail

usage() {
    cat <<'END'
usage: scripts/jdks.sh make DIRECTORY          makes it, or completes it (root; 2 GB, five minutes)
       scripts/jdks.sh list DIRECTORY          each JDK in it: feature version, tab, home in it
       scripts/jdks.sh run DIRECTORY [COMMAND...]
                                               runs a command with DIRECTORY as its root directory
The command sees the source tree, /proc, /dev, /sys and /tmp of this machine under their own names,
and its working directory is the present one, if it is among these. The mounts exist in a mount
namespace of the command only. STEPTRACE_JDKS=DIRECTORY makes CMake add JVM tests for these JDKs.
END
}

versions=(21 26 27 28)
# What the tests run there, and the libraries of this build that they need.
tools=(python3 jattach unzip zip procps libminizip1t64 libsqlite3-0 libncursesw6 libzstd1 liblzma5 libdw1t64 libxxhash0)

# as_root COMMAND...: with a mount namespace of its own.
as_root() {
    local map=()
    [ "$(id -u)" = 0 ] || map=(--map-root-user)
    unshare "${map[@]}" --mount --propagation private "$@"
}

make_directory() {
    local dir=$1 packages=("${tools[@]}") version mirror
    mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null |
        sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\) .*/\2/p' |
        head -n 1) || true
    [ -e "$dir/usr/bin/apt-get" ] ||
        debootstrap --variant=minbase sid "$dir" "${mirror:-http://deb.debian.org/debian}"
    for version in "${versions[@]}"; do
        packages+=("openjdk-$version-jdk-headless")
    done
    # A mirror may lag behind, or be a snapshot: what it signed is taken after its date, too.
    run_in "$dir" apt-get -qq -o Acquire::Check-Valid-Until=false update
    run_in "$dir" env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -y --no-install-recommends install "${packages[@]}"
}

# list_jdks DIRECTORY: by symbolic links that are relative, so that this needs no chroot.
list_jdks() {
    local home version
    for home in "$1"/usr/lib/jvm/*/; do
        home=${home%/}
        if [ -L "$home" ] || [ ! -e "$home/bin/javac" ] || [ ! -r "$home/release" ]; then
            continue
        fi
        version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$home/release")
        printf '%s\t%s\n' "${version:-0}" "${home#"$1"}"
    done | sort -n
}

# run_in DIRECTORY COMMAND...
run_in() {
    local dir=$1 source
    shift
    source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
    # shellcheck disable=SC2016 # expanded by the inner shell
    as_root bash -c '
        set -e
        dir=$1 source=$2 here=$3
        shift 3
        for path in /proc /dev /sys /tmp "$source"; do
            mkdir -p "$dir$path"
            mount --rbind "$path" "$dir$path"
        done
        exec chroot "$dir" sh -c '\''cd "$1" 2>/dev/null || cd /; shift; exec "$@"'\'' sh "$here" "$@"
    ' bash "$dir" "$source" "$PWD" "$@"
}

[ $# -ge 2 ] || {
    usage >&2
    exit 2
}
verb=$1
shift
directory=$(realpath -m "$1")
shift
if [ "$verb" != make ] && [ ! -d "$directory/usr/lib/jvm" ]; then
    echo "jdks.sh: $directory has no JDKs: make it with scripts/jdks.sh make" >&2
    exit 2
fi
[ $# -gt 0 ] || set -- /bin/bash
case $verb in
    make) make_directory "$directory" ;;
    list) list_jdks "$directory" ;;
    run) run_in "$directory" "$@" ;;
    *) usage >&2 && exit 2 ;;
esac
