# SPDX-License-Identifier: Apache-2.0
"""The recorder hurts no program, and loses nothing that it promises."""
import glob
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from native import LIBRARY, STEPTRACE, counts, program, record, records, run, steptrace

ROUNDS = 20000


def text_of(name):
    with open(name) as file:
        return file.read()


class Harm(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)

    def path(self, name):
        return os.path.join(self.scratch.name, name)

    def odd(self, what, rounds=ROUNDS, name='run.step', code=0, **more):
        done = record(self.path(name), program('odd'), what, rounds, cwd=self.scratch.name, **more)
        self.assertEqual(done.returncode, code, (what, done))
        return done

    def sizes(self, trace, size):
        return sum(1 for words in records(trace) if words[0] == 'alloc' and words[2] == str(size))

    def check(self, trace):
        self.assertIn('consistent', steptrace('check', trace))

    def test_descriptors(self):
        """None of the program's numbers is a file of the recorder's."""
        done = self.odd('files')
        self.assertEqual(done.stderr, '')
        self.assertEqual(os.path.getsize(self.path('own/as-stderr')), 0)
        self.assertEqual(self.sizes(self.path('run.step'), 100), ROUNDS)

    def test_alone(self):
        """No thread, no descriptor, no child, no signal mask: chromium and unshare look for that."""
        self.odd('alone')
        self.odd('alone', name='run-%p.step')

    def test_main_thread_ends(self):
        self.odd('exit-thread')
        self.assertEqual(self.sizes(self.path('run.step'), 100), ROUNDS)

    def test_raw_forks(self):
        """The child of a bare fork leaves the parent's trace alone, and has one of its own."""
        for how in ('raw', '_Fork'):
            self.odd(how)
            trace = self.path('run.step')
            self.check(trace)
            self.assertEqual(self.sizes(trace, 3000), ROUNDS)
            self.assertEqual(self.sizes(trace, 2000), 0)
            self.odd(how, name=how + '-%p.step')
            traces = glob.glob(self.path(how + '-*.step'))
            self.assertEqual(sorted((self.sizes(name, 2000), self.sizes(name, 3000))
                                    for name in traces), [(0, ROUNDS), (ROUNDS, 0)])

    def test_file_size_limit(self):
        """`ulimit -f` is the program's: it is not killed by what the recorder writes."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20 << 20, 20 << 20))
        trace = self.path('run.step')
        done = run([STEPTRACE, 'record-malloc', '-O', 'level=1', '-o', trace, '--', program('odd'),
                    'churn', 100000], preexec_fn=limit)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.sizes(trace, 100), 100000)

        def tight():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        trace = self.path('tight.step')
        done = run([STEPTRACE, 'record-malloc', '-o', trace, '--', program('odd'), 'churn', 10],
                   preexec_fn=tight)
        self.assertEqual(done.returncode, 1)
        self.assertIn('File too large', done.stderr)
        self.assertFalse(os.path.exists(trace))

    def test_limit(self):
        """The file is never longer, and what it has ends for all threads at one moment."""
        trace = self.path('run.step')
        for limit, most, words in (('100k', 100 << 10, ('lives', 200000, 'exit')),
                                   ('1m', 1 << 20, ('churn',)), ('700k', 700 << 10, ('churn',))):
            done = run([STEPTRACE, 'record-malloc', '-O', 'overwrite=yes,limit=' + limit, '-o', trace, '--',
                        program(words[0]), *words[1:]])
            self.assertNotIn(done.returncode, (1, 2), done.stderr)
            self.assertIn('limit reached', done.stderr)
            self.assertLessEqual(os.path.getsize(trace), most)
            self.assertGreater(os.path.getsize(trace), most * 0.4)
            self.assertRegex(steptrace('info', trace), r'end +limit')
            self.check(trace)

    def test_limit_at_the_end(self):
        """The limit is reached while the drain takes what a program left that has ended."""
        trace = self.path('run.step')
        run([STEPTRACE, 'record-malloc', '-o', trace, '--', program('churn')])
        whole = os.path.getsize(trace)
        for percent in (70, 80, 85, 90, 92, 94, 95, 96, 97, 98, 99):
            done = run([STEPTRACE, 'record-malloc', '-O', f'overwrite=yes,limit={whole * percent // 100}',
                        '-o', trace, '--', program('churn')])
            self.assertNotIn(done.returncode, (1, 2), done.stderr)
            self.check(trace)

    def on_small_disk(self, megabytes, *command):
        """In a tmpfs that only this command sees, which leaves what is in it."""
        script = ('mkdir -p disk && mount -t tmpfs -o size=%sm tmpfs disk || exit 77\n'
                  '"$@"; code=$?; umask 0; for i in disk/*; do cp "$i" .; done; exit $code' % megabytes)
        if shutil.which('unshare') is None:
            self.skipTest('unshare is not there')
        done = run(['unshare', '-rm', 'sh', '-c', script, 'sh', *command], cwd=self.scratch.name)
        if done.returncode == 77 or 'unshare' in done.stderr:
            self.skipTest('a small file system cannot be mounted here')
        return done

    def test_dropped(self):
        """Exit status 0 means that nothing is missing; a program that fails keeps its own."""
        for code, wanted in ((0, 3), (7, 7)):
            done = run([STEPTRACE, 'record-malloc', '-O', 'overflow=drop,buffer=1m', '-o', self.path('run-%p.step'),
                        '--', 'sh', '-c', '"$0"; exit $1', program('churn'), str(code)])
            self.assertEqual(done.returncode, wanted, done)
            self.assertRegex(done.stderr, 'events were dropped while the buffers or the disk were full')

    def test_full_disk(self):
        """The program does as ever; what fits is a whole trace, and is said to be cut."""
        for megabytes in (8, 9, 10):
            done = self.on_small_disk(megabytes, STEPTRACE, 'record-malloc', '-o', 'disk/run.step',
                                      program('churn'))
            self.assertEqual((done.returncode, len(done.stdout.split())), (3, 3), done)
            self.assertIn('the trace ends here', done.stderr)
            self.assertIn('No space left on device', done.stderr)
            self.assertIn('the trace ends before its program did: the disk was full', done.stderr)
            trace = self.path('run.step')
            self.assertFalse(os.path.exists(trace + '.live'))
            info = run([STEPTRACE, 'info', trace])
            self.assertRegex(info.stdout, r'end +disk-full')
            self.assertIn('the disk was full', info.stderr)
            self.assertEqual(info.returncode, 3)
            steptrace('check', trace, expect=3)
            self.assertGreater(counts(trace, expect=3)['alloc'], 10000)
            os.remove(trace)

    def test_full_disk_at_start(self):
        done = self.on_small_disk(2, STEPTRACE, 'record-malloc', '-o', 'disk/run.step',
                                  program('churn'))
        self.assertEqual((done.returncode, len(done.stdout.split())), (1, 3), done)
        self.assertIn('No space left on device', done.stderr)
        self.assertEqual([name for name in os.listdir(self.scratch.name) if 'run.step' in name], [])

    def test_first_process(self):
        """In a container of its own it reaps what it is the parent of then."""
        words = ['unshare', '-rpf', '--mount-proc', STEPTRACE, 'record-malloc', '-o',
                 self.path('run-%p.step'), '--', 'sh', '-c',
                 '(:); (:); i=0; while grep -q "^State:.Z" /proc/[0-9]*/status && [ $i -lt 100 ]; do i=$((i + 1)); '
                 'sleep 0.2; done; [ $i = 100 ] && echo "not reaped"; exit 3']
        if shutil.which('unshare') is None or run(words[:3] + ['true']).returncode != 0:
            self.skipTest('no container can be made here')
        done = run(words)
        self.assertEqual((done.returncode, done.stdout), (3, ''), done.stderr)

    def wait_for_drain(self, trace):
        while any(self.drains(trace)):
            time.sleep(0.01)
        self.assertFalse(os.path.exists(trace + '.live'))

    def test_killed_in_realloc(self):
        """What it had given away, another thread has: the trace has the free without the rest, also
        where the drain was killed before."""
        for with_drain in (False, True):
            trace = self.path('drain-%d.step' % with_drain)
            environment = dict(os.environ, STEPTRACE_MALLOC='file=' + trace, LD_PRELOAD=' '.join(
                (LIBRARY, os.path.join(os.path.dirname(program('')), 'libslot_malloc.so'))))
            with subprocess.Popen([program('odd'), 'resize-slot', '0'], env=environment,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
                process.stdout.readline()
                if with_drain:
                    drain, = self.drains(trace)
                    self.kill_drain(drain)
                process.communicate(b'x')
            self.assertEqual(process.returncode, -signal.SIGKILL)
            if with_drain:
                self.assertNotIn('breaches', steptrace('check', trace, expect=3))
                steptrace('recover', trace)
            else:
                self.wait_for_drain(trace)
            self.check(trace)
            slot = [words for words in records(trace) if words[2:3] == ['7777']]
            self.assertEqual([words[0] for words in slot], ['alloc', 'alloc'])
            found = [words[0] for words in records(trace) if words[1] == slot[0][1]]
            self.assertEqual(found, ['alloc', 'free', 'alloc'])

    def test_killed_alone(self):
        """Without steptrace at its side: the drain makes the trace whole."""
        trace = self.path('run.step')
        environment = dict(os.environ, LD_PRELOAD=LIBRARY, STEPTRACE_MALLOC='file=' + trace)
        done = run([program('lives'), 100000, 'kill'], env=environment)
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.wait_for_drain(trace)
        self.assertTrue(100001 <= counts(trace)['alloc'] <= 100010)
        self.assertRegex(steptrace('info', trace), r'end +killed')

    def kill_drain(self, pid):
        """Until it is a zombie, or gone: before, it still has its files, and their locks."""
        os.kill(pid, signal.SIGKILL)
        while True:
            try:
                if text_of('/proc/%d/stat' % pid).rsplit(') ', 1)[1][0] in 'ZX':
                    return
            except OSError:
                return
            time.sleep(0.01)

    def drains(self, trace):
        for folder in glob.glob('/proc/[0-9]*'):
            try:
                words = text_of(folder + '/cmdline').split('\0')
            except OSError:
                continue
            if words[0].endswith('steptrace-drain') and trace in words:
                yield int(os.path.basename(folder))

    def test_drain_killed(self):
        """What the program did until both were killed can be recovered."""
        trace = self.path('run.step')
        with subprocess.Popen([STEPTRACE, 'record-malloc', '-o', trace, 'sh', '-c',
                               'x=$(seq 3000); echo; read y; kill -9 $$'], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            drains = list(self.drains(trace))
            self.assertEqual(len(drains), 1)
            self.kill_drain(drains[0])
            _, told = process.communicate('\n')
        self.assertEqual(process.returncode, 128 + signal.SIGKILL)
        self.assertIn('run.step.live', told)
        self.check(trace)
        self.assertTrue(counts(trace)['alloc'] > 20)

    def fill_buffers(self, trace, number, options=''):
        """The drain gets this signal before the program fills its buffers, which it gives up then."""
        environment = dict(os.environ, LD_PRELOAD=LIBRARY,
                           STEPTRACE_MALLOC='file=%s,buffer=1m,%s' % (trace, options))
        with subprocess.Popen([program('odd'), 'fill', '400000'], env=environment, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            drain, = self.drains(trace)
            if number == signal.SIGKILL:
                self.kill_drain(drain)
            else:
                os.kill(drain, number)
            process.stdin.write('x')
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), 'full\n')
            if number == signal.SIGSTOP:
                os.kill(drain, signal.SIGCONT)
            process.communicate('x')
        self.assertEqual(process.returncode, 0)

    def says_it_is_cut(self, trace):
        """Its end is missing: everything says so, and what is there fits together."""
        self.assertRegex(steptrace('info', trace, expect=3), r'state +cut')
        self.assertRegex(steptrace('info', trace, expect=3), r'missing-after-ns +\d+')
        self.assertRegex(steptrace('info', trace, expect=3), r'end +failed')
        for verb in ('check', 'stats'):
            done = run([STEPTRACE, verb, trace])
            self.assertEqual(done.returncode, 3, done.stdout)
            self.assertIn('the end of the trace was lost', done.stderr)
            self.assertNotIn('breach:', done.stdout)
            self.assertNotIn('breaches', done.stdout)
        self.assertLess(counts(trace, expect=3)['alloc'], 5 * 400000)

    def test_drain_killed_long_before_the_end(self):
        """Most of the program is missing, and no free comes without its allocation."""
        for options in ('', 'stack=0'):
            trace = self.path('run%s.step' % len(options))
            self.fill_buffers(trace, signal.SIGKILL, options)
            self.says_it_is_cut(trace)
            done = run([STEPTRACE, 'recover', trace])
            self.assertEqual(done.returncode, 3)
            self.assertIn('the end of the trace was lost', done.stderr)
            self.says_it_is_cut(trace)

    def test_drain_stopped(self):
        """It closes the trace, which ends where the program gave up."""
        trace = self.path('run.step')
        self.fill_buffers(trace, signal.SIGSTOP)
        self.wait_for_drain(trace)
        self.says_it_is_cut(trace)

    def test_exec(self):
        """Each program of a process has its trace, in any format, and none is overwritten."""
        words = (program('lives'), 10, 'exec', program('lives'), 2000, 'return')
        for ending in ('.step', '.hatf.gz'):
            done = record(self.path('one' + ending), *words)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn('one-2%s: program 2 of the process: ' % ending, done.stderr)
            self.assertTrue(11 <= counts(self.path('one' + ending))['alloc'] <= 20)
            self.assertTrue(2001 <= counts(self.path('one-2' + ending))['alloc'] <= 2010)
            done = record(self.path('all-%p' + ending), *words)
            self.assertEqual((done.returncode, done.stderr.count('fault')), (3, 0), done.stderr)
            names = [os.path.basename(name) for name in glob.glob(self.path('all-[0-9]*'))]
            self.assertEqual(len(names), 2, names)
            self.assertTrue(any(re.fullmatch(r'all-\d+-2' + re.escape(ending), name)
                                for name in names), names)
            index = text_of(self.path('all-index.tsv')).splitlines()
            self.assertEqual(len(index), 3)
            self.assertEqual([line.split('\t')[3] for line in index[1:]], ['1', '2'])
            self.assertEqual([line.split('\t')[5] for line in index[1:]], ['exec', 'exit'])
            for name in names:
                os.remove(self.path(name))
        script = 'exec sh -c \'exec "$0" 30 exec "$0" 40 return\' ' + program('lives')
        done = record(self.path('four.step'), 'sh', '-c', script)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual([counts(self.path('four-%d.step' % image))['alloc'] // 10
                          for image in (3, 4)], [3, 4])

    def test_why_nothing_was_recorded(self):
        done = run([STEPTRACE, 'record-malloc', '-p', os.getpid()])
        self.assertEqual(done.returncode, 2)
        self.assertIn('a running process cannot be recorded', done.stderr)
        done = record(self.path('run.step'), '/bin/true', env=dict(
            os.environ, STEPTRACE_MALLOC_DRAIN='/nowhere'))
        self.assertEqual(done.returncode, 1)
        self.assertIn('steptrace-drain is not where', done.stderr)
        special = self.path('special')
        shutil.copy('/bin/true', special)
        os.chmod(special, 0o6755)
        done = run([STEPTRACE, 'record-malloc', '-o', self.path('run.step'), special],
                   env=dict(os.environ, STEPTRACE_MALLOC_DRAIN='/nowhere'))
        self.assertEqual(done.returncode, 1)
        self.assertIn('special rights', done.stderr)


if __name__ == '__main__':
    unittest.main(verbosity=2)
