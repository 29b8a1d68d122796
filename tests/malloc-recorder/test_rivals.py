# SPDX-License-Identifier: Apache-2.0
"""Programs whose allocations do not come through the recorder: each is refused, with the reason, or runs as ever
without a trace; none leaves a trace that lacks what it did."""
import glob
import os
import shutil
import signal
import tempfile
import unittest

from native import LIBRARY, PROGRAMS, STEPTRACE, program, record, run, steptrace

SEEN = ('own', 'address', 'thread')  # of rival.c: by the recorder itself
REFUSED = (*SEEN, 'hidden')
COUNTING = os.path.join(PROGRAMS, 'libcounting_malloc.so')


class Rivals(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.trace = os.path.join(self.scratch.name, 'run.step')

    def rival(self, name):
        path = program('rival_' + name)
        if not os.path.exists(path):
            self.skipTest(f'{path} was not built: the compiler has no such sanitizer')
        return path

    def blocks(self, trace):
        query = 'select count(*) n from allocations where size = 1237'
        return int(steptrace('sql', '--csv', trace, query).split()[-1])

    def preloaded(self, command, *libraries, options='', **more):
        """Run by hand, without record-malloc."""
        environment = dict(os.environ, STEPTRACE_MALLOC=f'file={self.trace}{options}', LD_PRELOAD=':'.join(libraries),
                           ASAN_OPTIONS='verify_asan_link_order=0:detect_leaks=0', **more)
        return run([command], env=environment)

    def traces(self):
        return glob.glob(os.path.join(self.scratch.name, 'run*'))

    def test_refused(self):
        """Before they run: nothing of it would be recorded, and two of them would not even start."""
        for name in REFUSED:
            with self.subTest(name):
                done = record(self.trace, self.rival(name))
                self.assertEqual((done.returncode, done.stdout), (1, ''), done)
                self.assertIn('has a malloc() of its own' if name in ('own', 'hidden') else 'is built with a sanitizer', done.stderr)
                self.assertEqual(self.traces(), [])

    def test_started_by_others(self):
        """A script's programs run as ever, and stderr has the reason."""
        for name in SEEN:
            with self.subTest(name):
                own = self.rival(name)
                done = self.preloaded(own, LIBRARY)
                self.assertEqual((done.returncode, done.stdout), (5, 'done\n'), done)
                self.assertIn('nothing is recorded', done.stderr)
                self.assertEqual(self.traces(), [])
                self.assertEqual(self.preloaded(own, LIBRARY, options=',required=yes').returncode, 1)
                script = f'{own}; {program("rival_none")}; exit 7'
                done = record(os.path.join(self.scratch.name, 'all-%p.step'), 'sh', '-c', script,
                              env=dict(os.environ, ASAN_OPTIONS='verify_asan_link_order=0:detect_leaks=0'))
                self.assertEqual((done.returncode, done.stdout), (7, 'done\ndone\n'), done)
                self.assertEqual(done.stderr.count('nothing is recorded'), 1, done.stderr)
                self.assertEqual(sum(map(self.blocks, glob.glob(os.path.join(self.scratch.name, 'all-*.step')))), 1000)
                shutil.rmtree(self.scratch.name)
                os.mkdir(self.scratch.name)

    def test_order(self):
        """Another allocator is recorded behind the recorder, and not in front of it; neither counts a call twice."""
        for name in ('none', 'fixed'):  # the latter asks for malloc's address, which is then in its own table
            plain = program('rival_' + name)
            done = self.preloaded(plain, COUNTING, LIBRARY)
            self.assertEqual((done.returncode, done.stdout), (5, 'done\n'), done)
            self.assertIn('libcounting_malloc.so has malloc() and is loaded before the recorder', done.stderr)
            self.assertEqual(self.traces(), [])
            done = self.preloaded(plain, LIBRARY, COUNTING)
            self.assertEqual((done.returncode, self.blocks(self.trace)), (5, 1000), done)
            self.assertNotIn('nothing is recorded', done.stderr)
            os.remove(self.trace)

    def test_stripped(self):
        """Nothing names the program's own allocator: the trace that lacks it is called incomplete."""
        path = os.path.join(self.scratch.name, 'ends0')
        with open(path, 'w', encoding='ascii') as file:
            file.write(f'#!/bin/sh\n{self.rival("mapped")}\nexit 0\n')
        os.chmod(path, 0o755)
        done = record(os.path.join(self.scratch.name, 'run-%p.step'), path)
        self.assertEqual(done.returncode, 3, done)
        self.assertRegex(done.stderr, r"hardly any allocation was recorded, but the program's memory grew by 8\.\d MiB")
        done = record(self.trace, self.rival('mapped'))
        self.assertEqual(done.returncode, 5, done)
        done = run([STEPTRACE, 'check', self.trace])
        self.assertEqual(done.returncode, 3, done)
        self.assertIn('the trace is incomplete', done.stderr)

    def test_few_large(self):
        """A few recorded blocks that are as large as what the memory grew by are no allocator of the program's own."""
        done = record(self.trace, self.rival('none'), '16')
        self.assertEqual((done.returncode, done.stderr), (0, ''), done)
        size = steptrace('sql', '--csv', self.trace, 'select sum(size) s from allocations').split()[-1]
        self.assertGreaterEqual(int(size), 16 << 20)

    def test_leak_sanitizer(self):
        """Those that only stand behind the recorder are no hindrance."""
        for name in ('leak', 'undefined'):
            done = record(self.trace, self.rival(name), env=dict(os.environ, LSAN_OPTIONS='detect_leaks=0'))
            self.assertEqual((done.returncode, self.blocks(self.trace)), (5, 1000), done)
            os.remove(self.trace)

    def test_killed(self):
        """A program that left no trace keeps its exit status, and the message has its signal."""
        environment = dict(os.environ, STEPTRACE_MALLOC_DRAIN='/nowhere/steptrace-drain')
        done = record(self.trace, 'sh', '-c', 'kill -SEGV $$', env=environment)
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV, done)
        self.assertIn('left no trace: it was ended by signal 11 (Segmentation fault)', done.stderr)
        done = record(self.trace, 'sh', '-c', 'exit 5', env=environment)
        self.assertEqual(done.returncode, 5, done)
        done = record(self.trace, 'true', env=environment)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn('left no trace', done.stderr)


if __name__ == '__main__':
    unittest.main(verbosity=2)
