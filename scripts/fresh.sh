#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fresh.sh: installs StepTrace on an empty Debian as README.md and docs/start/install.md say, and follows
# README's first trace there, so that no package can be missing that this machine happens to have.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd -P)
. "$top/scripts/deps.sh"

usage() {
    cat <<'END'
usage: scripts/fresh.sh [--directory DIRECTORY] WAY...
  WAY  demo, packages, cmake, tarball: the commands that follow <!-- fresh: WAY --> in the pages
       test: scripts/test.sh --quick
Each way gets an empty system of its own (debootstrap, git, a clone of HEAD; as root) below DIRECTORY, a new one in /var/tmp
by default, which is removed afterwards. The tarball of the last way is tried in the next Debian
release, too. Exit status 77: this is not root, or no mirror answers.
END
}

directory=''
if [ "${1:-}" = --directory ]; then
    directory=${2:?--directory needs a name}
    shift 2
fi
for way in "$@"; do
    case $way in
        demo | packages | cmake | tarball | test) ;;
        *) usage >&2 && exit 2 ;;
    esac
done
[ $# -gt 0 ] || { usage >&2 && exit 2; }
skip() {
    echo "fresh.sh: SKIPPED: $*"
    exit 77
}
[ "$(id -u)" = 0 ] || skip "an empty system is made by root"

# All mounts are in a mount namespace of their own, all processes in a PID namespace: none is left.
if [ -z "${STEPTRACE_FRESH:-}" ]; then
    unshare --mount --pid --fork true 2>/dev/null || skip "namespaces are not allowed here"
    # A name that others can foresee could be theirs already.
    [ -n "$directory" ] || directory=$(mktemp -d /var/tmp/steptrace-fresh.XXXXXX)
    STEPTRACE_FRESH=1 exec unshare --mount --pid --fork --kill-child --propagation private "$0" --directory "$directory" "$@"
fi

deps_install fresh
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null |
    sed -n 's/^URIs: *\([^ ]*\/debian\)\/\?$/\1/p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\/debian\)\/\? .*/\2/p' | head -n 1) || true
mirror=${mirror:-http://deb.debian.org/debian}
base_release=bookworm next_release=trixie

mkdir -p "$directory"
directory=$(realpath "$directory")
root=$directory/root
clone=$root/root/steptrace
leave() {
    local place
    for place in proc dev; do
        ! mountpoint -q "$root/$place" || umount -R --lazy "$root/$place"
    done
    rm -rf --one-file-system "${root:?}"
}
trap 'leave; rm -rf --one-file-system "${directory:?}"' EXIT

# base RELEASE: an empty system of this release, which each way gets a copy of.
base() {
    local base=$directory/base-$1
    if [ ! -e "$base.made" ]; then
        rm -rf --one-file-system "$base"
        debootstrap --variant=minbase --include=git,ca-certificates "$1" "$base" "$mirror" >"$directory/debootstrap.log" 2>&1 || {
            tail -n 5 "$directory/debootstrap.log"
            skip "debootstrap of $1 from $mirror failed"
        }
        # A machine that was just installed has had its first update.
        chroot "$base" apt-get -qq update
        touch "$base.made"
    fi
}

# enter RELEASE: $root becomes a new empty system.
enter() {
    base "$1"
    leave
    cp -a --reflink=auto "$directory/base-$1" "$root"
    mount -t proc proc "$root/proc"
    mount -t tmpfs -o mode=755 dev "$root/dev"
    local device
    for device in null zero full random urandom tty; do
        touch "$root/dev/$device"
        mount --bind "/dev/$device" "$root/dev/$device"
    done
    ln -s /proc/self/fd "$root/dev/fd"
    mkdir -p "$root/dev/pts" "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts" 2>/dev/null || true
    ln -s pts/ptmx "$root/dev/ptmx"
    mount -t tmpfs shm "$root/dev/shm"
    cp /etc/resolv.conf "$root/etc/"
}

# there: runs commands of standard input in the new system, in the clone, as somebody who types them.
# An empty system has no sudo, and root does not need it.
there() {
    local exports=$root/root/exports
    touch "$exports"
    {
        echo "set -euo pipefail; cd /root/steptrace; sudo() { \"\$@\"; }; . /root/exports"
        cat
        # What was exported holds for the next commands, too.
        echo 'declare -px PATH >/root/exports'
    } >"$root/root/commands"
    chroot "$root" env -i HOME=/root TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash /root/commands </dev/null
}

commands_of() {
    python3 "$top/scripts/readme-examples.py" --commands "$1" "$top/README.md" "$top/docs/start/install.md"
}

# follow WAY: types the page's commands.
follow() {
    commands_of "$1" >"$directory/typed"
    sed 's/^/  $ /' "$directory/typed"
    there <"$directory/typed" >"$directory/$1.log" 2>&1 || {
        tail -n 30 "$directory/$1.log"
        echo "fresh.sh: $1: FAILED"
        exit 1
    }
}

# first_trace: README's first trace with what was installed, its figures compared as everywhere.
first_trace() {
    mkdir -p "$root/root/first"
    cat >"$directory/shell" <<END
#!/bin/sh
# -c COMMAND, in the new system
exec chroot "$root" env -i HOME=/root TERM=dumb PATH=/usr/bin:/bin bash -c '. /root/exports; cd /root/first; eval "\$1"' bash "\$2"
END
    chmod +x "$directory/shell"
    python3 "$top/scripts/readme-examples.py" --shell "$directory/shell" "$top/README.md" "$root/root/first" || {
        echo "fresh.sh: README's first trace: FAILED"
        exit 1
    }
    # A build without SQLite or ncurses lacks something that README names.
    there <<'END'
cd /root/first
steptrace sql run.step 'select count(*) from objects' >/dev/null
steptrace watch --once run.step >/dev/null
END
}

install_jdk() {
    echo "apt-get -qq install -y --no-install-recommends $1 >/dev/null 2>&1" | there
}

clone() {
    git clone -q --no-hardlinks "file://$top" "$clone"
}

for way in "$@"; do
    started=$SECONDS
    echo "fresh.sh: $way, on an empty Debian $base_release"
    enter "$base_release"
    clone
    case $way in
        test) there <<<'scripts/test.sh --quick' ;;
        tarball)
            follow make-tarball
            tarball=$(ls "$clone"/build-packages/*.tar.gz)
            mv "$tarball" "$directory/"
            for release in "$base_release" "$next_release"; do
                enter "$release"
                mkdir "$clone"
                cp "$directory"/*.tar.gz "$clone/"
                case $release in
                    bookworm) install_jdk openjdk-17-jdk-headless ;;
                    *) install_jdk openjdk-21-jdk-headless ;;
                esac
                follow tarball
                echo "  Debian $release:"
                first_trace
            done
            ;;
        *)
            follow "$way"
            first_trace
            ;;
    esac
    echo "fresh.sh: $way: passed, $((SECONDS - started)) s"
done
