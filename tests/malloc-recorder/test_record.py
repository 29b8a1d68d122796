# SPDX-License-Identifier: Apache-2.0
"""The recorder of native programs, against what programs tell of themselves, and valgrind."""
import glob
import os
import re
import shutil
import signal
import tempfile
import unittest

from native import LIBRARY, STEPTRACE, counts, program, record, records, run, steptrace


class Recorder(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)

    def path(self, name):
        return os.path.join(self.scratch.name, name)

    def check(self, trace):
        self.assertIn('consistent', steptrace('check', trace))

    def test_every_call(self):
        """The trace is the program's own list of its calls, in its order, address by address."""
        trace, told = self.path('calls.step'), self.path('told')
        done = run(['sh', '-c', 'exec 3>"$1"; shift; exec "$@"', 'sh', told, STEPTRACE,
                    'record-malloc', '-o', trace, program('calls')])
        self.assertEqual((done.returncode, done.stdout, done.stderr), (5, 'done\n', ''))
        with open(told) as file:
            wanted = [line.split() for line in file]
        found = []
        for words in records(trace):
            kind = words[0]
            if kind == 'free':
                found.append(words[:2])
            elif kind == 'alloc':
                found.append(words[:3])
            elif kind.startswith('realloc'):
                found.append(words[:4])
        # what libc itself allocates stands between
        at = 0
        for words in found:
            if at < len(wanted) and words == wanted[at]:
                at += 1
        self.assertEqual(at, len(wanted), wanted[at:at + 3])
        self.assertLess(len(found) - len(wanted), 20)
        kinds = {words[0] for words in wanted}
        self.assertEqual(kinds, {'alloc', 'free', 'realloc/alloc', 'realloc/free', 'realloc/none',
                                 'realloc/both'})
        self.check(trace)
        threads = [words for words in records(trace) if 'Thread' in words[0]]
        self.assertEqual([words[0] for words in threads],
                         ['createThread', 'createThread', 'destroyThread'])

    def test_threads(self):
        """No free comes after the allocation that takes its place, and none is missing."""
        trace = self.path('churn.step')
        done = record(trace, program('churn'))
        self.assertEqual(done.returncode, 0, done.stderr)
        allocations, frees, moves = (int(word) for word in done.stdout.split())
        self.check(trace)
        found = counts(trace)
        self.assertEqual(found['createThread'], 9)
        self.assertEqual(found['destroyThread'], 8)
        self.assertEqual(found['realloc/both'] + found['realloc/none'], moves)
        own = found['alloc'] - found['realloc/both']
        self.assertTrue(allocations <= own <= allocations + 30, (allocations, own))
        own = found['free'] - found['realloc/both']
        self.assertTrue(frees <= own <= frees + 30, (frees, own))

    def test_compare(self):
        """Two programs are compared, and told apart by their command lines."""
        for name in ('calls', 'churn'):
            record(self.path(name + '.step'), program(name))
        done = run([STEPTRACE, 'compare', self.path('calls.step'), self.path('churn.step')])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('are of different programs', done.stderr)
        done = run([STEPTRACE, 'compare', self.path('calls.step'), self.path('calls.step')])
        self.assertEqual((done.returncode, done.stderr), (0, ''))

    def test_forks(self):
        done = record(self.path('run-%p.step'), program('churn'), 'fork')
        self.assertEqual(done.returncode, 0, done.stderr)
        traces = glob.glob(self.path('run-*.step'))
        # the program, five children, and what the last of them called exec() for
        self.assertEqual(len(traces), 7, traces)
        self.assertEqual(len([name for name in traces if name.endswith('-2.step')]), 1)
        self.assertEqual(glob.glob(self.path('*.live')), [])
        for trace in traces:
            self.check(trace)
        children = sorted(sum(words[0] == 'alloc' and 'existing' not in words[-1]
                              for words in records(trace)) for trace in traces)
        self.assertEqual(children[-6:-1], [1000] * 5)

    def inherited(self, how, ending, traces):
        name = self.path(how + '-%p' + ending)
        done = run([STEPTRACE, 'record-malloc', '--stack', '4', '-o', name, program('odd'), how, 10])
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        with open(self.path(how + '-index.tsv')) as file:
            index = [line.split('\t') for line in file.read().splitlines()[1:]]
        self.assertEqual(len(index), traces)
        return [self.path(words[0]) for words in index]

    def test_inherited(self):
        """A forked child's trace begins with what lived in its parent, so that it can be replayed."""
        _, child, grandchild = self.inherited('inherit', '.step', 3)
        _, other = self.inherited('inherit-_Fork', '.step', 2)
        _, text, _ = self.inherited('inherit', '.hatf.txt', 3)
        for trace, frees in ((child, 59), (grandchild, 1), (other, 60), (text, 59)):
            self.check(trace)
            steptrace('replay', '-a', 'glibc', '--on-error=refuse', trace)
            found = list(records(trace))
            moves = sum(words[0] == 'realloc/both' for words in found)
            self.assertEqual(sum(words[0] == 'free' for words in found), frees + moves)
            first = [words for words in found if ',existing;' in words[-1]]
            self.assertEqual(first, found[:len(first)])
            calls = {words[7].split(';')[0] for words in first}
            self.assertLessEqual({'malloc,existing', 'calloc,existing',
                                  'aligned_alloc,align=64,existing'}, calls)
            self.assertTrue(all(words[3:7] == ['0', '0', '0', '0'] for words in first), first)
        for trace in (child, grandchild, other):
            told = steptrace('info', trace)
            self.assertRegex(told, r'inherited +\d+')
            self.assertRegex(told, r'forked-at-ns +\d+')
            self.assertRegex(steptrace('stats', trace), r'existing +\d+ objects')

    def test_inherited_after_a_cut(self):
        """What lived in a parent whose trace had ended by then is not known, and not guessed."""
        done = run([STEPTRACE, 'record-malloc', '-O', 'limit=64k', '-o', self.path('run-%p.step'),
                    program('odd'), 'inherit', 200000])
        self.assertEqual(done.returncode, 0, done.stderr)
        told = [steptrace('info', trace) for trace in glob.glob(self.path('run-*.step'))]
        self.assertEqual(sum(' limit\n' in text for text in told), 1)
        self.assertEqual(len(told), 3)
        self.assertNotIn('inherited', ''.join(told))

    def test_first_process_only(self):
        trace = self.path('run.step')
        done = record(trace, 'sh', '-c', program('lives') + ' 100 return; exit 4')
        self.assertEqual(done.returncode, 4)
        self.assertEqual(os.listdir(self.scratch.name), ['run.step'])
        self.assertNotIn(100 * 8, [int(words[2]) for words in records(trace) if words[0] == 'alloc'])

    def ends(self, end, code, state=None):
        trace = self.path(end + '.step')
        done = record(trace, program('lives'), '1000', end)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertFalse(os.path.exists(trace + '.live'))
        self.check(trace)
        found = counts(trace)
        self.assertTrue(1001 <= found['alloc'] <= 1011, found)
        self.assertTrue(500 <= found['free'] <= 510, found)

    def test_ends(self):
        self.ends('return', 3)
        self.ends('_exit', 3)
        self.ends('quick_exit', 3)
        self.ends('abort', 128 + signal.SIGABRT)
        self.ends('kill', 128 + signal.SIGKILL)

    def test_program_closes_all_files(self):
        trace = self.path('run.step')
        done = record(trace, program('lives'), 1000, 'closefrom')
        self.assertEqual((done.returncode, done.stderr), (3, ''))
        self.assertTrue(1001 <= counts(trace)['alloc'] <= 1010)

    def test_small_buffer(self):
        trace = self.path('run.step')
        done = run([STEPTRACE, 'record-malloc', '-O', 'buffer=1m', '-o', trace, program('lives'),
                    300000, 'return'])
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertTrue(300001 <= counts(trace)['alloc'] <= 300010)
        self.check(trace)

    def test_hatf(self):
        trace = self.path('run.hatf')
        done = run([STEPTRACE, 'record-malloc', '--encoding=best', '-o', trace, program('lives'),
                    1000, 'return'])
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(os.listdir(self.scratch.name), ['run.hatf'])
        self.check(trace)
        self.assertTrue(1001 <= counts(trace)['alloc'] <= 1010)

    def test_arguments(self):
        done = record(self.path('run.step'), 'echo', 'a', '-o', 'b c')
        self.assertEqual((done.returncode, done.stdout), (0, 'a -o b c\n'))
        self.assertEqual(done.stderr, '')

    def test_faults(self):
        trace = self.path('run.step')
        done = record(trace, '/nosuch/program')
        self.assertEqual(done.returncode, 1)
        self.assertIn('No such file', done.stderr)
        with open('/bin/true', 'rb') as file:
            damaged = bytearray(file.read())
        damaged[16:24] = b'\xff' * 8  # type, machine, version
        texts = {'damaged': damaged + b'\necho ran as a script\n', 'short': b'\x7fELF\necho ran as a script\n',
                 'script': b'echo as ever; exit 4\n'}
        for name, text in texts.items():
            with open(self.path(name), 'wb') as file:
                file.write(text)
            os.chmod(self.path(name), 0o755)
        for name in ('damaged', 'short'):
            for verb in ('record-malloc', 'record'):
                done = run([STEPTRACE, verb, '-o', trace, self.path(name)])
                self.assertEqual((done.returncode, done.stdout), (1, ''), done)
                self.assertIn('cannot run', done.stderr)
        done = record(self.path('script.step'), self.path('script'))
        self.assertEqual((done.returncode, done.stdout), (4, 'as ever\n'), done)
        done = record(self.path('no/where.step'), 'true')
        self.assertEqual(done.returncode, 1)
        self.assertIn('where.step', done.stderr)
        done = run([STEPTRACE, 'record-malloc', '-O', 'nosuch=1', '-o', trace, 'true'])
        self.assertEqual(done.returncode, 1)
        self.assertIn("option 'nosuch' is unknown", done.stderr)
        done = run([STEPTRACE, 'record-malloc', '-O', 'other.step', '-o', trace, 'true'])
        self.assertIn("did you mean 'file=other.step'?", done.stderr)
        for option in ('engine=jvmti', 'walk=auto', 'events=class', 'method=count', 'clock=tsc'):
            done = run([STEPTRACE, 'record-malloc', '-O', option, '-o', trace, 'true'])
            self.assertEqual(done.returncode, 1, option)
            self.assertIn("option '%s' is unknown" % option.split('=')[0], done.stderr)


class Programs(unittest.TestCase):
    """Programs of the system allocate and free as often as valgrind says."""

    def compare(self, *command, slack=0, stdin=None):
        if shutil.which('valgrind') is None or shutil.which(command[0]) is None:
            self.skipTest('valgrind or %s is not installed' % command[0])
        with tempfile.TemporaryDirectory() as scratch:
            trace = os.path.join(scratch, 'run.step')
            environment = {'PATH': '/usr/bin:/bin', 'PERL_HASH_SEED': '0', 'HOME': scratch,
                           'STEPTRACE_MALLOC': 'file=' + trace, 'STEPTRACE_MALLOC_PROCESS': '0'}
            oracle = run(['valgrind', '--run-libc-freeres=no', '--run-cxx-freeres=no', *command],
                         env=environment, input=stdin)
            told = re.search(r'total heap usage: ([\d,]+) allocs, ([\d,]+) frees', oracle.stderr)
            # as many variables as valgrind sets
            environment.update(LD_PRELOAD=LIBRARY, GLIBCXX_FORCE_NEW='1', GLIBCPP_FORCE_NEW='1')
            del environment['STEPTRACE_MALLOC_PROCESS']
            done = run(command, env=environment, input=stdin)
            self.assertEqual((done.returncode, done.stdout), (oracle.returncode, oracle.stdout))
            found = counts(trace)
            self.assertIn('consistent', steptrace('check', trace))
            in_place = found.get('realloc/none', 0)
            ours = (found['alloc'] + in_place, found['free'] + in_place)
            theirs = tuple(int(word.replace(',', '')) for word in told.groups())
            for our, their in zip(ours, theirs):
                self.assertLessEqual(abs(our - their), slack, (ours, theirs))

    def test_sqlite3(self):
        self.compare('sqlite3', ':memory:', stdin='''
create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x+1 from c where x<2000)
  insert into t select x, hex(x*x) from c;
create index i on t(b); select b from t order by b desc limit 3;
''')

    def test_ls(self):
        self.compare('ls', '/usr/bin')

    # These read their own environment and mapping: a few allocations differ.
    def test_perl(self):
        self.compare('perl', '-e', 'my %h; for (1..3000){$h{$_}="x"x($_%50)} print scalar(%h)',
                     slack=16)

    def test_gawk(self):
        self.compare('gawk', 'BEGIN{for(i=0;i<3000;i++)a[i]=i "x"; print length(a)}', slack=16)

    def test_cc1(self):
        if shutil.which('gcc') is None:
            self.skipTest('no gcc')
        compiler = run(['gcc', '-print-prog-name=cc1']).stdout.strip()
        self.compare(compiler, '-quiet', '-', '-o', '-',
                     stdin='int f(int x) { return x * 3; } int main(void) { return f(4); }\n',
                     slack=16)


if __name__ == '__main__':
    unittest.main(verbosity=2)
