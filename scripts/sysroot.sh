#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sysroot.sh ARCHITECTURE DIRECTORY PACKAGE...: unpacks Debian packages of another architecture, with
# all that they need, into a directory.  Nothing is installed on this machine and nothing of the
# packages is run; apt works in DIRECTORY/apt with the sources of this machine.
set -euo pipefail
architecture=$1
root=$2
shift 2
mkdir -p "$root"
root=$(realpath "$root")
state=$root/apt
mkdir -p "$state"/{lists,cache/archives/partial,etc}
: >"$state/status"

apt_there() {
    apt-get -qq -o APT::Architecture="$architecture" -o APT::Architectures::="$architecture" \
        -o Dir::State="$state" -o Dir::State::Lists="$state/lists" -o Dir::State::status="$state/status" \
        -o Dir::Cache="$state/cache" -o Debug::NoLocking=1 -o Acquire::Languages=none \
        -o Acquire::Retries=3 -o APT::Sandbox::User=root "$@" </dev/null
}

apt_there update
apt_there -y --download-only --no-install-recommends install "$@" >/dev/null
for package in "$state"/cache/archives/*.deb; do
    dpkg-deb -x "$package" "$root"
done
rm -rf "$state"
# What links by absolute paths into the system it was made for, does so here.
find "$root" -type l | while read -r link; do
    target=$(readlink "$link")
    [[ $target != /* ]] || ln -sfn "$(realpath -ms --relative-to="$(dirname "$link")" "$root$target")" "$link"
done
