#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""attach_hostile.py STEPTRACE RACER [PART...]: root runs `steptrace attach` on processes of an ordinary user that want root's
rights (hostile_jvm.py). Each part is a line of SECURITY.md's threat model. Runs as root, with user namespaces."""
import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

STEPTRACE, RACER = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
HOSTILE = pathlib.Path(__file__).with_name('hostile_jvm.py')
USER, OTHER = 4242, 4243
SECRET = b'secret of root\n'
TRACE, GOOD_CLASS = pathlib.Path(__file__).with_name('data') / 'traces/shop-1.step', 'Shop.order'
RACES = 25
PYTHON = '/usr/bin/python3' if os.path.exists('/usr/bin/python3') else sys.executable


def require(condition, text):
    if not condition:
        sys.exit(text)


def identity(uid):
    return ['setpriv', f'--reuid={uid}', f'--regid={uid}', f'--groups={uid},{uid + 100}']


def forget_socket():
    """Between fork and exec: a JVM that was killed and had this process's number may have left its socket."""
    pathlib.Path(f'/tmp/.java_pid{os.getpid()}').unlink(missing_ok=True)


class Hostile:
    """Runs hostile_jvm.py as an ordinary user until the end of the `with`."""

    def __init__(self, how, word='', user=USER, place=None):
        self.place = place or pathlib.Path(tempfile.mkdtemp(prefix=f'{how}-', dir='.')).resolve()
        if place is None:
            self.place.chmod(0o777)
        self.log = open(f'{how}.log', 'w+', encoding='utf-8')
        self.process = subprocess.Popen([*identity(user), PYTHON, HOSTILE, how, self.place, word], stdout=subprocess.PIPE,
                                        stderr=self.log, text=True, start_new_session=True, preexec_fn=forget_socket)
        first = self.process.stdout.readline().strip()
        self.log.seek(0)
        require(first, f'{how}: the hostile process does not run: {self.log.read()}')
        self.pid = first

    def __enter__(self):
        return self

    def lines(self):
        """All that it printed; ends it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        return self.process.stdout.read().splitlines()

    def __exit__(self, *_):
        self.lines()
        self.process.wait()
        self.log.close()


def deny_openat2():
    """As a kernel before 5.6: a seccomp filter by which openat2() does not exist."""
    words = ((0x20, 0, 0, 0), (0x15, 0, 1, 437), (0x06, 0, 0, 0x00050000 | 38), (0x06, 0, 0, 0x7fff0000))
    code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *word) for word in words))
    program = ctypes.create_string_buffer(struct.pack('HxxxxxxP', len(words), ctypes.addressof(code)))
    libc = ctypes.CDLL(None)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
        os._exit(99)


def attach(pid, output, *words, before=(), **more):
    return subprocess.run([*before, STEPTRACE, 'attach', '-d', '1ms', '-o', output, *words, pid], capture_output=True, text=True,
                          errors='replace', check=False, timeout=90,
                          env=dict(os.environ, STEPTRACE_AGENT=os.path.abspath('agent')), **more)


def refused(how, word='', says='', **more):
    """Ends with a message, in time, and leaves nothing under the output's name."""
    with Hostile(how, word) as jvm:
        done = attach(jvm.pid, f'{how}.step', **more)
        require(done.returncode == 1, f'{how}: exit code {done.returncode}: {done.stderr}')
        require(says in done.stderr, f'{how}: {done.stderr!r} has not {says!r}')
        left = [name for name in os.listdir() if name.startswith(f'{how}.step')]
        require(not left, f'{how}: {left} was made')
        lines = jvm.lines()
        require(how in ('tmplink', 'trigger') or 'start' in lines, f'{how}: the trap was not laid: {lines}')
        return lines


def accepted(how, **more):
    with Hostile(how) as jvm:
        done = attach(jvm.pid, f'{how}.step', **more)
        require(done.returncode == 3 and f'{how}.step: offset 0: not a STEP trace' in done.stderr,
                f'{how}: exit code {done.returncode}: {done.stderr}')
        about = os.stat(f'{how}.step')
        require(about.st_mode & 0o7777 == 0o600 and about.st_uid == 0, f'{how}: the output has mode {about.st_mode:o}')
        require(pathlib.Path(f'{how}.step').read_bytes() == b'trace', f'{how}: the output is another')
        os.unlink(f'{how}.step')
        left = [name for name in os.listdir(jvm.place) if name.startswith(('steptrace', '.attach'))]
        require(not left, f'{how}: left there: {left}')
        return jvm.lines()


def files_of_others(more):
    """No file that the JVM's user may not read, or that is none, comes into root's output."""
    refused('bind', os.path.abspath('secret'), **more)
    for device in ('/dev/zero', '/dev/null'):
        refused('bind', device, **more)
    refused('link', os.path.abspath('secret'), **more)
    refused('names', says='several names', **more)
    refused('directory', says='no regular file', **more)
    refused('nothing', says='no trace', **more)


def mount_points():
    refused('bind', os.path.abspath('secret'), says='mounted there')
    refused('bindown', says='mounted there')


def no_wait(more):
    """Nothing there blocks root."""
    refused('fifo', says='no regular file', **more)
    refused('trigger', says='no regular file', **more)
    accepted('release', **more)
    refused('livefifo', says='no regular file', **more)


def rights():
    """The process that acts there has the JVM's rights, no more, and that user cannot get into it."""
    lines = accepted('about', extra_groups=[0, 27, 100])
    its, own = ([line[4:] for line in lines if line.startswith(who)] for who in ('its', 'own'))
    require(len(its) == 7 and its[:3] == own[:3], f'the process is {its}, the JVM {own}')
    require(all(int(line.split()[1], 16) == 0 for line in its[3:]), f'the process has {its}')
    require(sum(line.startswith('refused') for line in lines) == 5, f'the JVM\'s user got at the process: {lines}')
    refused('kill', says='killed')


def impostor():
    """A socket that another user has put in the JVM's place gets no request."""
    common = pathlib.Path('/tmp')
    with Hostile('plain') as jvm:
        path = f'/tmp/.java_pid{jvm.pid}'
        try:
            with Hostile('impostor', jvm.pid, user=OTHER, place=common) as other:
                done = attach(jvm.pid, 'impostor.step')
                require(done.returncode == 1 and 'another user' in done.stderr, f'impostor: {done}')
                require(not other.lines(), 'another user\'s socket got the request')
        finally:
            pathlib.Path(path).unlink(missing_ok=True)


def tmp_link(more):
    """A link in the JVM's root directory does not lead out of it."""
    for word in ('victim', 'open'):
        before = os.stat(word).st_mtime_ns
        refused('tmplink', os.path.abspath(word), **more)
        require(os.stat(word).st_mtime_ns == before, f'tmplink: {word} was written to')


def disk():
    """The copy leaves half of what is free."""
    with Hostile('sparse') as jvm:
        script = 'mount -t tmpfs -o size=8m none "$1" && shift && "$@"; code=$?; df --output=used full | tail -1; ls full; exit $code'
        done = attach(jvm.pid, 'full/sparse.step', before=['unshare', '--mount', 'sh', '-c', script, 'sh', 'full'])
        require(done.returncode == 1 and 'half of the free space' in done.stderr, f'sparse: {done}')
        require(done.stdout.split() == ['0'], f'sparse: {done.stdout} was left')


def outputs():
    """What has the output's name stays."""
    for make in (lambda path: path.symlink_to('dangling'), lambda path: path.write_bytes(b'mine'), os.mkfifo):
        make(pathlib.Path('good.step'))
        before = os.lstat('good.step')
        with Hostile('good') as jvm:
            done = attach(jvm.pid, 'good.step')
        require(done.returncode == 3 and 'good.2.step' in done.stderr, f'good: {done}')
        require(os.lstat('good.step')[:-3] == before[:-3] and not os.path.exists('dangling'), 'good.step was replaced')
        about = os.stat('good.2.step')
        require(about.st_mode & 0o7777 == 0o600 and about.st_uid == 0, f'good: mode {about.st_mode:o}')
        os.unlink('good.step')
        os.unlink('good.2.step')


def taken_name():
    """A name that another user takes while root records keeps that user's file, and root's trace has another."""
    wanted = os.path.abspath('open/run.step')
    with Hostile('race-name', wanted) as jvm:
        done = attach(jvm.pid, wanted)
    require(done.returncode == 3 and 'run.2.step' in done.stderr, f'race-name: {done}')
    require(pathlib.Path(wanted).read_bytes() == b'theirs', 'the file of another user was replaced')
    about = os.stat('open/run.2.step')
    require(about.st_mode & 0o7777 == 0o600 and about.st_uid == 0, f'race-name: mode {about.st_mode:o}')


def terminal():
    with Hostile('escape') as jvm:
        done = attach(jvm.pid, 'escape.step')
        require(done.returncode == 1 and 'refuses' in done.stderr and '\x1b' not in done.stderr, f'escape: {done}')


def page_of(how, victim, code, **more):
    """Of a JVM without namespaces, which writes into a directory of its user; returns the page, or None."""
    good = os.path.abspath('good')
    with Hostile(how, f'{good},{victim}') as jvm:
        try:
            done = attach(jvm.pid, jvm.place / 'run.step', '--report', **more)
        finally:
            pathlib.Path(f'/tmp/.java_pid{jvm.pid}').unlink(missing_ok=True)
        require('start' in jvm.lines(), f'{how}: no trace was begun: {done}')
        require(done.returncode == code, f'{how} {victim}: exit code {done.returncode}: {done.stderr}')
        page = jvm.place / 'run.html'
        if how == 'pageplace' or not os.path.lexists(page):
            return None
        about = os.lstat(page)
        require(about.st_mode & 0o7777 == 0o600 and about.st_uid == 0, f'{how}: the page has mode {about.st_mode:o}')
        return page.read_text(encoding='utf-8')


def pages():
    """`--report` of another user's JVM: nothing but what that user may read comes into the page, and it goes nowhere else."""
    text = page_of('page', '/', 0)
    require(text is not None and '<title>' in text and GOOD_CLASS in text, 'there is no page of a good trace')
    for owner in (0, OTHER):  # of root's, and of another user
        os.mkdir(f'closed-{owner}')
        hidden = pathlib.Path(f'closed-{owner}/hidden.step').resolve()
        shutil.copy('good', hidden)
        for path, mode in ((hidden, 0o600), (hidden.parent, 0o755)):
            os.chmod(path, mode)
            os.chown(path, owner, owner)
        os.utime(hidden, (1 << 32, 1 << 32))  # somebody still writes it
        require(page_of('pagelink', hidden, 1) is None, f'the page shows a trace of user {owner}')
    require(page_of('pagefifo', '/', 1) is None, 'there is a page of a FIFO')
    before = pathlib.Path('secret').stat()
    page_of('pageplace', os.path.abspath('secret'), 1)
    after = pathlib.Path('secret').stat()
    require(pathlib.Path('secret').read_bytes() == SECRET and before.st_ino == after.st_ino, 'the page replaced a file of root')


def many_pages():
    """All pages of a JVM's traces together leave half of what is free."""
    place = pathlib.Path('many').resolve()
    place.mkdir()
    subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=4m,mode=777', 'none', place], check=True)
    try:
        with Hostile('pagemany', f'{os.path.abspath("good")},/', place=place) as jvm:
            done = attach(jvm.pid, place / 'run.step', '--report')
            pathlib.Path(f'/tmp/.java_pid{jvm.pid}').unlink(missing_ok=True)
        require(done.returncode == 1 and 'more than half of the space' in done.stderr, f'pagemany: {done}')
        sizes = [page.stat().st_size for page in place.iterdir() if page.suffix == '.html']
        require(0 < sum(sizes) < 2 << 20 and len(sizes) < 8, f'pagemany: pages of {sizes} bytes')
    finally:
        subprocess.run(['umount', place], check=True)


def watch():
    """What has the names of a recorded process's files neither blocks `watch` nor is printed."""
    for how, word in (('watchlink', 'secret'), ('watchbind', 'secret'), ('watchbind', '/dev/zero'), ('watchfifo', ''), ('watchpipe', '')):
        with Hostile(how, word and os.path.abspath(word)) as jvm:
            done = subprocess.run([STEPTRACE, 'watch', '--once', jvm.pid], capture_output=True, check=False, timeout=60)
            require(done.returncode in (1, 3), f'{how} {word}: exit code {done.returncode}: {done.stderr}')
            require(SECRET[:6] not in done.stdout + done.stderr, f'{how}: {done}')
    looks = ((['watch', '--once', '--top=0'], 'java/lang/String'), (['attach', '--status'], 'engine    '))
    with Hostile('watchgood', os.path.abspath('good')) as jvm:
        for words, shown in looks:
            done = subprocess.run([STEPTRACE, *words, jvm.pid], capture_output=True, text=True, check=False, timeout=60)
            require(shown in done.stdout, f'{words}: {done}')
    os.mkdir('closed')
    hidden = pathlib.Path('closed/hidden.step').resolve()
    shutil.copy('good', hidden)
    hidden.chmod(0o600)
    with Hostile('watchlink', hidden) as jvm:  # a trace that only root may read
        for words, shown in looks:
            done = subprocess.run([STEPTRACE, *words, jvm.pid], capture_output=True, text=True, check=False, timeout=60)
            require(done.returncode == 1 and shown not in done.stdout and 'Permission denied' in done.stderr, f'{words}: {done}')


def race():
    """Directories that appear over the place while root makes it: it gives none of them away."""
    before = os.stat('victim')
    with Hostile('race', f'{os.path.abspath("victim")},{os.path.abspath("racer")}') as jvm:
        for number in range(RACES):
            attach(jvm.pid, f'race-{number}.step')
            after = os.stat('victim')
            require((after.st_uid, after.st_gid, after.st_mode) == (before.st_uid, before.st_gid, before.st_mode),
                    f'attach number {number + 1} gave the directory to user {after.st_uid}')
            require(not os.listdir('victim'), f'attach number {number + 1} made {os.listdir("victim")} there')
        bound = jvm.lines().count('bound')
    require(bound > 0, f'no mount got over one of {RACES} directories: the race was not run')


OLD = {'preexec_fn': deny_openat2}
PARTS = {'files': lambda: files_of_others({}), 'files_old': lambda: files_of_others(OLD), 'mounts': mount_points,
         'no_wait': lambda: no_wait({}), 'no_wait_old': lambda: no_wait(OLD), 'rights': rights, 'impostor': impostor,
         'tmp_link': lambda: tmp_link({}), 'tmp_link_old': lambda: tmp_link(OLD), 'disk': disk, 'outputs': outputs,
         'taken_name': taken_name, 'terminal': terminal, 'pages': pages, 'many_pages': many_pages,
         'watch': watch, 'race': race}


def skip(reason):
    print(f'skipped: {reason}')
    sys.exit(77)


def main():
    if os.geteuid() != 0:
        skip('only root can act for another user')
    if shutil.which('setpriv') is None or shutil.which('unshare') is None:
        skip('setpriv or unshare is missing')
    work = pathlib.Path(tempfile.mkdtemp(prefix='steptrace-hostile-', dir='/var/tmp'))  # outside of /tmp, which is another one there
    work.chmod(0o755)
    os.chdir(work)
    try:
        if subprocess.run([*identity(USER), 'unshare', '--user', '--map-root-user', '--mount', 'true'], check=False,
                          capture_output=True).returncode != 0:
            skip('ordinary users may not make namespaces here')
        if subprocess.run([*identity(USER), 'test', '-x', RACER, '-a', '-r', HOSTILE], check=False).returncode != 0:
            skip(f'{RACER} is closed to other users')
        shutil.copy(RACER, 'racer')  # the build may lie in the /tmp that is another one there
        pathlib.Path('agent').write_bytes(b'agent')
        shutil.copy(TRACE, 'good')
        os.chmod('good', 0o644)
        pathlib.Path('secret').write_bytes(SECRET)
        os.chmod('secret', 0o600)
        for name, mode in (('victim', 0o755), ('open', 0o1777), ('full', 0o755)):
            os.mkdir(name)
            os.chmod(name, mode)
        for name in sys.argv[3:] or PARTS:
            PARTS[name]()
            print(name, flush=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
