# SPDX-License-Identifier: Apache-2.0
"""Call stacks of native allocations, against what the program's source says."""
import os
import re
import tempfile
import unittest
from collections import Counter

from native import STEPTRACE, program, run, steptrace

ROUNDS = 20
CHAIN = ['leaf', 'without_pointer', 'with_pointer', 'with_alloca']


class Stacks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.trace = cls.record('run.step', 64)

    @classmethod
    def record(cls, name, depth):
        trace = os.path.join(cls.scratch.name, name)
        done = run([STEPTRACE, 'record-malloc', '-O', 'overwrite=yes', '--stack=%d' % depth, '-o', trace, '--',
                    program('stacks')])
        assert (done.returncode, done.stderr) == (0, ''), done
        assert 'consistent' in steptrace('check', trace)
        return trace

    def stacks(self, trace, size):
        """The functions of the stacks of allocations of a size, innermost first, and how often."""
        found = Counter()
        for line in steptrace('dump', trace).splitlines():
            words = line.split(' ')
            if words[0] == 'alloc' and words[2] == str(size):
                frames = words[7].replace('\\x20', ' ').split(';')
                self.assertEqual(frames[0], 'malloc')
                found[tuple(frames[1:])] += 1
        return found

    def functions(self, trace, size):
        (frames, count), = self.stacks(trace, size).items()
        self.assertEqual(count, ROUNDS)
        if '+0x' in frames[0]:
            self.skipTest('built without libdw: there are no names')
        return [frame.split(' ')[0] for frame in frames]

    def test_chain(self):
        names = self.functions(self.trace, 1001)
        self.assertEqual(names[:36], CHAIN + ['deep'] * 31 + ['main'])
        self.assertEqual(names[-1], '_start')

    def test_through_libc(self):
        names = self.functions(self.trace, 1002)
        self.assertEqual(names[:5], CHAIN + ['compare'])
        self.assertIn('main', names)

    def test_thread(self):
        names = self.functions(self.trace, 1003)
        self.assertEqual(names[:5], CHAIN + ['run_thread'])
        self.assertNotIn('main', names)

    def test_other_stack(self):
        """Nothing is known of it: nothing is read there, and the program goes on."""
        self.assertEqual(sum(self.stacks(self.trace, 1004).values()), ROUNDS)

    def test_depth(self):
        for depth in (1, 3):
            (frames, count), = self.stacks(self.record('short.step', depth), 1001).items()
            self.assertEqual((len(frames), count), (depth, ROUNDS))

    def test_lines(self):
        (frames, _), = self.stacks(self.trace, 1003).items()
        if '+0x' in frames[0]:
            self.skipTest('built without libdw')
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'native_stacks.c')) as file:
            lines = file.read().splitlines()
        for frame in frames[:5]:
            name, line = re.fullmatch(r'(\w+) native_stacks\.c:(\d+)', frame).groups()
            self.assertRegex(lines[int(line) - 1], r'malloc|leaf|pointer|alloca', name)

    def test_frames_at_the_end(self):
        """The program fills a chunk of frames while the drain is busy, and ends."""
        for count in (6000, 8000, 12000, 16000):
            trace = os.path.join(self.scratch.name, 'paths-%d.step' % count)
            done = run([STEPTRACE, 'record-malloc', '--stack=32', '-o', trace, '--', program('stacks'), count])
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            self.assertIn('consistent', steptrace('check', trace))
            self.assertIn('objects live at the end', steptrace('check', trace))
            self.assertEqual(sum(self.stacks(trace, 16).values()), 15 * count)

    def test_in_every_view(self):
        for suffix in ('collapsed', 'pb.gz'):
            out = os.path.join(self.scratch.name, 'out.' + suffix)
            steptrace('convert', self.trace, '-o', out)
            self.assertGreater(os.path.getsize(out), 100)
        self.assertIn(' <- ', steptrace('heap', '--by', 'site', '--top', '0', self.trace))
        packed = os.path.join(self.scratch.name, 'packed.hatf.zst')
        steptrace('convert', self.trace, '-o', packed)
        self.assertEqual(self.stacks(packed, 1001), self.stacks(self.trace, 1001))
        self.assertRegex(steptrace('info', self.trace), r'modules .*native_stacks [0-9a-f]{8}|'
                                                        r'modules|end')


if __name__ == '__main__':
    unittest.main(verbosity=2)
