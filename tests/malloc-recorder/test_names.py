# SPDX-License-Identifier: Apache-2.0
"""test_names.py STEPTRACE PROGRAMS LIBRARY: which files the recorder creates, and which it leaves alone."""
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

from native import LIBRARY, STEPTRACE, program, record, run, steptrace


def content(path):
    with open(path, 'rb') as file:
        return file.read()


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


class Names(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)

    def path(self, name):
        return os.path.join(self.scratch.name, name)

    def put(self, name, text):
        with open(self.path(name), 'w') as file:
            file.write(text)

    def files(self):
        return sorted(os.listdir(self.scratch.name))

    def lives(self, name, *options, count=100):
        return run([STEPTRACE, 'record-malloc', *options, '-o', self.path(name), program('lives'),
                    count, 'return'])

    def moved(self, done, wanted, name):
        """The trace is there under the other name, and stderr has one line that says so."""
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stderr, f'steptrace: {self.path(wanted)} exists: '
                                      f'the trace is {self.path(name)}\n')
        steptrace('check', self.path(name))

    def test_next_free_name(self):
        self.assertEqual(self.lives('run.step').stderr, '')
        first = content(self.path('run.step'))
        self.moved(self.lives('run.step'), 'run.step', 'run.2.step')
        self.moved(self.lives('run.step'), 'run.step', 'run.3.step')
        self.assertEqual(self.files(), ['run.2.step', 'run.3.step', 'run.step'])
        self.assertEqual(content(self.path('run.step')), first)

    def test_live_file_of_another(self):
        """What a process left to be recovered has the name, even without its trace."""
        self.put('run.step.live', 'STEPLIVE')
        self.moved(self.lives('run.step'), 'run.step', 'run.2.step')
        self.assertEqual(self.files(), ['run.2.step', 'run.step.live'])

    def test_other_files(self):
        """Files that are no traces, and links wherever they lead, are left as they are."""
        self.put('notes.txt.step', 'mine')
        os.symlink('nowhere', self.path('dangling.step'))
        os.symlink('notes.txt.step', self.path('link.step'))
        self.moved(self.lives('notes.txt.step'), 'notes.txt.step', 'notes.txt.2.step')
        self.moved(self.lives('dangling.step'), 'dangling.step', 'dangling.2.step')
        self.moved(self.lives('link.step'), 'link.step', 'link.2.step')
        self.assertEqual(content(self.path('notes.txt.step')), b'mine')
        self.assertFalse(os.path.exists(self.path('nowhere')))

    @unittest.skipIf(os.geteuid() != 0, 'needs root')
    def test_device(self):
        """No file with a number beside it; a link to one is a name that is taken."""
        os.mknod(self.path('null.step'), stat.S_IFCHR | 0o600, os.makedev(1, 3))
        os.symlink('/dev/null', self.path('link.step'))
        for name in ('null.step', 'link.step'):
            done = run([program('lives'), '100', 'return'],
                       env={**os.environ, 'LD_PRELOAD': LIBRARY, 'STEPTRACE_MALLOC': f'file={self.path(name)}'})
            self.assertIn({'null.step': 'is a device', 'link.step': 'exists'}[name], done.stderr)
        self.assertEqual(self.files(), ['link.2.step', 'link.step', 'null.step'])

    def refused(self, name, reason):
        before = self.files()
        done = self.lives(name, '-O', 'overwrite=yes,required=yes')
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(reason, done.stderr)
        self.assertEqual(self.files(), before)

    def test_overwrite(self):
        self.lives('run.step')
        done = self.lives('run.step', '-O', 'overwrite=yes', count=200)
        self.assertEqual((done.returncode, done.stderr), (3, ''))
        self.assertEqual(self.files(), ['run.step'])
        steptrace('check', self.path('run.step'))
        self.assertGreater(int(steptrace('info', self.path('run.step')).split('records')[1].split()[0]), 300)
        self.put('run.step.live', 'STEPLIVE')
        done = self.lives('run.step', '-O', 'overwrite=yes')
        self.assertEqual((done.returncode, self.files()), (3, ['run.step']), done.stderr)

    def test_overwrite_replaces_traces_only(self):
        self.put('notes.step', 'mine, and longer than the mark of a trace')
        os.symlink('nowhere', self.path('dangling.step'))
        self.put('other.step.live', 'no live file')
        self.lives('run.step')
        os.link(self.path('run.step'), self.path('hard.step'))
        trace = content(self.path('run.step'))
        for name, reason in (('notes.step', 'not a trace of this user'), ('dangling.step', 'not a trace of this user'),
                             ('hard.step', 'not a trace of this user'), ('other.step', 'not a live file of this user')):
            self.refused(name, reason)
        self.assertEqual(content(self.path('run.step')), trace)
        self.assertEqual(content(self.path('notes.step'))[:4], b'mine')

    @unittest.skipIf(os.geteuid() != 0, 'needs root')
    def test_overwrite_leaves_those_of_others(self):
        self.lives('run.step')
        os.chown(self.path('run.step'), 4242, 4242)
        os.chmod(self.path('run.step'), 0o666)
        trace = content(self.path('run.step'))
        self.refused('run.step', 'not a trace of this user')
        self.assertEqual(content(self.path('run.step')), trace)

    def test_programs_of_one_process(self):
        """A further program of a process is beside the first, whatever number that has."""
        words = ['sh', '-c', f'exec {program("lives")} 100 return']
        self.assertEqual(record(self.path('run.step'), *words).returncode, 3)
        self.assertEqual(self.files(), ['run-2.step', 'run.step'])
        done = record(self.path('run.step'), *words)
        self.assertEqual((done.returncode, self.files()),
                         (3, ['run-2.step', 'run.2-2.step', 'run.2.step', 'run.step']), done.stderr)
        self.assertIn(f'{self.path("run.2-2.step")}: program 2 of the process', done.stderr)
        self.assertNotIn(self.path('run-2.step'), done.stderr)

    def test_converted(self):
        self.assertEqual(self.lives('run.hatf').returncode, 3)
        first = content(self.path('run.hatf'))
        self.moved(self.lives('run.hatf'), 'run.hatf', 'run.2.hatf')
        self.assertEqual(self.files(), ['run.2.hatf', 'run.hatf'])
        self.assertEqual(content(self.path('run.hatf')), first)
        self.assertEqual(mode(self.path('run.hatf')), 0o600)
        self.assertEqual(self.lives('my.txt.hatf').returncode, 3)  # the format's ending is the last
        self.moved(self.lives('my.txt.hatf'), 'my.txt.hatf', 'my.txt.2.hatf')
        for name in ('my.txt.hatf', 'my.txt.2.hatf'):
            os.unlink(self.path(name))
        done = self.lives('run.hatf', '-O', 'overwrite=yes')
        self.assertEqual((done.returncode, done.stderr, len(self.files())), (3, '', 2))

    def test_two_at_once(self):
        """One name, two programs that start together: each has a trace of its own."""
        environment = {**os.environ, 'LD_PRELOAD': LIBRARY, 'STEPTRACE_MALLOC': 'file=' + self.path('run.step')}
        for _ in range(5):
            running = [subprocess.Popen([program('lives'), '100', 'return'], env=environment,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(4)]
            for process in running:
                self.assertEqual(process.wait(), 3)
        while any(name.endswith('.live') for name in self.files()):
            time.sleep(0.01)
        self.assertEqual(len(self.files()), 20, self.files())
        for name in self.files():
            steptrace('check', self.path(name))

    def test_permissions(self):
        os.umask(0)
        self.addCleanup(os.umask, 0o022)
        script = f'{program("lives")} 100 return; stat -c %a "$0".live; stat -c %a "$0"'
        for options, wanted in (((), '600'), (('--mode=640',), '640'), (('-O', 'mode=0666'), '666')):
            name = self.path(f'm{wanted}.step')
            done = run([STEPTRACE, 'record-malloc', *options, '-o', name, 'sh', '-c', script, name])
            self.assertEqual(done.stdout.split()[-2:], [wanted, wanted], done.stderr)
            self.assertEqual(mode(name), int(wanted, 8))
        for bad in ('', '400', '700', '4600', '60x'):
            done = run([STEPTRACE, 'record-malloc', '--mode=' + bad, 'true'])
            self.assertEqual(done.returncode, 2, bad)
            self.assertIn('octal mode', done.stderr)

    def test_list(self):
        """run-index.tsv: one line a trace whatever a program is called, for its user alone, and not
        replaced."""
        os.symlink('nowhere', self.path('run-index.tsv'))
        done = record(self.path('run-%p.step'), 'sh', '-c',
                      f'{program("lives")} 100 return; exit 5', 'a\tb\nc\x1b[31m\x9bd')
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn(f'the list is {self.path("run-index.2.tsv")}', done.stderr)
        self.assertFalse(os.path.exists(self.path('nowhere')))
        self.assertEqual(mode(self.path('run-index.2.tsv')), 0o600)
        text = content(self.path('run-index.2.tsv'))
        self.assertEqual([byte for byte in text if byte < 32 and byte not in b'\t\n'], [])
        rows = [line.split('\t') for line in text.decode().splitlines()]
        self.assertEqual([len(row) for row in rows], [7] * 3, rows)
        shell, child = (dict(zip(rows[0], row)) for row in sorted(rows[1:], key=lambda row: 'sh -c' not in row[6]))
        self.assertEqual(child['forked-from'], shell['process'])
        self.assertIn('\\x1b', shell['command-line'])

    def plant(self, user):
        """A process of the user that holds a trace, which seems to be of the recording and is written by nobody."""
        code = ("import fcntl, os, struct, sys, time\n"
                "path, trace, user = sys.argv[1:]\n"
                "os.setuid(int(user))\n"
                "open(path, 'wb').write(open(trace, 'rb').read())\n"
                "open(path + '.live', 'wb').write(b'STEPLIVE' + struct.pack('<IIQ', 2, 4096, 4194000) + bytes(16384))\n"
                "for name in path, path + '.live':\n"
                "    os.utime(name, (time.time() + 9999,) * 2)\n"
                "file = open(path, 'rb+')\n"
                "fcntl.lockf(file, fcntl.LOCK_EX)\n"
                "print('planted', flush=True)\n"
                "sys.stdin.read()\n")
        self.lives('other.step')
        os.chmod(self.path('other.step'), 0o644)
        os.chmod(self.scratch.name, 0o1777)
        holder = subprocess.Popen([sys.executable, '-c', code, self.path('run-1.step'), self.path('other.step'),
                                   str(user)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(holder.communicate)
        self.assertEqual(holder.stdout.readline(), b'planted\n')

    @unittest.skipIf(os.geteuid() != 0, 'needs root')
    def test_traces_of_others(self):
        """Another user's file is no part of the recording, and nobody waits for who holds it."""
        self.plant(4242)
        done = self.lives('run-%p.step')
        self.assertEqual((done.returncode, done.stderr), (3, ''))
        self.assertNotIn(b'run-1.step', content(self.path('run-index.tsv')))

    def test_signal_after_the_end(self):
        """When the program has ended, signals end the recorder, which waits for a trace."""
        self.plant(os.geteuid())
        recorder = subprocess.Popen([STEPTRACE, 'record-malloc', '-o', self.path('run-%p.step'), program('lives'), '100',
                                     'return'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 40
        while recorder.poll() is None and time.monotonic() < deadline:
            if len(self.files()) > 3 and not content(f'/proc/{recorder.pid}/task/{recorder.pid}/children'):
                recorder.send_signal(signal.SIGTERM)
            time.sleep(0.05)
        ended = recorder.poll()
        recorder.kill()
        recorder.wait()
        self.assertEqual(ended, -signal.SIGTERM)


if __name__ == '__main__':
    unittest.main(verbosity=2)
