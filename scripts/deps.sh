#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the project needs from the system, and how it gets there: Debian packages in groups, each
# installed only where it is missing.  Run it (`scripts/deps.sh build test`) or source it and call
# deps_install.  docs/dependencies.md gives the purpose of each package.

deps_build=(cmake ninja-build gcc libc6-dev bison flex pkg-config zlib1g-dev libzstd-dev liblzma-dev
    libminizip-dev libdw-dev libxxhash-dev libsqlite3-dev libncurses-dev systemtap-sdt-dev junit5 python3 openjdk-17-jdk-headless)
deps_demo=(unzip)
deps_test=(libcunit1-dev clang libclang-rt-14-dev clang-format clang-tidy codespell unzip zip zstd
    jattach mandoc protobuf-compiler
    valgrind sqlite3 gawk libjemalloc2 libtcmalloc-minimal4 libmimalloc2.0)
# What some tests are skipped without: large, or not to be had everywhere.
deps_optional=(chromium libjacoco-java abigail-tools heaptrack babeltrace2 tmux python3-dev
    python3-pandas python3-distributed python3-matplotlib)

# What scripts/pictures.py needs.
deps_pictures=(chromium pngquant tmux)

# What scripts/packages.sh, scripts/fresh.sh and scripts/aarch64.sh need besides.
deps_packages=(build-essential debhelper dh-python python3-dev debootstrap dpkg-dev fakeroot libcunit1-dev lintian git libbz2-dev)
deps_fresh=(debootstrap git python3)
deps_aarch64=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static)

# What tests/bench measures with besides: programs to trace, and packers.
deps_bench=(sqlite3 perl gawk graphviz gzip bzip2 xz-utils zstd libtomcat10-embed-java libtomcat10-java
    libh2-java wrk)

# deps_group NAME: the packages of a group, one a line.
deps_group() {
    case $1 in
        build) printf '%s\n' "${deps_build[@]}" ;;
        demo) printf '%s\n' "${deps_demo[@]}" ;;
        test) printf '%s\n' "${deps_test[@]}" ;;
        bench) printf '%s\n' "${deps_bench[@]}" ;;
        packages) printf '%s\n' "${deps_packages[@]}" ;;
        fresh) printf '%s\n' "${deps_fresh[@]}" ;;
        aarch64) printf '%s\n' "${deps_aarch64[@]}" ;;
        pictures) printf '%s\n' "${deps_pictures[@]}" ;;
        optional) printf '%s\n' "${deps_optional[@]}" ;;
        *) echo "deps.sh: no group '$1' (build, demo, test, optional, pictures, bench, packages, fresh, aarch64)" >&2 && return 2 ;;
    esac
}

# deps_missing PACKAGE...: those that are not installed.
deps_missing() {
    local package
    for package in "$@"; do
        dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' ||
            echo "$package"
    done
}

# deps_apt ARG...: apt-get as root, quiet, never asking.
deps_apt() {
    local root=()
    [ "$(id -u)" = 0 ] || root=(sudo -n)
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 \
        -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" </dev/null
}

# deps_fetch LOG PACKAGE...: installs; on a fresh machine the package lists come first.
deps_fetch() {
    local log=$1
    shift
    deps_apt install -y --no-install-recommends "$@" >"$log" 2>&1 && return 0
    deps_apt update >>"$log" 2>&1 || true
    deps_apt install -y --no-install-recommends "$@" >>"$log" 2>&1
}

# deps_install GROUP...: all packages of these groups are there afterwards, or it says what to do.
deps_install() {
    local group packages=() missing=() log
    for group in "$@"; do
        mapfile -t -O "${#packages[@]}" packages < <(deps_group "$group")
    done
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        echo "No apt-get here: going on with what is installed. On Debian 12 it would be:" >&2
        echo "  ${packages[*]}" >&2
        return 0
    fi
    mapfile -t missing < <(deps_missing "${packages[@]}")
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then
        echo "These packages are missing, and this is neither root nor may it use sudo:" >&2
        echo "  apt-get install ${missing[*]}" >&2
        return 1
    fi
    echo "Installing ${missing[*]}"
    log=$(mktemp)
    if ! deps_fetch "$log" "${missing[@]}"; then
        cat "$log" >&2
        rm -f "$log"
        echo "apt-get could not install: ${missing[*]}" >&2
        return 1
    fi
    rm -f "$log"
}

# deps_jdks: a line for each JDK found: feature version, tab, home.
deps_jdks() {
    local home version
    for home in /usr/lib/jvm/*/ ${JAVA_HOME:+"$JAVA_HOME"/}; do
        home=$(readlink -f "$home")
        if [ ! -x "$home/bin/javac" ] || [ ! -r "$home/release" ]; then
            continue
        fi
        version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$home/release")
        printf '%s\t%s\n' "${version:-0}" "$home"
    done | sort -u -k1,1n -k2,2
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    set -euo pipefail
    [ $# -gt 0 ] || set -- build demo test
    deps_install "$@"
fi
