#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""attach.py STEPTRACE AGENT JAVA_HOME: `steptrace attach` and `record --report` with real JVMs: for a time and until
stopped, of another user, in other mount and PID namespaces with a /tmp of its own, and JVMs that refuse."""
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import time

STEPTRACE, AGENT, JAVA = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), f'{sys.argv[3]}/bin'
VERSION = int(re.search(r'JAVA_VERSION="(\d+)', pathlib.Path(f'{sys.argv[3]}/release').read_text(encoding='utf-8')).group(1))
SOURCE = '''
public class Busy {
    static byte[][] kept = new byte[10000][];
    static void step(int i) { kept[i % kept.length] = new byte[100]; }
    public static void main(String[] args) throws Exception {
        System.out.println("busy");
        for (int i = 0;; i++) {
            step(i);
            if (i % 10 == 0)
                Thread.sleep(1);
        }
    }
}
'''


def require(condition, text):
    if not condition:
        sys.exit(text)


def steptrace(*words, code=0, says=None, **more):
    done = subprocess.run([STEPTRACE, *words], capture_output=True, text=True, check=False, timeout=120,
                          env=dict(os.environ, STEPTRACE_AGENT=AGENT), **more)
    require(done.returncode == code, f'{words}: exit code {done.returncode}, not {code}: {done.stderr}')
    require(says is None or says in done.stderr, f'{words}: {done.stderr!r} has not {says!r}')
    return done


class Jvm:
    """Runs Busy until the end of the `with`."""

    def __init__(self, *options, before=(), directory='.'):
        self.command = [*before, f'{JAVA}/java', '-Xmx64m', '-XX:+UseSerialGC', *options, '-cp', directory, 'Busy']

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        require(self.process.stdout.readline() == 'busy\n', f'{self.command} does not run')
        self.pid = self.process.pid
        while 'java' not in os.path.basename(os.readlink(f'/proc/{self.pid}/exe')):
            children = pathlib.Path(f'/proc/{self.pid}/task/{self.pid}/children').read_text(encoding='ascii').split()
            self.pid = int(children[0])
        return str(self.pid)

    def __exit__(self, *_):
        subprocess.run(['kill', '-9', str(self.pid)], check=False)
        self.process.kill()
        self.process.communicate()


def has_objects(trace):
    steptrace('check', trace)
    count = steptrace('dump', '--class', '[B', '--site', 'Busy.step', '--kind', 'OA', trace).stdout.count('\n')
    require(count > 5, f'{trace} has {count} objects of the program')


def wait_for_start(trace):
    """Of a trace that another process has asked for."""
    end = time.monotonic() + 120
    while not os.path.exists(trace + '.live') or os.path.getsize(trace) == 0:
        require(time.monotonic() < end, f'{trace} does not begin')
        time.sleep(.1)


def same_place():
    with Jvm() as pid:
        done = steptrace('attach', '-d', '400ms', '-o', 'a.step', '-O', 'existing=no,stack=4', '--report', pid, says='a.html')
        require(('Java' in done.stderr) == (VERSION >= 21), f'a word on the warning: {done.stderr}')
        has_objects('a.step')
        require('<title>' in pathlib.Path('a.html').read_text(encoding='utf-8'), 'no page')
        steptrace('attach', '-o', 'b.step', '-O', 'stack=4', pid, says='--stop')
        time.sleep(.3)
        steptrace('attach', '--stop', pid)
        has_objects('b.step')
        steptrace('attach', '-O', 'nonsense=1', pid, code=1, says='standard error of the program')
        waiting = subprocess.Popen([STEPTRACE, 'attach', '--wait', '-o', 'c.step', '-O', 'stack=4', pid],
                                   env=dict(os.environ, STEPTRACE_AGENT=AGENT), stderr=subprocess.DEVNULL)
        wait_for_start('c.step')
        time.sleep(.8)
        waiting.terminate()
        require(waiting.wait(timeout=60) == 0, 'an interrupted wait is no failure')
        has_objects('c.step')


def other_namespaces(directory):
    """A /tmp of its own, where nothing of this one is to be seen."""
    setup = ('exec 3<"$1"/Busy.class && mount -t tmpfs none /tmp && mkdir /tmp/app && cat <&3 >/tmp/app/Busy.class && '
             'shift && exec "$@" 3<&-')
    before = ['unshare', '--mount', '--pid', '--fork', '--mount-proc', 'sh', '-c', setup, 'sh', str(directory)]
    with Jvm(before=before, directory='/tmp/app') as pid:
        steptrace('attach', pid, code=2, says='--wait')
        steptrace('attach', '-d', '400ms', '-o', 'inner.step', '-O', 'stack=4', pid)
        has_objects('inner.step')
        left = [name for name in os.listdir(f'/proc/{pid}/root/tmp') if name.startswith(('steptrace', '.attach'))]
        require(not left, f'left there: {left}')


def other_user(directory):
    for path in [directory, *directory.parents][:-1]:
        if path != pathlib.Path('/tmp') and oct(path.stat().st_mode)[-1] not in '57':
            path.chmod(0o777)
    nobody = pwd.getpwnam('nobody')
    identity = ['setpriv', f'--reuid={nobody.pw_uid}', f'--regid={nobody.pw_gid}', '--clear-groups']
    directory.chmod(0o777)
    with Jvm(before=identity, directory=str(directory)) as pid:
        steptrace('attach', '-d', '300ms', '-o', 'theirs.step', '-O', 'stack=4', pid)
        has_objects('theirs.step')
    with Jvm() as pid:
        done = subprocess.run([*identity, STEPTRACE, 'attach', '-d', '1s', pid], capture_output=True, text=True, check=False)
        if done.returncode != 126:  # nobody may not even reach the program
            require(done.returncode == 1 and 'run this as root' in done.stderr, f'{done.returncode} {done.stderr}')


def refusals():
    for option, reason in (('-XX:+DisableAttachMechanism', 'no attach requests'), ('-Xrs', 'SIGQUIT'),
                           ('-XX:-EnableDynamicAgentLoading', 'takes no agents')):
        if option == '-XX:-EnableDynamicAgentLoading' and VERSION < 21:
            continue
        with Jvm(option) as pid:
            steptrace('attach', '-d', '1s', pid, code=1, says=reason)
            require(os.path.exists(f'/proc/{pid}'), f'{option}: the JVM has ended')
    with subprocess.Popen(['sleep', '60']) as other:
        steptrace('attach', str(other.pid), code=1, says='no JVM')
        require(other.poll() is None, 'a process that is no JVM was ended')
        other.kill()
    steptrace('attach', '4194305', code=1, says='no process')
    steptrace('attach', 'x', code=2)
    steptrace('attach', '--report', '1', code=2)


def record():
    steptrace('record', '--report', '-o', 'run-%p.step', '-e', 'class', f'{JAVA}/java', '-version', says='.html')
    require(len(list(pathlib.Path('.').glob('run-*.html'))) == 1, 'no page of the recording')
    steptrace('record', '--report', '-o', 'bad.step', '-e', 'class', f'{JAVA}/java', 'None', code=1)
    require(os.path.exists('bad.html'), 'no page of a program that fails')
    steptrace('record', '--report', f'{JAVA}/none', code=1)


def main():
    if shutil.which('unshare') is None or shutil.which('setpriv') is None:
        sys.exit(77)
    work = pathlib.Path(tempfile.mkdtemp(prefix='attach'))
    os.chdir(work)
    try:
        pathlib.Path('Busy.java').write_text(SOURCE, encoding='utf-8')
        subprocess.run([f'{JAVA}/javac', 'Busy.java'], check=True)
        same_place()
        refusals()
        record()
        if os.geteuid() == 0:
            if subprocess.run(['unshare', '--mount', '--pid', '--fork', 'true'], check=False, capture_output=True).returncode == 0:
                other_namespaces(work)
            other_user(work)
    finally:
        shutil.rmtree(work)


main()
