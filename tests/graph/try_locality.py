#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""try_locality.py PART STEPTRACE GRAPH_TRACE: `steptrace locality` of traces made by hand and at random (parts are
functions below)."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from locality_oracle import Oracle, compare
from simulate import ARRAY, HEAD, NODE, WEAK, Program

HERE = pathlib.Path(__file__).resolve()
STEPTRACE, GRAPH_TRACE = map(os.path.abspath, sys.argv[2:4])


def run(*words, code=0):
    done = subprocess.run([STEPTRACE, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, f'{words}: {done.returncode}\n{done.stdout}{done.stderr}'
    return done


def make(text, path='in.step'):
    subprocess.run([GRAPH_TRACE, path], input=text, text=True, check=True, timeout=60)
    return path


def answer(verb, *words):
    text = run(verb, '--json', 'in.step', *words).stdout
    schema = HERE.parent.parent.parent / f'docs/schemas/{verb}.schema.json'
    subprocess.run([HERE.parent.parent / 'cli/validate.py', schema], input=text, text=True, check=True)
    return json.loads(text)


class Spread(Program):
    """Each object is of one of two threads, or existed before."""

    def __init__(self, seed, **how):
        self.threads = random.Random(seed)
        super().__init__(seed, **how)
        for kind in (NODE, ARRAY, WEAK):
            self.alloc(kind, existing=True)

    def line(self, stream, text):
        words = text.split()
        if words[0] in ('alloc', 'at') and self.threads.random() < 0.3:
            stream, words[2] = 3, '2'
        super().line(stream, ' '.join(words))


def stores():
    """Random programs, row by row, as the oracle counts them by the records."""
    rows = references = 0
    for seed in range(10):
        program = Spread(seed, length=8 if seed % 3 else 40)
        program.run(400)
        make(program.text())
        found = compare(answer('locality'), Oracle(STEPTRACE, 'in.step'))
        rows, references = rows + found[0], references + found[1]
    assert rows > 50 and references > 900, (rows, references)


SNAPSHOT = '''0 start 0 0
0 init 0 0
0 existing 1 0 1 16 1
2 alloc 2 1 2 32 2
2 alloc 3 1 1 24 3
2 alloc 4 1 1 24 4
3 alloc 5 2 1 24 5
2 snapshot 6 0 1 command
2 has-element 6 0 2 3 0
2 has-element 6 0 2 4 1
2 snapshot-end 6 0 1 2 2 0 0
2 snapshot 7 0 2 end
2 root 7 0 2 22 0 0 0
2 has-element 7 0 2 3 0
2 has-field 7 0 3 4 1
2 has-field 7 0 3 5 2
2 has-field 7 0 4 1 1
2 has-field 7 0 0 4 4
2 snapshot-end 7 0 2 5 5 1 0
0 end 9 0
'''


def snapshots():
    """Without stores the references are those of the last snapshot: by hand, and as the oracle counts them."""
    make(HEAD + SNAPSHOT)
    told = answer('locality')
    rows = {(r['holder'], r['field']): r for r in told['fields']}
    assert told['graph'] == 'snapshot' and told['references'] == 4, told
    assert [told[name] for name in ('one_thread', 'two_threads', 'unknown', 'neighbours')] == [2, 1, 1, 2], told
    assert rows['[Lt/Node;', None]['distance_bytes']['p50'] == 32, rows
    left = rows['t/Node', 'left']
    assert (left['references'], left['unknown'], left['neighbours'], left['neighbour_bytes']) == (2, 1, 1, 48), left
    assert rows['t/Node', 'right']['two_threads'] == 1 and rows['t/Node', 'right']['distance_bytes'] is None
    compare(told, Oracle(STEPTRACE, 'in.step'))
    text = run('locality', 'in.step', '--top=1').stdout
    assert 'in the last snapshot' in text and '... and 2 more rows (--top=0 shows all)' in text and '(none)' in text, text


def lacks():
    """Nothing refers to anything; an array moves its own elements; sizes beyond 2^62; a trace that is cut."""
    lines = ['0 start 0 0', '0 init 0 0', '2 alloc 2 1 2 64 1', '2 alloc 3 1 1 24 2']
    make(HEAD + '\n'.join(lines) + '\n0 end 9 0\n')
    told = run('locality', 'in.step', code=1)
    assert 'events=reference' in told.stderr and 'snapshot=' in told.stderr and told.stdout == '', told
    moves = ['2 element 4 1 1 2 0', '2 range 5 1 1 0 1 1 1', '2 element 6 1 1 2 1', '2 element 7 1 1 0 0']
    make(HEAD + '\n'.join(lines + moves) + '\n0 end 9 0\n')
    assert answer('locality')['references'] == 1
    huge = [f'2 alloc {t} 1 1 {2**61} {t}' for t in (10, 11, 12)]
    make(HEAD + '\n'.join(lines + moves + huge) + '\n0 end 99 0\n')
    assert '2^62' in run('locality', 'in.step', code=3).stderr
    program = Spread(1)
    program.run(400)
    make(program.text())
    data = pathlib.Path('in.step').read_bytes()
    for length in range(0, len(data), len(data) // 7):
        pathlib.Path('cut.step').write_bytes(data[:length])
        done = subprocess.run([STEPTRACE, 'locality', 'cut.step'], capture_output=True, text=True, timeout=60)
        assert done.returncode in (1, 3) and done.stderr, (length, done)


def main():
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        globals()[sys.argv[1]]()


main()
