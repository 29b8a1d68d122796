#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""artefact.py SCRIPT: scripts/artefact.py reports the rows that changed by more than their noise, and no others."""
import pathlib
import subprocess
import sys
import tempfile

PAGE = '''# Steps

| table | command | takes | noise |
|---|---|---|---|
| [one](one.md), first | `cat {folder}/now.md` | no time | 10 %; bytes 0 %; ns any |
| [one](one.md), failing | `false {folder}` | no time | 10 % |
| [one](one.md), other | `echo no table, {folder}` | no time | 10 % |
| [two](two.md), columns left out | `tail -n 7 {folder}/wide.md` | no time | 10 % |
'''
KEPT = '''| program | bytes | times | read, ns |
|---|--:|--:|--:|
| same | 1,000 | 2.00 | 5 |
| near | 1,000 | 2.00 | 5 |
| slow | 1,000 | 2.00 | 5 |
| large | 1,000 | 2.00 | 5 |
| gone | 7 | 1.00 | 5 |

| program | bytes | times | read, ns |
|---|--:|--:|--:|
| same | 5 | 9.00 | 5 |
'''
# Of WIDE without a column; rows of one name, in their order.
TWO = '''| way | times |
|---|--:|
| dot | 1.00 |
| dot | 2.00 |
| perl | 1.00 |
'''
WIDE = '''| way | size | times |
|---|--:|--:|
| dot | 7 | 1.00 |
| dot | 7 | 3.00 |
| perl | 7 | 1.05 |
| dot | 7 | 9.00 |
'''
NOW = '''text before

| program | bytes | times | read, ns |
|:--|--:|--:|--:|
| same | 1,000 | 2.00 | 5 |
| near | 1,001 | 2.19 | 500 |
| slow | 1,000 | 2.50 | 5 |
| large | 1,010 | 2.00 | 5 |
| new | 7 | 1.00 | 5 |
'''


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (('steps.md', PAGE.format(folder=folder)), ('one.md', KEPT), ('now.md', NOW), ('two.md', TWO),
                           ('wide.md', WIDE)):
            (pathlib.Path(folder) / name).write_text(text, encoding='utf-8')

        def run(*words):
            done = subprocess.run([sys.executable, sys.argv[1], '--page', f'{folder}/steps.md', '--keep', f'{folder}/kept', *words],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            return done.returncode, done.stdout.decode()

        code, text = run('--only', 'cat')
        changed = [line.split(': ')[1:3] for line in text.splitlines() if 'changed: ' in line]
        assert changed == [['slow', 'times'], ['large', 'bytes']], text
        assert code == 1 and '4 rows compared, 2 changed' in text, text
        assert (pathlib.Path(folder) / 'kept' / '01-one.txt').read_text() == NOW, text
        code, text = run('--only', 'wide')
        changed = [line.strip() for line in text.splitlines() if 'changed: ' in line]
        assert changed == ['changed: dot: times: 2.00 in the page, 3.00 now (noise 10 %)'], text
        assert code == 1 and '3 rows compared, 1 changed' in text, text
        code, text = run('--only', 'false')
        assert code == 2 and '1 failed' in text, text
        code, text = run('--only', 'echo')
        assert code == 0 and 'not compared' in text, text
        code, text = run('--only', 'no such step')
        assert code == 1 and "no step has 'no such step' in it" in text, text
    print('as it should')


main()
