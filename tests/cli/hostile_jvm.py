#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile_jvm.py HOW PLACE [WORD]: a process of an ordinary user that looks like a JVM in a container: it has namespaces
and a /tmp of its own, a libjvm.so, a handler for SIGQUIT and an attach socket. When it gets a request, it does what HOW says
to whoever reads its trace. It prints its PID, then a line for each request. attach_hostile.py runs it."""
import ctypes
import mmap
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
NEW_USER, NEW_MOUNT = 0x10000000, 0x00020000
BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 0x40000
PAGES = ('page', 'pagelink', 'pagefifo', 'pageplace', 'pagemany')  # no namespaces of its own
HOW, PLACE, WORD = sys.argv[1], pathlib.Path(sys.argv[2]), (sys.argv[3:] + [''])[0]
PID = os.getpid()


def checked(result, what):
    if result != 0:
        raise OSError(ctypes.get_errno(), what)


def mount(source, target, kind=None, flags=BIND):
    checked(LIBC.mount(os.fsencode(source), os.fsencode(target), kind, flags, None), f'mount {source} {target}')


def enter_namespaces():
    uid, gid = os.getuid(), os.getgid()
    checked(LIBC.unshare(NEW_USER | NEW_MOUNT), 'unshare')
    pathlib.Path('/proc/self/setgroups').write_text('deny', encoding='ascii')
    pathlib.Path('/proc/self/uid_map').write_text(f'0 {uid} 1', encoding='ascii')
    pathlib.Path('/proc/self/gid_map').write_text(f'0 {gid} 1', encoding='ascii')
    mount('none', '/', flags=RECURSIVE | PRIVATE)


def become_jvm(root):
    """Its JDK lies in its /tmp."""
    server = root / 'lib/server'
    server.mkdir(parents=True)
    if HOW == 'release':
        os.mkfifo(root / 'release')
    else:
        (root / 'release').write_text('JAVA_VERSION="17.0.1"\n', encoding='ascii')
    (server / 'libjvm.so').write_bytes(bytes(4096))
    signal.signal(signal.SIGQUIT, lambda *_: None)
    with open(server / 'libjvm.so', 'rb') as file:
        return mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ)


def about(pid, trace):
    """Prints who the process that asks is, as this user namespace shows it, and this one; and tries to get at it."""
    for who in ('its', 'own'):
        status = pathlib.Path(f'/proc/{pid if who == "its" else PID}/status').read_text(encoding='ascii').splitlines()
        for line in status:
            if line.split(':')[0] in ('Uid', 'Gid', 'Groups', 'CapPrm', 'CapEff', 'CapInh', 'CapAmb'):
                print(who, ' '.join(line.split()))
    for name in ('fd', 'mem', 'root', 'environ'):
        try:
            if name == 'fd':
                os.listdir(f'/proc/{pid}/fd')
            elif name == 'root':
                os.listdir(f'/proc/{pid}/root')
            else:
                os.close(os.open(f'/proc/{pid}/{name}', os.O_RDONLY))
            print('reached', name)
        except OSError:
            print('refused', name)
    print('traced' if LIBC.ptrace(16, pid, 0, 0) == 0 else 'refused ptrace')
    trace.write_bytes(b'trace')


def spoil(trace):
    """The place in which the trace is expected."""
    if HOW == 'bind':
        trace.touch()
        mount(WORD, trace)
    elif HOW == 'bindown':
        trace.touch()
        (trace.parent / 'other').write_bytes(b'other')
        mount(trace.parent / 'other', trace)
    elif HOW == 'fifo':
        os.mkfifo(trace)
    elif HOW == 'livefifo':
        trace.write_bytes(b'trace')
        os.mkfifo(f'{trace}.live')
    elif HOW == 'link':
        trace.symlink_to(WORD)
    elif HOW == 'names':
        trace.write_bytes(b'trace')
        os.link(trace, trace.parent / 'second')
    elif HOW == 'directory':
        trace.mkdir()
    elif HOW == 'race-name':  # WORD: the output's name, in a directory of all
        trace.write_bytes(b'trace')
        pathlib.Path(WORD).write_bytes(b'theirs')
        os.chmod(WORD, 0o666)
    elif HOW == 'sparse':
        with open(trace, 'wb') as file:
            file.truncate(1 << 40)
    elif HOW in PAGES:
        spoil_pages(trace)
    elif HOW != 'nothing':
        trace.write_bytes(b'trace')


def spoil_pages(trace):
    """The JVM writes the trace itself; WORD is a whole one, then what its user would like to read or have replaced."""
    good, victim = WORD.split(',')
    if HOW == 'pagelink':
        trace.symlink_to(victim)
    elif HOW == 'pagefifo':
        os.mkfifo(trace)
    else:
        trace.write_bytes(pathlib.Path(good).read_bytes())
    for number in range(2, 9 if HOW == 'pagemany' else 2):
        trace.with_suffix(f'.{number}.step').write_bytes(pathlib.Path(good).read_bytes())
    if HOW == 'pageplace':
        trace.with_suffix('.html').symlink_to(victim)


def be_recorded():
    """As a recorded process it has a live file mapped; then something else has its name."""
    trace, live = pathlib.Path('/tmp/run.step'), pathlib.Path('/tmp/run.step.live')
    live.write_bytes(bytes(4096))
    with open(live, 'rb') as file:
        kept = mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ)
    trace.touch()
    if HOW == 'watchgood':
        trace.write_bytes(pathlib.Path(WORD).read_bytes())
    elif HOW == 'watchlink':
        trace.unlink()
        trace.symlink_to(WORD)
    elif HOW == 'watchfifo':  # over the mapped file, which keeps its name
        os.mkfifo('/tmp/fifo')
        mount('/tmp/fifo', live)
    elif HOW == 'watchpipe':
        trace.unlink()
        os.mkfifo(trace)
    elif HOW == 'watchbind':
        mount(WORD, trace)
        mount(WORD, live)
    return kept


def answer(listener):
    connection, _ = listener.accept()
    asked, _, _ = struct.unpack('3i', connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    data = b''
    while data.count(b'\0') < 5:
        data += connection.recv(4096)
    request = data.split(b'\0')[4].decode()
    if request.startswith('client='):  # where the agent would say what it thinks of the command
        request = request.split(',', 1)[1]
    if request.startswith('start'):
        trace = pathlib.Path(request.split('file=')[1].split(',')[0])
        if HOW == 'about':
            about(asked, trace)
        elif HOW == 'kill':
            print('start', flush=True)  # the end of that process ends this one
            os.kill(asked, signal.SIGKILL)
        else:
            spoil(trace)
    print(request.split(',')[0], flush=True)
    if HOW == 'escape':
        connection.sendall(b'1\n\x1b]0;title\x07 no\n')
    else:
        connection.sendall(b'0\nreturn code: 0\n')
    connection.close()


def listen(path, mode=0o600):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    os.chmod(path, mode)
    listener.listen(5)
    return listener


def main():
    if HOW == 'impostor':  # of the JVM with the number WORD, in the /tmp of all
        listener = listen(f'{PLACE}/.java_pid{WORD}', 0o666)
        print('listening', flush=True)
        listener.accept()
        print('connected', flush=True)
        return
    if HOW not in (*PAGES, 'plain'):
        enter_namespaces()
    if HOW == 'tmplink':  # a root directory of its own, whose /tmp is a link that begins at the root
        mount('tmpfs', PLACE, b'tmpfs', 0)
        (PLACE / 'tmp').symlink_to(WORD)
        kept = become_jvm(PLACE / 'jdk')
        os.chroot(PLACE)
        os.chdir('/')
    else:
        kept = become_jvm(PLACE)
        if HOW not in (*PAGES, 'plain'):
            mount(PLACE, '/tmp')
    if HOW == 'trigger':
        os.mkfifo(f'/tmp/.attach_pid{PID}')
    kept = be_recorded() if HOW.startswith('watch') else kept
    listener = None if HOW.startswith('watch') or HOW in ('tmplink', 'trigger', 'plain') else listen(f'/tmp/.java_pid{PID}')
    racers = []
    if HOW == 'race':
        victim, racer = WORD.split(',')
        for cpu in sorted(os.sched_getaffinity(0)):
            racers.append(subprocess.Popen([racer, victim, str(cpu)]))
    print(PID, flush=True)
    while listener is None:
        signal.pause()
    while kept:
        answer(listener)


main()
