#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record_names.py STEPTRACE AGENT JAVA_HOME: which files `record` and `attach` make where the name is taken, and whose
they are; as the first process of a container too, where each JVM has the process id 1."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

STEPTRACE, AGENT, JAVA = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), f'{sys.argv[3]}/bin/java'
SOURCE = '''
public class Waits {
    public static void main(String[] args) throws Exception {
        System.out.println("ready");
        System.in.read();
    }
}

class Keeps {
    static final java.util.List<long[]> kept = new java.util.ArrayList<>();

    public static void main(String[] args) {
        for (int i = 0; i < 1000; i++)
            kept.add(new long[8]);
    }
}

class Prints {
    static Object kept;

    static void make() {
        for (int i = 0; i < 70_000; i++)
            kept = new long[100];
    }

    public static void main(String[] args) {
        make();
        System.out.println("printed");
        System.exit(3);
    }
}
'''


def require(condition, text):
    if not condition:
        sys.exit(text)


def steptrace(*words, code=0, says=None):
    done = subprocess.run([STEPTRACE, *words], capture_output=True, text=True, check=False, timeout=120, stdin=subprocess.DEVNULL)
    require(done.returncode == code, f'{words}: exit code {done.returncode}, not {code}: {done.stderr}')
    require(says is None or says in done.stderr, f'{words}: {done.stderr!r} has not {says!r}')


def contents(*names):
    return {name: pathlib.Path(name).read_bytes() for name in names}


def record():
    words = ('record', '--report', '-o', 'run.step', '-e', 'class', JAVA, 'None')
    steptrace(*words, code=1, says='run.html')
    before = contents('run.step', 'run.html')
    steptrace(*words, code=1, says='run.step exists: the trace is run.2.step')
    require(before == contents('run.step', 'run.html'), 'files of the first recording were replaced')
    require(os.path.exists('run.2.html'), 'no page of the second recording')
    require(os.stat('run.2.step').st_mode & 0o777 == 0o600, 'others may read the trace')
    steptrace('record', '-O', 'overwrite=yes', '--mode=640', '-o', 'run.step', '-e', 'class', JAVA, 'None', code=1)
    require(before['run.step'] != pathlib.Path('run.step').read_bytes(), 'it was not replaced')
    require(os.stat('run.step').st_mode & 0o777 == 0o640, 'mode= was not taken')
    require(not os.path.exists('run.3.step'), 'run.3.step')
    steptrace('record', '--mode=77', JAVA, 'None', code=2, says='octal')


def handlers():
    """With method events, exceptions that the JVM throws often keep their stack traces."""
    said, flag = 'exceptions keep their stack traces', 'OmitStackTraceInFastThrow'
    tail = ('-o', 'flags.step', '-O', 'overwrite=yes,include=None', JAVA, '-XX:+PrintFlagsFinal', '-version')
    through = (*tail[:4], '/bin/sh', '-c', f'{JAVA} -XX:+PrintFlagsFinal -version')
    for events, command, kept in (('method', tail, True), ('class+all', tail, True), ('all', through, True), ('class', tail, False),
                                  ('method,engine=jvmti', tail, False)):
        done = subprocess.run([STEPTRACE, 'record', '-O', f'events={events}', *command], capture_output=True, text=True, check=True)
        value = next(line.split()[3] for line in done.stdout.splitlines() if flag in line)
        require((value == 'false') == kept and (said in done.stderr) == kept, f'{events}: {flag} is {value}: {done.stderr}')


def stacks():
    """A report has call stacks, of as many frames as were asked for; -f is -o."""
    for words, frames in ((['--report'], '64'), (['--report', '--stack', '4'], '4'), (['--report', '-Ostack=0'], '0'), ([], '0')):
        steptrace('record', *words, '-f', 'stacks.step', '-O', 'overwrite=yes', '-Oexisting=no', JAVA, '-Xmx64m', 'Waits')
        info = subprocess.run([STEPTRACE, 'info', '--json', 'stacks.step'], capture_output=True, check=True).stdout
        asked = json.loads(info)['properties'].get('stack', '0')
        require(asked == frames, f'{words}: stack={asked}')
    steptrace('heap', '--by', 'site', 'stacks.step', says='steptrace record --stack=16 java')
    steptrace('record', '--stack=1025', JAVA, 'Waits', code=2, says='at most 1024')


def snapshots():
    """What keeps objects alive is known after the command of README, unless that is not wanted or would take too long."""
    words = ('record', '--report', '-o', 'kept.step', '-O', 'overwrite=yes')
    steptrace(*words, JAVA, '-Xmx64m', 'Keeps')
    out = subprocess.run([STEPTRACE, 'paths', 'kept.step', '--class', 'long[]', '--json'], capture_output=True, check=True).stdout
    paths = {(path['objects'], path['path'][0]) for path in json.loads(out)['paths']}
    require((1000, 'static field Keeps.kept') in paths, f'who keeps them: {paths}')
    page = pathlib.Path('kept.html').read_text(encoding='utf-8')
    require('"retained":{' in page and 'Keeps.main(' in page, 'the page does not have it')
    subprocess.run([STEPTRACE, 'heap', '--retained', 'kept.step'], check=True, stdout=subprocess.DEVNULL)
    info = json.loads(subprocess.run([STEPTRACE, 'info', '--json', 'kept.step'], capture_output=True, check=True).stdout)
    took_ns = int(info['properties']['snapshot-ns'])
    shown = json.loads(page.split('id="data">', 1)[1].split('</script>', 1)[0])['summary']
    require(0 < took_ns == shown['last_ns'] - shown['first_ns'] - shown['running_ns'], f'the rate is of the snapshot as well: {shown}, {took_ns} ns')
    for more in (['--no-snapshot'], ['-O', 'snapshot=end:1ms'], ['-O', 'events=alloc'], ['-O', 'engine=sampled']):
        done = subprocess.run([STEPTRACE, *words, *more, JAVA, '-Xmx64m', 'Keeps'], capture_output=True, text=True, check=True)
        require(('no snapshot of references at the end' in done.stderr) == (more[-1] == 'snapshot=end:1ms'), f'{more}: {done.stderr}')
        sampled = 'engine=sampled' in more
        steptrace('paths', 'kept.step', '--class', 'long[]', code=3 if sampled else 1, says='sample' if sampled else 'record --report')


def summaries():
    """The largest sites are printed on stderr; what the program prints stays as it is, and so does its exit code."""
    words = [STEPTRACE, 'record', '--summary', '-o', 'summed.step', JAVA, '-Xmx64m', 'Prints']
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    require((done.returncode, done.stdout) == (3, 'printed\n'), f'{words}: {done}')
    rows = [line for line in done.stderr.splitlines() if 'Prints.make' in line]
    require('allocated ' in done.stderr and len(rows) == 1 and '70000' in rows[0], f'the summary: {done.stderr}')


def links():
    """Nothing is written through a link, and nothing but a trace is replaced."""
    pathlib.Path('notes').write_text('mine', encoding='utf-8')
    os.symlink('notes', 'link.step')
    os.symlink('nowhere', 'link.2.step')
    steptrace('record', '-o', 'link.step', '-e', 'class', JAVA, 'None', code=1, says='the trace is link.3.step')
    for name in ('notes', 'link.step', 'link.2.step'):
        steptrace('record', '-O', 'overwrite=yes', '-o', name, '-e', 'class', JAVA, 'None', code=1, says='not a trace of this user')
    require(pathlib.Path('notes').read_text(encoding='utf-8') == 'mine', 'notes was replaced')
    require(not os.path.exists('nowhere') and os.path.islink('link.step'), 'a link was followed')


def pages():
    """What has the page's name and is no file of the caller's is neither followed nor waited for; the trace is there."""
    os.symlink('notes', 'linked.html')
    os.mkfifo('piped.html')
    for name in ('linked', 'piped'):
        steptrace('record', '--report', '-o', f'{name}.step', '-e', 'class', JAVA, 'None', code=1, says=f'{name}.html: cannot create')
        steptrace('check', f'{name}.step')
    require(pathlib.Path('notes').read_text(encoding='utf-8') == 'mine', 'a page was written through a link')


def settled(*names):
    """What the files have when their writer, which the kernel ends with its container, is gone."""
    deadline, same, found = time.monotonic() + 60, 0, None
    while same < 5:
        require(time.monotonic() < deadline, f'{names} are still written')
        time.sleep(0.2)
        last, found = found, contents(*names)
        same = same + 1 if found == last else 0
    return found


def first_process():
    # Without the file in /tmp that is named by the process id, which is 1 in another test's container too.
    inside = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child', STEPTRACE, 'record', '-o', 'pid-%p.step', JAVA,
              '-XX:-UsePerfData', '-Xmx64m', 'Waits']
    with subprocess.Popen(inside, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as jvm:
        line = jvm.stdout.readline()
        require(line == 'ready\n', f'it does not run: {line!r}')
        jvm.kill()
    left = settled('pid-1.step', 'pid-1.step.live')
    done = subprocess.run(inside, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    require(done.returncode == 0, f'{done.returncode} {done.stderr}')
    require('pid-1.step exists: the trace is pid-1.2.step' in done.stderr, done.stderr)
    require(left == contents(*left), 'what the first JVM left was replaced')
    steptrace('check', 'pid-1.2.step')


def attach():
    with subprocess.Popen([JAVA, '-Xmx64m', 'Waits'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as jvm:
        line = jvm.stdout.readline()
        require(line == 'ready\n', f'it does not run: {line!r}')
        before = contents('run.step')
        steptrace('attach', '-d', '300ms', '-o', 'run.step', '--report', str(jvm.pid), says='the trace is run.3.step')
        require(os.path.exists('run.3.html'), 'no page of the attached trace')
        steptrace('attach', '-d', '300ms', '-o', 'run.step', '-O', 'overwrite=yes', str(jvm.pid))
        require(before != contents('run.step'), 'it was not replaced')
        require(os.stat('run.step').st_mode & 0o777 == 0o600, 'others may read the trace')
        jvm.communicate('\n')


def main():
    work = tempfile.mkdtemp(prefix='names')
    os.chdir(work)
    os.umask(0)
    os.environ['STEPTRACE_AGENT'] = AGENT
    try:
        pathlib.Path('Waits.java').write_text(SOURCE, encoding='utf-8')
        subprocess.run([JAVA + 'c', 'Waits.java'], check=True)
        record()
        handlers()
        stacks()
        snapshots()
        summaries()
        links()
        pages()
        attach()
        if os.geteuid() == 0 and shutil.which('unshare') is not None and \
                subprocess.run(['unshare', '--pid', '--fork', '--mount-proc', 'true'], check=False, capture_output=True).returncode == 0:
            first_process()
    finally:
        shutil.rmtree(work)


main()
