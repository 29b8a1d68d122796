# SPDX-License-Identifier: Apache-2.0
"""Replays: what reaches the allocator, what is reported, and traces that do wrong."""
import csv
import io
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

import native
from native import STEPTRACE, counts, program, record, records, run, steptrace

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.append(os.path.join(TESTS, 'cli'))
import validate

with open(os.path.join(TESTS, '..', 'docs', 'schemas', 'replay.schema.json'), encoding='utf-8') as file:
    SCHEMA = json.load(file)
COUNTING = os.path.join(native.PROGRAMS, 'libcounting_malloc.so')


class Replay(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)

    def path(self, name):
        return os.path.join(self.scratch.name, name)

    def trace(self, text, name='trace.hatf.txt'):
        """Lines of tag, address, size, new address, thread, heap, time."""
        lines = []
        for time, line in enumerate(text.strip().splitlines()):
            words = line.split()
            words += ['0'] * (4 - len(words)) + ['1', '0'][max(0, len(words) - 4):]
            lines.append(' '.join(words + [str(time)]))
        with open(self.path(name), 'w') as file:
            file.write('\n'.join(lines) + '\n')
        return self.path(name)

    def replay(self, trace, *options, expect=0):
        done = run([native.STEPTRACE, 'replay', trace, '--json', *options],
                   env=dict(os.environ, COUNTS=self.path('counts')))
        self.assertEqual(done.returncode, expect, done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual(list(validate.faults(SCHEMA, told, '$')), [])
        return told

    def counted(self, trace, *options, expect=0):
        """The result, and the calls of malloc, free, realloc that an allocator saw for it: those of
        the driver and of libc itself are known from a trace of one object."""
        one = self.all_counted(self.trace('alloc 4096 100\nfree 4096', 'one.hatf.txt'), *options)[1]
        own = tuple(call - of_one for call, of_one in zip(one, (1, 1, 0)))
        result, calls = self.all_counted(trace, *options, expect=expect)
        return result, tuple(call - base for call, base in zip(calls, own))

    def all_counted(self, trace, *options, expect=0):
        if os.path.exists(self.path('counts')):
            os.remove(self.path('counts'))
        result = self.replay(trace, '-a', COUNTING, *options, expect=expect)
        with open(self.path('counts'), 'rb') as file:
            mallocs, frees, reallocs = struct.unpack('3Q', file.read(24))
        return result, (mallocs, frees, reallocs)

    def test_outcomes_of_realloc(self):
        trace = self.trace('''
alloc 4096 100
realloc/none 4096 50 4096
realloc/both 4096 5000 8192
free 4096
alloc 8192 5000
realloc/alloc 0 70 16384
alloc 16384 70
realloc/free 16384 0
free 16384
alloc 4096 100
free 8192''')
        result, calls = self.counted(trace)
        self.assertEqual(calls, (2, 1, 4))
        self.assertEqual(sum(result['skipped'].values()), 0)
        self.assertEqual(result['peak_live_bytes'], 5070 + 30)
        self.assertEqual(result['final_live_bytes'], 100)

    def test_faults(self):
        text = '''
alloc 4096 100
free 4096
free 4096
free 77777
alloc 4096 100
alloc 4100 10
alloc 4096 10
alloc 4000 97
realloc/both 5555 10 6666
free 5555
alloc 6666 10
free 4100
free 6666
destroyHeap 0 0 0 1 9'''
        trace = self.trace(text)
        result, calls = self.counted(trace)
        self.assertEqual(calls, (3, 2, 0))
        self.assertEqual(result['skipped'], {'double_frees': 1, 'unknown_frees': 2,
                                             'unknown_reallocs': 1, 'overlaps': 3,
                                             'out_of_order': 1})
        done = run([native.STEPTRACE, 'replay', trace, '-a', 'glibc', '--on-error=refuse'])
        self.assertEqual((done.returncode, done.stdout), (3, ''))
        self.assertIn('record 3: address 4096 is freed twice', done.stderr)

    def test_sizes_that_no_allocator_has(self):
        trace = self.trace('''
alloc 4096 9223372036854775807
realloc/none 4096 100 4096
free 4096
alloc 65536 18446744073709551615
free 65536
alloc 4096 10''')
        result, calls = self.counted(trace, '--touch=all')
        self.assertEqual(result['allocators'][0]['failed'], 2)
        glibc = self.replay(trace, '-a', 'glibc', '--touch=all')
        self.assertEqual(glibc['allocators'][0]['failed'], 2)

    def test_heaps(self):
        lines = ['createHeap 0 0 0 1 7']
        lines += ['alloc %d 100 0 1 7' % (4096 + 128 * i) for i in range(1000)]
        lines += ['free 4096 0 0 1 7', 'realloc/none 4224 60 4224 1 7', 'destroyHeap 0 0 0 1 7',
                  'alloc 4096 10']
        trace = self.trace('\n'.join(lines))
        result, calls = self.counted(trace)
        self.assertEqual(calls, (1002, 1001, 0))
        for options in ('--threads=one', '--threads=trace'):
            for allocator in self.replay(trace, options)['allocators']:
                self.assertEqual(allocator['failed'], 0, allocator['name'])

    def test_order_across_threads(self):
        """What a thread frees another allocated: it must be there, and be freed once."""
        lines = []
        for i in range(20000):
            lines.append('alloc %d 64 0 %d 0' % (4096 + 64 * (i % 512), i % 7 + 1))
            lines.append('free %d 0 0 %d 0' % (4096 + 64 * (i % 512), i % 5 + 1))
        trace = self.trace('\n'.join(lines))
        result, calls = self.counted(trace, '--threads=trace')
        self.assertEqual(calls, (20000, 20000, 0))
        self.assertEqual((result['threads'], result['final_live_bytes']), (7, 0))

    def test_time_blocked(self):
        """An allocator that waits 60 ms in a call: that is no CPU time, but wall time and blocked."""
        trace = self.trace('alloc 4096 10\nalloc 8192 60606\nfree 4096')
        for threads in ('one', 'trace'):
            result = self.replay(trace, '-a', COUNTING, f'--threads={threads}')['allocators'][0]
            self.assertGreaterEqual(result['wall_ns'], 60e6)
            self.assertGreaterEqual(result['blocked_ns'], 30e6)
            self.assertLess(result['allocator_ns'], 50e6)
        table = steptrace('replay', trace, '-a', 'glibc', '--threads=trace')
        self.assertRegex(table, 'allocator +time +wall +blocked')
        self.assertNotIn('blocked', steptrace('replay', trace, '-a', 'glibc'))

    def test_pace(self):
        """What the trace did a quarter of a second later is done so much later."""
        with open(self.path('slow.hatf.txt'), 'w') as file:
            file.write('alloc 4096 10 0 1 0 5000000000\nalloc 8192 10 0 2 0 5100000000\n'
                       'free 4096 0 0 1 0 5250000000\n')
        for threads in ('one', 'trace'):
            result = self.replay(self.path('slow.hatf.txt'), '-a', 'glibc', '--pace=trace',
                                 f'--threads={threads}')
            self.assertEqual(result['pace'], 'trace')
            self.assertEqual(result['calls'], 3)
            self.assertGreaterEqual(result['allocators'][0]['wall_ns'], 250e6)
            self.assertLess(result['allocators'][0]['wall_ns'], 4000e6)

    def test_killed(self):
        """The driver does not wait for the trace's next call when nobody waits for its result any more."""
        with open(self.path('hours.hatf.txt'), 'w') as file:
            file.write('alloc 4096 10 0 1 0 0\nfree 4096 0 0 1 0 7200000000000\n')
        with subprocess.Popen([STEPTRACE, 'replay', self.path('hours.hatf.txt'), '-a', COUNTING, '--pace=trace']) as process:
            drivers = []
            while not any(self.is_driver(child) for child in drivers):
                self.assertIsNone(process.poll())
                time.sleep(0.01)
                with open(f'/proc/{process.pid}/task/{process.pid}/children') as file:
                    drivers = file.read().split()
            process.kill()
        for _ in range(3000):
            if not any(self.is_driver(child) for child in drivers):
                return
            time.sleep(0.01)
        for child in filter(self.is_driver, drivers):
            os.kill(int(child), signal.SIGKILL)
        self.fail('a driver goes on without its replay')

    @staticmethod
    def is_driver(process):
        """The one with the allocator: there is another one before, which measures its own cost."""
        try:
            with open(f'/proc/{process}/maps') as file:
                return os.path.basename(COUNTING) in file.read()
        except OSError:
            return False

    def test_as_called(self):
        """A calloc is a calloc, and what was aligned is aligned, in whatever format."""
        trace, text = self.path('kinds.step'), self.path('kinds.hatf')
        record(trace, program('kinds'))
        steptrace('convert', trace, '-o', text)
        for name in (trace, text):
            for options in ([], ['--threads=trace']):
                self.counted(name, *options)
                with open(self.path('counts'), 'rb') as file:
                    callocs, aligned = struct.unpack('7Q', file.read(56))[5:]
                self.assertEqual(aligned, 200, options)
                self.assertTrue(50 <= callocs <= 70, callocs)  # libc's own are among them

    def test_recorded(self):
        trace = self.path('churn.step')
        record(trace, program('churn'))
        found = counts(trace)
        reallocs = sum(count for tag, count in found.items() if tag.startswith('realloc'))
        own_allocs = found['realloc/both'] + found.get('realloc/alloc', 0)
        own_frees = found['realloc/both'] + found.get('realloc/free', 0)
        callocs = sum(1 for words in records(trace) if words[-1] == 'calloc')
        wanted = (found['alloc'] - own_allocs - callocs, found['free'] - own_frees, reallocs)
        for options in ([], ['--threads=trace'], ['--decoded=16', '--threads=trace'],
                        ['--decoded=16', '--touch=all']):
            result, calls = self.counted(trace, *options)
            self.assertEqual(calls, wanted, options)
            self.assertEqual(result['streamed'], '--decoded=16' in options)
            self.assertEqual(sum(result['skipped'].values()), 0)

    def test_every_form(self):
        trace = self.path('run.step')
        record(trace, program('lives'), 3000, 'return')
        wanted, wanted_calls = self.counted(trace)
        for name, options in (('a.hatf', ['--encoding=optimal']), ('b.hatf.gz', []),
                              ('c.hatf.zst', []), ('d.hatf.txt', []),
                              ('e.hatf.zip', ['--to=hatf.zip', '--split=address']), ('f.step', [])):
            steptrace('convert', trace, '-o', self.path(name), *options)
            result, calls = self.counted(self.path(name))
            self.assertEqual(calls, wanted_calls, name)
            for key in ('calls', 'peak_live_bytes', 'final_live_bytes', 'peak_objects'):
                self.assertEqual(result[key], wanted[key], (name, key))

    def test_java(self):
        trace = self.path('java.txt')
        with open(trace, 'w') as file:
            file.write('VS:0\nVI:1\nCL:1:A\nTB:1:1\n')
            file.write(''.join('OA:2:A:%d\n' % i for i in range(1, 1001)))
            file.write(''.join('OF:3:A:%d\n' % i for i in range(1, 501)))
            file.write('TE:4:1\nVD:5\n')
        result, calls = self.counted(trace)
        self.assertEqual(calls, (1000, 500, 0))
        self.assertEqual(sum(result['skipped'].values()), 0)

    def test_cut_trace(self):
        whole = self.path('run.hatf')
        record(whole, program('lives'), 1000, 'return')
        with open(whole, 'rb') as file:
            data = file.read()
        with open(self.path('cut.hatf'), 'wb') as file:
            file.write(data[:len(data) * 2 // 3])
        result, calls = self.counted(self.path('cut.hatf'), expect=3)
        self.assertGreater(calls[0], 500)
        for length in range(0, 60):
            with open(self.path('cut.hatf'), 'wb') as file:
                file.write(data[:length])
            done = run([native.STEPTRACE, 'replay', self.path('cut.hatf'), '-a', 'glibc'])
            self.assertIn(done.returncode, (0, 1, 3), done.stderr)

    def test_incomplete_trace(self):
        drops = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'cli/data/traces/drops.step')
        done = run([native.STEPTRACE, 'replay', '--allocator=glibc', drops])
        self.assertEqual(done.returncode, 3, done)
        self.assertIn('706,767 events were dropped', done.stderr)

    def test_no_allocator(self):
        for names in (',', ',,'):
            done = run([native.STEPTRACE, 'replay', '--allocator=' + names, 'none.step'])
            self.assertEqual((done.returncode, done.stdout), (1, ''), done)
            self.assertIn('names no allocator', done.stderr)

    def test_reports(self):
        trace = self.path('run.step')
        record(trace, program('lives'), 5000, 'return')
        picture = self.path('run.svg')
        done = run([native.STEPTRACE, 'replay', trace, '--csv', '--svg', picture])
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual(rows[0]['allocator'], 'glibc')
        for row in rows:
            self.assertEqual(row['failed'], '0')
            self.assertGreater(int(row['peak_live_bytes']), 5000 * 5000 / 2)
        drawn = xml.etree.ElementTree.parse(picture).getroot()
        curves = drawn.findall('{http://www.w3.org/2000/svg}polyline')
        self.assertEqual(len(curves), len(rows) + 1)
        table = steptrace('replay', trace, '-a', 'glibc', '--touch=all')
        self.assertIn('ns a call (taken off below)', table)
        result = self.replay(trace, '-a', 'glibc', '--touch=all', '--repeat=2')
        glibc = result['allocators'][0]
        self.assertEqual(len(glibc['loop_ns']), 2)
        # all of what lives was written to
        self.assertGreater(glibc['peak_resident_bytes'], result['peak_live_bytes'] * 0.9)
        self.assertEqual(glibc['samples'][-1]['call'], result['calls'])

    def test_usage(self):
        trace = self.trace('alloc 4096 10')
        for options, code, text in ((['-a', 'nosuch'], 1, 'no allocator is called'),
                                    (['-a', '/nosuch.so'], 1, 'No such file'),
                                    (['--touch=some'], 2, 'none, first or all'),
                                    (['--pace=slow'], 2, 'none or trace'),
                                    (['--decoded=8'], 2, 'a number of MiB from 16'),
                                    (['--csv', '--json'], 2, 'exclude each other')):
            done = run([native.STEPTRACE, 'replay', trace, *options])
            self.assertEqual(done.returncode, code, options)
            self.assertIn(text, done.stderr)


if __name__ == '__main__':
    unittest.main(verbosity=2)
