#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""try_graph.py PART STEPTRACE GRAPH_TRACE: one part of the tests of references (parts are functions
below)."""
import json
import os
import subprocess
import sys
import tempfile

from simulate import *  # noqa: F403

STEPTRACE, GRAPH_TRACE = map(os.path.abspath, sys.argv[2:4])


def run(*words, code=0):
    """What the verb prints."""
    done = subprocess.run([STEPTRACE, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, f'{words}: {done.returncode}\n{done.stdout}{done.stderr}'
    return done


def make(text, path='in.step'):
    subprocess.run([GRAPH_TRACE, path], input=text, text=True, check=True, timeout=60)
    return path


def records(path, name):
    out = run('dump', '--record', name, '--json', path).stdout
    return [json.loads(line) for line in out.splitlines()]


def found_deaths(path):
    return {r['object']: (r['time'], r['how'], r['collected'])
            for r in records(path, 'ObjectDeath')}


def compare_deaths(program, what):
    make(program.text())
    run('deaths', 'in.step', '-o', 'out.step')
    found = found_deaths('out.step')
    wanted = program.deaths
    wrong = {o: (found.get(o), wanted.get(o)) for o in set(found) | set(wanted)
             if not found.get(o) or not wanted.get(o) or found[o][0::2] != wanted[o][0::2]}
    assert not wrong, f'{what}: object: (found, wanted): {wrong}'
    return found


def deaths():
    """Each death that is computed is the one that was found the slow way."""
    for seed in range(12):
        program = Program(seed, length=8 if seed % 3 else 40)  # noqa: F405
        program.run(150)
        found = compare_deaths(program, f'seed {seed}')
        wrong = {o: (found[o], program.deaths[o]) for o in found
                 if o not in program.unsure and found[o][1] != program.deaths[o][1]}
        assert not wrong, f'seed {seed}: how: {wrong}'


PARTS = {f.__name__: f for f in (deaths,)}
with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    PARTS[sys.argv[1]]()
