#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""attach.py STEPTRACE AGENT JAVA_HOME: `steptrace attach` and `record --report` with real JVMs: for a time and until
stopped, of another user, in other mount and PID namespaces with a /tmp of its own, and JVMs that refuse."""
import json
import os
import pathlib
import pty
import pwd
import re
import select
import shutil
import signal
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
        for (int i = 0; i < args.length; i++)
            kept[i] = new byte[1 << 20];
        System.out.println("busy");
        while (args.length > 0)
            Thread.sleep(1000);
        for (int i = 0;; i++) {
            step(i);
            if (i % 500 == 0)  // readers of a running trace see whole blocks only
                Thread.sleep(1);
        }
    }
}
'''
RUNNING = '''
public class Running {
    static Object kept;
    public static void main(String[] args) throws Exception {
        System.out.println("busy");
        for (;;) {
            for (int i = 0; i < 100; i++)
                kept = new byte[10000];
            Thread.sleep(1);
        }
    }
}
'''


def require(condition, text):
    if not condition:
        sys.exit(text)


def steptrace(*words, code=0, says=None, before=(), **more):
    done = subprocess.run([*before, STEPTRACE, *words], capture_output=True, text=True, check=False, timeout=120,
                          env=dict(os.environ, STEPTRACE_AGENT=AGENT), **more)
    require(done.returncode == code, f'{words}: exit code {done.returncode}, not {code}: {done.stderr}')
    require(says is None or says in done.stderr, f'{words}: {done.stderr!r} has not {says!r}')
    return done


class Jvm:
    """Runs Busy until the end of the `with`. `held`: it holds as many MiB and does nothing."""

    def __init__(self, *options, before=(), directory='.', program='Busy', held=0):
        self.command = [*before, f'{JAVA}/java', '-Xmx64m', '-XX:+UseSerialGC', *options, '-cp', directory, program, *['held'] * held]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        require(self.process.stdout.readline() == 'busy\n', f'{self.command} does not run')
        self.pid = self.process.pid
        while 'java' not in os.path.basename(os.readlink(f'/proc/{self.pid}/exe')):
            children = pathlib.Path(f'/proc/{self.pid}/task/{self.pid}/children').read_text(encoding='ascii').split()
            self.pid = int(children[0])
        return str(self.pid)

    def __exit__(self, *_):
        subprocess.run(['kill', '-9', str(self.pid)], check=False, capture_output=True)
        self.process.kill()
        self.process.communicate()


def objects_in(trace):
    """Of the program; the trace may be running still."""
    done = subprocess.run([STEPTRACE, 'dump', '--class', '[B', '--site', 'Busy.step', '--kind', 'OA', trace],
                          capture_output=True, text=True, check=False, timeout=120)
    return done.stdout.count('\n')


def has_objects(trace):
    steptrace('check', trace)
    count = objects_in(trace)
    require(count > 5, f'{trace} has {count} objects of the program')


def wait_for_objects(trace):
    """Until a trace that another process has asked for begins, and the program has come to something."""
    end = time.monotonic() + 300
    while not os.path.exists(trace) or objects_in(trace) <= 5:
        require(time.monotonic() < end, f'{trace} does not begin')
        time.sleep(.1)


def attach_for(duration, trace, *words, **more):
    """A JVM that gets no processor makes nothing in a short time: it is given a longer one then."""
    while True:
        for old in (trace, trace + '.live'):
            pathlib.Path(old).unlink(missing_ok=True)
        done = steptrace('attach', '-d', f'{duration}ms', '-o', trace, *words, **more)
        if duration > 20000 or objects_in(trace) > 5:
            has_objects(trace)
            return done
        duration *= 4


def same_place():
    with Jvm() as pid:
        done = steptrace('attach', '-d', '1ms', '-o', 'warned.step', pid)
        require(('prints a warning' in done.stderr) == (VERSION >= 21), f'a word on the warning: {done.stderr}')
        done = attach_for(400, 'a.step', '-O', 'existing=no,stack=4', '--report', pid, says='a.html')
        require('a warning' not in done.stderr, f'a word on the warning for an agent that was there: {done.stderr}')
        require('<title>' in pathlib.Path('a.html').read_text(encoding='utf-8'), 'no page')
        kept = steptrace('paths', '--class', '[B', 'a.step', says='may be held by objects that the trace lacks')
        require('not reached from any root that the trace has: ' in kept.stdout, f'paths without existing objects: {kept.stdout}')
        steptrace('attach', '-o', 'b.step', '-O', 'stack=4', pid, says='--stop')
        wait_for_objects('b.step')
        steptrace('attach', '--stop', pid)
        has_objects('b.step')
        reasons(pid)
        left_alone(pid)
        ended_before(pid)
        waiting = subprocess.Popen([STEPTRACE, 'attach', '--wait', '-o', 'c.step', '-O', 'stack=4', pid],
                                   env=dict(os.environ, STEPTRACE_AGENT=AGENT), stderr=subprocess.DEVNULL)
        wait_for_objects('c.step')
        waiting.terminate()
        require(waiting.wait(timeout=60) == 0, 'an interrupted wait is no failure')
        has_objects('c.step')


def ended_itself():
    """A trace that a limit or a guard has ended is waited for no longer; a guard's ends early."""
    with Jvm() as pid:
        for words, option, code in (['-d', '10min'], 'limit=256k', 0), (['--wait'], 'max-pause=1us', 3):
            begun = time.monotonic()
            told = steptrace('attach', *words, '-o', 'limited.step', '-O', option, '-O', 'snapshot=every:200ms,existing=yes', pid, code=code,
                             says='until the trace ended by itself').stderr
            require('refuses' not in told and time.monotonic() - begun < 110, f'the end was not seen: {told}')
            require((option[:9] in told) == (code == 3), f'the reason: {told}')
            os.unlink('limited.step')
        told = steptrace('attach', '-d', '4s', '-o', 'set.step', '-O', 'engine=sampled', '-O', 'sample=1k', '-O', 'rotate=1s', pid).stderr
        require(len(list(pathlib.Path('.').glob('set.*.step'))) > 2, f'a ring ended before its time: {told}')


CONTAINER = ('exec 3<"$1"/Busy.class && mount -t tmpfs none /tmp && mkdir /tmp/app && cat <&3 >/tmp/app/Busy.class && '
             'shift && exec "$@" 3<&-')


def container(directory, *more):
    """A /tmp of its own, where nothing of this one is to be seen."""
    return ['unshare', *more, '--mount', '--pid', '--fork', '--mount-proc', 'sh', '-c', CONTAINER, 'sh', str(directory)]


def attach_into(pid, trace, owner, **more):
    steptrace('attach', pid, code=2, says='--wait', **more)
    attach_for(400, trace, '-O', 'stack=4', pid, **more)
    about = os.stat(trace)
    require(about.st_mode & 0o7777 == 0o600 and about.st_uid == owner, f'{trace}: mode {about.st_mode:o} of user {about.st_uid}')
    left = [name for name in os.listdir(f'/proc/{pid}/root/tmp') if name.startswith(('steptrace', '.attach'))]
    require(not left, f'left there: {left}')


def other_namespaces(directory):
    with Jvm(before=container(directory), directory='/tmp/app') as pid:
        for trace in ('inner.step', 'again.step'):
            attach_into(pid, trace, os.geteuid())
    ended_jvm(directory)


def ended_jvm(directory):
    """The trace of a container that has ended is fetched all the same."""
    with Jvm(before=container(directory), directory='/tmp/app') as pid:
        waiting = subprocess.Popen([STEPTRACE, 'attach', '--wait', '-o', 'ended.step', '-O', 'stack=4', pid],
                                   env=dict(os.environ, STEPTRACE_AGENT=AGENT), stderr=subprocess.PIPE, text=True)
        place = pathlib.Path(f'/proc/{pid}/root/tmp')
        end = time.monotonic() + 300
        while not any(objects_in(str(trace)) > 5 for trace in place.glob('steptrace-*/run.step')):
            require(time.monotonic() < end, 'the trace in the container does not begin')
            time.sleep(.1)
        steptrace('attach', '--snapshot', pid)
        subprocess.run([STEPTRACE, 'attach', '-d', '1ms', '-o', 'second.step', pid], check=False, capture_output=True,
                       env=dict(os.environ, STEPTRACE_AGENT=AGENT))
        require(len(list(place.glob('steptrace-*/run.step'))) == 1, 'a second attach took the first one\'s trace away')
        subprocess.run(['kill', '-9', pid], check=True)
        told = waiting.communicate(timeout=60)[1]
        require(waiting.returncode == 3 and 'killed' in told and objects_in('ended.step') > 5, f'a container that has ended: {told}')


def own_page(page, title):
    about = os.stat(page)
    require(about.st_mode & 0o7777 == 0o600 and about.st_uid == 0, f'{page}: mode {about.st_mode:o} of user {about.st_uid}')
    text = pathlib.Path(page).read_text(encoding='utf-8')
    require('Busy.step' in text and title in text, f'{page} is not that of {title}')


def look_at(pid):
    """Root reads the trace with the rights of the JVM's user, as soon as there is an object in it."""
    status, begun = steptrace('attach', '--status', pid), time.monotonic()
    require('engine' in status.stdout, f'{status}')
    while ' [B' not in (watched := steptrace('watch', '--once', pid)).stdout:
        require(time.monotonic() - begun < 60, f'{watched}')


def other_user(directory):
    if not all(path.stat().st_mode & 1 for path in directory.parents):
        print(f'{directory} is closed to other users: not tried as one')
        return
    nobody = pwd.getpwnam('nobody')
    identity = ['setpriv', f'--reuid={nobody.pw_uid}', f'--regid={nobody.pw_gid}', '--clear-groups']
    directory.chmod(0o777)
    with Jvm(before=identity, directory=str(directory)) as pid:
        attach_for(300, 'theirs.step', '-O', 'stack=4', '--report', pid, says='theirs.html')
        own_page('theirs.html', 'theirs.step')
        steptrace('attach', '-o', 'looked-at.step', pid)
        look_at(pid)
        steptrace('attach', '--stop', pid)
    with Jvm() as pid:
        done = subprocess.run([*identity, STEPTRACE, 'attach', '-d', '1s', pid], capture_output=True, text=True, check=False)
        if done.returncode != 126:  # nobody may not even reach the program
            require(done.returncode == 1 and 'run this as root' in done.stderr, f'{done.returncode} {done.stderr}')
    if done.returncode != 126:
        ordinary_user(directory, identity, nobody.pw_uid)


def ordinary_user(directory, identity, uid):
    """One's own JVM, and one in a container of one's own, where root may go as well."""
    with Jvm(before=identity, directory=str(directory)) as pid:
        attach_for(300, 'own.step', '-O', 'stack=4', pid, before=identity)
    before = [*identity, *container(directory, '--user', '--map-root-user')]
    if subprocess.run([*identity, 'unshare', '--user', '--map-root-user', 'true'], check=False, capture_output=True).returncode != 0:
        print('ordinary users may not make namespaces here: not tried')
        return
    with Jvm(before=before, directory='/tmp/app') as pid:
        attach_into(pid, 'own-inner.step', uid, before=identity)
        attach_into(pid, 'their-inner.step', 0)
        attach_for(400, 'their-page.step', '-O', 'stack=4', '--report', pid, says='their-page.html')
        own_page('their-page.html', 'their-page.step')
        with subprocess.Popen([STEPTRACE, 'attach', '--wait', '-o', 'their-look.step', pid], env=dict(os.environ, STEPTRACE_AGENT=AGENT)) as waiting:
            try:
                begun = time.monotonic()
                while subprocess.run([STEPTRACE, 'attach', '--status', pid], capture_output=True, check=False).returncode != 0:
                    require(time.monotonic() - begun < 60, 'no trace was begun')
                    time.sleep(0.1)
                look_at(pid)
            finally:
                waiting.send_signal(signal.SIGINT)
        require(waiting.returncode == 0, f'--wait: {waiting.returncode}')


def reasons(pid):
    """What the agent refuses reaches whoever attached."""
    steptrace('attach', '-O', 'stak=4', pid, code=1, says="option 'stak' is unknown; did you mean 'stack'?")
    steptrace('attach', '-o', 'none/a.step', pid, code=1, says='none/: No such file or directory')
    steptrace('attach', '-o', 'n' * 300 + '.step', pid, code=1, says='.step: File name too long')
    steptrace('attach', '--stop', pid, code=1, says='no trace is being recorded')
    steptrace('attach', '--snapshot', pid, code=1, says='is being recorded')
    steptrace('attach', '-o', 'first.step', pid)
    steptrace('attach', '-o', 'other.step', pid, code=1, says=f'recorded already, to {os.getcwd()}/first.step')
    steptrace('attach', '--stop', pid)
    steptrace('attach', '--stop', pid, code=1, says='no trace is being recorded')


def running_frame():
    """What a method call allocates that had begun before is not recorded: the terminal, the trace and each reader say how much."""
    says = re.compile(r'not recorded: ([0-9.]+) of ([0-9.]+) MiB of main, in method calls that had begun')
    with Jvm(program='Running') as pid:
        for words in ['--report'], ['-O', 'stack=4']:
            pathlib.Path('running.step').unlink(missing_ok=True)
            told = steptrace('attach', '-d', '2s', *words, '-o', 'running.step', pid, code=3).stderr
            found = says.search(told)
            require(found is not None and float(found[1]) > .9 * float(found[2]) > .2, f'the terminal does not say what is missing: {told}')
            require(len(says.findall(told)) == 1, f'the terminal does not say once what is missing: {told}')
        steptrace('attach', '-o', 'until.step', pid)
        time.sleep(1)
        require(len(says.findall(steptrace('attach', '--stop', pid, code=3).stderr)) == 1, '--stop does not say once what is missing')
        done = steptrace('check', 'running.step', code=3)
        require('the trace is incomplete' in done.stdout and 'closed' not in done.stdout, f'check: {done.stdout}')
        for words in (['check'], ['info'], ['stats'], ['heap'], ['sql', 'select 1'], ['watch', '--once'], ['stats', '--fail-if', 'allocated > 1g']):
            done = steptrace(words[0], 'running.step', *words[1:], code=3)
            require(len(says.findall(done.stderr)) == 1, f'{words} does not say once what is missing: {done.stderr}')
        done = steptrace('compare', 'running.step', 'running.step', code=3)
        require(len(says.findall(done.stderr)) == 2, f'compare does not say of each trace what is missing: {done.stderr}')
        require(says.search(pathlib.Path('running.html').read_text(encoding='utf-8')) is not None, 'the page does not say what is missing')
        done = steptrace('attach', '-d', '2s', '-O', 'internals=none', '-o', 'blind.step', pid)
        require('not recorded' not in done.stderr, 'the JVM\'s counters were read with internals=none')


def on_terminal(words, ctrl_c=False):
    """All that stderr, a terminal, gets; Ctrl-C is typed when it says that it records."""
    child, terminal = pty.fork()
    if child == 0:
        os.execve(STEPTRACE, [STEPTRACE, *words], dict(os.environ, STEPTRACE_AGENT=AGENT))
    out, end = '', time.monotonic() + 120
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other side has been closed
            part = b''
        if not part:
            break
        out += part.decode()
        if ctrl_c and re.search(r'recording: [^\r]* events', out):
            os.write(terminal, b'\x03')
            ctrl_c = False
    os.close(terminal)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    require(code == 0, f'{words} on a terminal: exit code {code}: {out!r}')
    return out


def shown():
    """On a terminal it is said what is done, and at the end where the trace is."""
    line = re.compile(r'\rrecording: \d+ of 2\.00 s, [\d,]+ events, [\d.]+ [KM]?i?B')
    with Jvm() as pid:
        out = on_terminal(['attach', '-d', '2s', '-o', 'shown.step', pid])
        require('the agent is loaded' in out and line.search(out) is not None, f'nothing is shown: {out!r}')
        require('shown.step: recorded for' in out.rsplit('\r', 2)[-2], f'the end is not told: {out!r}')
        out = on_terminal(['attach', '--wait', '-o', 'wait.step', pid], ctrl_c=True)
        require(re.search(r'wait\.step: recorded for [^\n]*, until interrupted', out) is not None, f'Ctrl-C: {out!r}')
        told = steptrace('attach', '-d', '1s', '-o', 'quiet.step', pid).stderr
        require('recording' not in told and '\r' not in told, f'stderr is no terminal: {told!r}')
    out = on_terminal(['record', '-o', 'typed.step', f'{JAVA}/java', '-version'])
    require('recording to typed.step' in out, f'record: {out!r}')


def kill_client(trace, pid, when):
    client = subprocess.Popen([STEPTRACE, 'attach', '-d', '2s', '-O', 'stack=4', '-o', trace, pid], env=dict(os.environ, STEPTRACE_AGENT=AGENT),
                              stderr=subprocess.DEVNULL)
    when()
    client.kill()
    client.wait()


def left_alone(pid):
    """A client that is killed: its trace ends in its time, and what the JVM has not begun it does not begin."""
    kill_client('alone.step', pid, lambda: wait_for_objects('alone.step'))
    end = time.monotonic() + 120
    while os.path.exists('alone.step.live'):
        require(time.monotonic() < end, 'the trace of a client that was killed does not end')
        time.sleep(.1)
    has_objects('alone.step')
    os.kill(int(pid), signal.SIGSTOP)
    kill_client('stopped.step', pid, lambda: time.sleep(1))
    os.kill(int(pid), signal.SIGCONT)
    steptrace('attach', '-d', '200ms', '-o', 'next.step', pid)  # the requests are in order
    require(not os.path.exists('stopped.step') and os.path.exists('next.step'), 'a trace was begun for a client that has gone')


def ended_before(pid):
    """A trace that ends before its duration is over: the next one goes on."""
    steptrace('attach', '-O', 'duration=5s,stop=Busy.step', '-o', 'short.step', pid)
    end = time.monotonic() + 120
    while os.path.exists('short.step.live'):
        require(time.monotonic() < end, 'stop= does not end the trace')
        time.sleep(.05)
    steptrace('attach', '-O', 'stack=4', '-o', 'long.step', pid)
    time.sleep(6)
    steptrace('attach', '--stop', pid)
    steptrace('check', 'long.step')


def idle():
    """What a program held before was not allocated."""
    with Jvm(held=30) as pid:
        steptrace('attach', '-d', '1s', '-O', 'existing=yes', '--report', '-o', 'idle.step', pid)
    found = json.loads(steptrace('stats', '--json', 'idle.step', '--fail-if', 'allocated > 10m').stdout)['objects']
    require(found['existing_bytes'] > 30 << 20 and found['allocated_bytes'] < 1 << 20 and found['live_bytes'] > 30 << 20, f'{found}')
    for words, most in (('--allocated',), 1), (('--alive',), 40):
        rows = json.loads(steptrace('heap', '--json', '--at=end', *words, 'idle.step').stdout)['rows']
        arrays = [row['objects'] for row in rows if row['class'] == '[B' and row['bytes'] > 30 << 20]
        require(bool(arrays) == (most > 1), f'{words}: {rows[:3]}')
    allocated = steptrace('sql', 'idle.step', 'select sum(size) from objects where not existing', '--csv').stdout.split()[-1]
    require(int(allocated) == found['allocated_bytes'], f'{allocated} {found}')
    page = pathlib.Path('idle.html').read_text(encoding='utf-8')
    for key in 'allocated_bytes', 'existing_bytes':
        require(f'"{key}":{found[key]}' in page.replace(' ', ''), f'the page has not {key} {found[key]}')


def names_of_directories():
    """What the working directory is called is no option of the agent, nor a % sequence of its file names."""
    trap, percent = pathlib.Path('x,mode=666,file='), pathlib.Path('a%pb')
    trap.mkdir()
    percent.mkdir()
    with Jvm() as pid:
        steptrace('attach', '-d', '100ms', '-o', f'trap-{pid}.step', pid, code=1, says='no comma', cwd=trap)
        require(not list(trap.iterdir()) and not os.path.exists(f'/trap-{pid}.step'), 'options were taken from a name')
        steptrace('attach', '-d', '100ms', '-o', 'in.step', pid, cwd=percent)
        require((percent / 'in.step').exists() and not pathlib.Path(f'a{pid}b').exists(), 'a % of a directory was expanded')


def refusals():
    for option, reason in (('-XX:+DisableAttachMechanism', 'does not accept attach requests'), ('-Xrs', 'SIGQUIT'),
                           ('-XX:-EnableDynamicAgentLoading', 'does not accept agents')):
        if option == '-XX:-EnableDynamicAgentLoading' and VERSION < 21:
            continue
        with Jvm(option) as pid:
            steptrace('attach', '-d', '1s', pid, code=1, says=reason)
            require(os.path.exists(f'/proc/{pid}'), f'{option}: the JVM has ended')
    with subprocess.Popen(['sleep', '60']) as other:
        steptrace('attach', str(other.pid), code=1, says='not a JVM')
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
    for name in ('r.jfr', 'r.html', 'r.HTML', 'r.hatf.zip'):
        steptrace('record', '-o', name, f'{JAVA}/java', '-version', code=2, says='r.step')
        steptrace('attach', '-d', '1s', '--report', '-o', name, str(os.getpid()), code=2, says='r.step')
        require(not os.path.exists(name), f'{name} was made')
    steptrace('record', '-o', 'no.step', 'true', code=1, says='started no JVM')
    steptrace('record', '-o', 'no.step', 'sh', '-c', 'exit 7', code=7, says='started no JVM')
    done = steptrace('record', '-o', 'yes.step', 'sh', '-c', f'{JAVA}/java -version; exit 5', code=5)
    require('no trace was written' not in done.stderr and list(pathlib.Path('.').glob('yes-*.step')), f'a JVM of a script: {done.stderr}')


def main():
    if shutil.which('unshare') is None or shutil.which('setpriv') is None:
        sys.exit(77)
    work = pathlib.Path(tempfile.mkdtemp(prefix='attach'))
    os.chdir(work)
    try:
        for name, source in (('Busy', SOURCE), ('Running', RUNNING)):
            pathlib.Path(f'{name}.java').write_text(source, encoding='utf-8')
            subprocess.run([f'{JAVA}/javac', f'{name}.java'], check=True)
        running_frame()
        shown()
        names_of_directories()
        idle()
        same_place()
        ended_itself()
        refusals()
        record()
        if os.geteuid() == 0:
            if subprocess.run(['unshare', '--mount', '--pid', '--fork', 'true'], check=False, capture_output=True).returncode == 0:
                other_namespaces(work)
            other_user(work)
    finally:
        shutil.rmtree(work)


main()
