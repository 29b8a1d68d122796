# SPDX-License-Identifier: Apache-2.0
"""What was called, and in which heap; C++ on any allocator."""
import ctypes.util
import glob
import os
import tempfile
import unittest
from collections import Counter

from native import PROGRAMS, program, record, records, steptrace

ROUNDS = 50
# size -> what the record says was called
CALLS = {1001: '', 3 * 1002: 'calloc', 1024: 'aligned_alloc,align=64',
         1003: 'posix_memalign,align=128', 1004: 'memalign,align=32', 1005: 'new', 1006: 'new[]',
         1007: 'new', 1008: 'new', 1009: 'new,align=256'}


class Kinds(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.trace = os.path.join(self.scratch.name, 'run.step')

    def run_with(self, allocator, *words):
        environment = dict(os.environ)
        if allocator is not None:
            library = ctypes.util.find_library(allocator)
            if library is None:
                self.skipTest(allocator + ' is not installed')
            environment['LD_PRELOAD'] = library
        return record(self.trace, program('kinds'), *words, env=environment)

    def kinds_with(self, allocator):
        done = self.run_with(allocator)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertEqual(done.stdout, '' if allocator in ('jemalloc', 'mimalloc') else 'plain\n')
        self.assertIn('consistent', steptrace('check', self.trace))
        found = list(records(self.trace))
        sizes = Counter((int(words[2]), ' '.join(words[7:])) for words in found
                        if words[0] == 'alloc')
        for size, call in CALLS.items():
            self.assertEqual(sizes[size, call], ROUNDS, (allocator, size, call, sizes))
        freed = Counter(' '.join(words[7:]) for words in found if words[0] == 'free')
        self.assertEqual((freed['delete'], freed['delete[]']), (4 * ROUNDS, ROUNDS))
        return found, sizes

    def heaps(self, found):
        self.assertEqual([words[0] for words in found if 'Heap' in words[0]],
                         ['createHeap', 'destroyHeap'])
        return Counter((words[0], words[5]) for words in found
                       if words[0] in ('alloc', 'free'))

    def test_libc(self):
        found, _ = self.kinds_with(None)
        self.assertIn('posix_memalign,align=128', steptrace('stats', '--top', '0', self.trace))
        text = os.path.join(self.scratch.name, 'run.hatf.txt')
        steptrace('convert', self.trace, '-o', text)
        with open(text) as file:
            self.assertEqual(sum(line.endswith(' new,align=256\n') for line in file), ROUNDS)

    def test_tcmalloc(self):
        self.kinds_with('tcmalloc_minimal')

    def test_jemalloc(self):
        found, sizes = self.kinds_with('jemalloc')
        heaps = self.heaps(found)
        self.assertEqual((sizes[2001, 'mallocx'], sizes[9001, 'rallocx']), (ROUNDS, ROUNDS))
        self.assertEqual(sizes[2002, 'mallocx,align=64'], ROUNDS)
        self.assertEqual(heaps['alloc', '1'], 2 * ROUNDS)
        self.assertEqual(heaps['free', '1'], ROUNDS + 34)

    def test_mimalloc(self):
        found, sizes = self.kinds_with('mimalloc')
        heaps = self.heaps(found)
        self.assertEqual((sizes[2001, 'mi_heap_malloc'], sizes[4004, 'mi_heap_calloc']),
                         (ROUNDS, ROUNDS))
        self.assertEqual((heaps['alloc', '1'], heaps['free', '1']), (3 * ROUNDS, 2 * ROUNDS))

    def test_many_heaps(self):
        """A number for each, however many, and no block of one that is gone."""
        done = self.run_with('mimalloc', 5000)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertIn('consistent', steptrace('check', self.trace))
        heaps = Counter((words[0], words[5]) for words in records(self.trace)
                        if words[5] != '0' and 'Thread' not in words[0])
        self.assertEqual(len([one for one in heaps if one[0] == 'destroyHeap']), 5001)
        self.assertEqual((heaps['alloc', '1'], heaps['alloc', '5001']), (1, 1))
        self.assertEqual((heaps['alloc', '4999'], heaps['free', '4999']), (2, 1))

    def test_forked_heap(self):
        """It is a heap of the child's, with what lived in it at the fork."""
        self.trace = os.path.join(self.scratch.name, 'run-%p.step')
        done = self.run_with('mimalloc', 'fork')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        traces = glob.glob(self.trace.replace('%p', '*'))
        self.assertEqual(len(traces), 2)
        for trace in traces:
            self.assertIn('consistent', steptrace('check', trace))
            of_heap = Counter(words[0] for words in records(trace)
                              if words[0] != 'createThread' and words[5] == '1')
            self.assertEqual(of_heap, {'createHeap': 1, 'alloc': 3, 'free': 1, 'destroyHeap': 1})

    def test_deepbind(self):
        """What passes the recorder by is told, on stderr and in the trace."""
        library = os.path.join(PROGRAMS, 'libnative_deep.so')
        done = record(self.trace, program('kinds'), library)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('libnative_deep.so bypasses the recorder', done.stderr)
        self.assertRegex(steptrace('info', self.trace), r'bypassed-by +.*libnative_deep.so')


if __name__ == '__main__':
    unittest.main(verbosity=2)
