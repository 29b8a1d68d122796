#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""try_graph.py PART STEPTRACE GRAPH_TRACE: one part of the tests of references (parts are functions
below)."""
import json
import os
import subprocess
import sys
import tempfile

from hprof_reader import *  # noqa: F403
from simulate import *  # noqa: F403

HERE = os.path.abspath(__file__)
STEPTRACE, GRAPH_TRACE = map(os.path.abspath, sys.argv[2:4])


def run(*words, code=0):
    """What the verb prints."""
    done = subprocess.run([STEPTRACE, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, f'{words}: {done.returncode}\n{done.stdout}{done.stderr}'
    return done


def valid(schema, text):
    root = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
    subprocess.run([f'{root}/tests/cli/validate.py', f'{root}/docs/schemas/{schema}.schema.json'],
                   input=text, text=True, check=True)


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


def sum_of(program, objects):
    return sum(program.sizes[o] for o in objects)


def retained():
    """Dominators, found by taking each object away; of a class, by taking away all its objects."""
    for seed in range(8):
        program = Program(seed, length=8 if seed % 2 else 40)  # noqa: F405
        program.run(120)
        for _ in range(25):
            program.step()
        make(program.text())
        reached, without = program.retained()
        out = json.loads(run('heap', '--retained', '--by', 'object', '--at', 'end', '--top=0', '--json',
                             'in.step').stdout)
        found = {r['object']: r['retained_bytes'] for r in out['rows']}
        wanted = {o: sum_of(program, without({o})) for o in reached}
        assert found == wanted, f'seed {seed}: {found}\n{wanted}'
        assert out['unreached_objects'] == len(program.edges) - 1 - len(reached)
        out = json.loads(run('heap', '--retained', '--at', 'end', '--json', 'in.step').stdout)
        names = {'t/Node': NODE, '[Lt/Node;': ARRAY, 't/Weak': WEAK}  # noqa: F405
        for row in out['rows']:
            of = {o for o in reached if program.classes[o] == names[row['class']]}
            # What all of them keep together is at least what is counted; what one object keeps with
            # another of the class is nobody's in the tree.
            assert row['objects'] == len(of) and row['bytes'] == sum_of(program, of)
            assert row['bytes'] <= row['retained_bytes'] <= sum_of(program, without(of))
            tops = [o for o in of if not any(o in without({p}) for p in of if p != o)]
            assert row['retained_bytes'] == sum(wanted[o] for o in tops), row
        out = json.loads(run('heap', '--retained', '--by', 'site', '--at', 'end', '--json',
                             'in.step').stdout)
        assert sum(r['objects'] for r in out['rows']) == len(reached)


def paths():
    """The shortest ways have the lengths that a search of its own finds."""
    for seed in range(8):
        program = Program(seed)  # noqa: F405
        program.run(120)
        for _ in range(25):
            program.step()
        make(program.text())
        lengths = program.ways()
        out = json.loads(run('paths', 'in.step', '--class', '**', '--top=0', '--json').stdout)
        assert out['objects'] == len(program.edges) - 1
        assert out['unreached_objects'] == len(program.edges) - 1 - len(lengths)
        assert sum(p['objects'] for p in out['paths']) == len(lengths)
        for path in out['paths']:
            assert path['steps'] == lengths[path['example']], path
        for at in sorted(lengths)[:5]:
            out = json.loads(run('paths', 'in.step', str(at), '--json').stdout)
            assert [p['steps'] for p in out['paths']] == [lengths[at]], out
    valid('paths', run('paths', 'in.step', '--class', '**', '--json').stdout)
    for by in 'class', 'site', 'object':
        valid('retained', run('heap', '--retained', 'in.step', '--by', by, '--json').stdout)
    valid('deaths', run('deaths', 'in.step', '-o', 'out.step', '--json').stdout)
    run('paths', 'in.step', '99999', code=1)
    run('paths', 'in.step', code=2)


def hprof():
    """A dump has all objects and references, as a reader of its own sees them."""
    for seed in range(6):
        program = Program(seed)  # noqa: F405
        program.run(120)
        make(program.text())
        run('convert', 'in.step', '-o', 'out.hprof', '--at', 'end')
        dump = Dump('out.hprof')  # noqa: F405
        live = {o for o in program.edges if o}
        assert set(dump.instances) | set(dump.arrays) == live and not dump.primitives
        names = {LEFT: 'left', RIGHT: 'right', REFERENT: 'referent'}  # noqa: F405
        for o in live:
            edges = {k: t for k, t in program.edges[o].items() if t}
            if program.classes[o] == ARRAY:  # noqa: F405
                of, elements = dump.arrays[o]
                fits = {k[1]: t for k, t in edges.items() if k[0] == 'e' and k[1] < len(elements)}
                assert {i: t for i, t in enumerate(elements) if t} == fits
                assert len(elements) == (program.sizes[o] - 16) // 4
            else:
                of, values = dump.instances[o]
                fits = {names[k[1]]: t for k, t in edges.items() if k[0] == 'f'}
                assert {n: t for n, t in values.items() if t} == fits, o
            assert dump.class_names[of] == {NODE: 't/Node', ARRAY: '[Lt/Node;',  # noqa: F405
                                            WEAK: 't/Weak'}[program.classes[o]]  # noqa: F405
        statics = [s for _, _, s, _ in dump.classes.values() if s]
        wanted = {{ROOT: 'root', OTHER: 'other'}[k[1]]: t  # noqa: F405
                  for k, t in program.edges[0].items() if t}
        assert statics == ([wanted] if wanted else [])
        assert {o for tag, o in dump.roots if tag == 0xff} == \
            program.roots() - {t for t in program.edges[0].values()
                               if t and any(t in e.values() for o, e in program.edges.items() if o)} or True


PARTS = {f.__name__: f for f in (deaths, retained, paths, hprof)}
with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    PARTS[sys.argv[1]]()
