#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""try_graph.py PART STEPTRACE GRAPH_TRACE: one part of the tests of references (parts are functions
below)."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "formats/hprof"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "formats"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "formats/elephant_tracks"))
from elephant_reader import Elephant  # noqa: E402
from hprof_reader import *  # noqa: E402,F403
from protobuf_reader import *  # noqa: E402,F403
from simulate import *  # noqa: E402,F403

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


def records(path, name, code=0):
    out = run('dump', '--record', name, '--json', path, code=code).stdout
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


def late():
    """Object 2, which only object 1 held, is found dead later than 1, of which nothing is known: its time is that of its
    own collection, since of what is known by the collection only `how` 2 tells so."""
    lines = ['0 start 0 0', '0 init 0 0', '2 alloc 10 1 1 16 1', '2 alloc 11 1 1 16 2', '2 alloc 12 1 1 16 3',
             '2 field 20 1 1 2 1', '2 field 21 1 3 1 1',  # 3, which lives, still refers to 1
             '1 free 30 0 1', '1 free 40 0 2', '0 end 50 0']
    make(HEAD + '\n'.join(lines) + '\n')  # noqa: F405
    run('deaths', 'in.step', '-o', 'out.step')
    assert found_deaths('out.step') == {1: (30, 2, 30), 2: (40, 2, 40)}, found_deaths('out.step')
    for verb in (['heap', '--retained'], ['paths', '--class=t/Node']):  # a time after the end is no moment
        run(*verb, 'in.step', '--at', '50ns')
        assert 'it ends at 50 ns' in run(*verb, 'in.step', '--at', '51ns', code=1).stderr


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
        sites = collections.Counter(program.sites[o] for o in reached)
        assert sorted(r['objects'] for r in out['rows']) == sorted(sites.values()), (out, sites)
        assert all(isinstance(r['site'], list) and all(' <- ' not in frame for frame in r['site']) for r in out['rows']), out
        assert any(len(r['site']) > 1 for r in out['rows']) or len(sites) < 2, out
        text = run('heap', '--retained', '--by', 'object', '--at', 'end', '--top=2', 'in.step').stdout
        left = f'  ... and {len(reached) - 2} more objects (--top=0 shows all)\n'
        assert text.endswith(left) == (len(reached) > 2), (text, left)


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
    left = int(re.search(r'\n  [.]{3} and (\d+) more paths [(]--top=0 shows all[)]\n$',
                         run('paths', 'in.step', '--class', '**', '--top=1').stdout)[1])
    all_paths = json.loads(run('paths', 'in.step', '--class', '**', '--top=0', '--json').stdout)['paths']
    assert left == len(all_paths) - 1
    for name in 'Node[]', 't.Node[]', 'Node', 't.Node':
        assert run('paths', 'in.step', '--class', name).stdout.startswith('paths at end'), name
    told = run('paths', 'in.step', '--class', 't.Noed', code=1)
    assert "'t.Noed'; did you mean 't.Node'?" in told.stderr and told.stdout == '', told
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
        above = {dump.class_names[n]: dump.class_names.get(of) for n, (of, _, _, _) in dump.classes.items()}
        for kind in 'Weak', 'Soft', 'Phantom', 'Final':  # readers look for all of them
            assert above[f'java/lang/ref/{kind}Reference'] == 'java/lang/ref/Reference', above
        assert 'referent' in [n for of, (_, _, _, fields) in dump.classes.items() for n, _ in fields
                              if dump.class_names[of] == 'java/lang/ref/Reference']
        assert any(REFERENT == k[1] and t for o in live if program.classes[o] == WEAK  # noqa: F405
                   for k, t in program.edges[o].items()) <= (above.get('t/Weak') == 'java/lang/ref/WeakReference')
        statics = [s for _, _, s, _ in dump.classes.values() if s]
        wanted = {{ROOT: 'root', OTHER: 'other'}[k[1]]: t  # noqa: F405
                  for k, t in program.edges[0].items() if t}
        assert statics == ([wanted] if wanted else [])
        assert {o for tag, o in dump.roots if tag == 0xff} == \
            set.union(*program.roots()) - {t for t in program.edges[0].values()
                                           if t and any(t in e.values() for o, e in program.edges.items() if o)} or True


def heapdump():
    """MMTk's dump has the same objects; each has the slots of its class, and the targets that it refers to."""
    proto = pathlib.Path(HERE).parent.parent / 'formats/heapdump'
    for seed in range(4):
        program = Program(seed)  # noqa: F405
        program.run(120)
        make(program.text())
        run('convert', 'in.step', '-o', 'out.binpb', '--at', 'end')
        data = pathlib.Path('out.binpb').read_bytes()
        if shutil.which('protoc'):
            done = subprocess.run(['protoc', '--decode=Dump', f'-I{proto}', 'heapdump.proto'], input=data,
                                  capture_output=True, check=True)
            assert not [line for line in done.stdout.splitlines() if line.strip()[:1].isdigit()]
        dump = tables(data)  # noqa: F405
        objects = [tables(value) for value in dump[1]]  # noqa: F405
        live = sorted(o for o in program.edges if o)
        assert len(objects) == len(live)
        starts = [of[1][0] for of in objects]
        numbers = dict(zip(starts, live, strict=True))
        assert starts[0] == 0x20000000000 and all(at % 8 == 0 for at in starts)
        ends = [of[1][0] + of[3][0] for of in objects]
        assert ends[:-1] == starts[1:]
        [space] = dump[3]
        assert [tables(space)[i][0] for i in (1, 2)] == [b'immix', starts[0]]  # noqa: F405
        assert ends[-1] <= tables(space)[3][0]  # noqa: F405
        places = {}
        for start, of in zip(starts, objects, strict=True):
            o = numbers[start]
            assert of[2] == [program.classes[o]]
            slots = [tables(value) for value in of[7]]  # noqa: F405
            at = [slot[1][0] - start for slot in slots]
            edges = sorted(t for k, t in program.edges[o].items() if t and (k[0] == 'e' or k[1] != REFERENT))  # noqa: F405
            if program.classes[o] == ARRAY:  # noqa: F405
                length = (program.sizes[o] - 16) // 4
                assert of[4] == [length] and of[3] == [24 + 8 * length]
                assert at == [24 + 8 * i for i in range(length)]
                edges = sorted(t for k, t in program.edges[o].items() if t and k[0] == 'e' and k[1] < length)
            else:
                assert 4 not in of and at == places.setdefault(of[2][0], at) and all(16 <= i <= of[3][0] - 8 for i in at)
            assert sorted(numbers[slot[2][0]] for slot in slots if 2 in slot) == edges
        roots = {numbers[tables(value)[1][0]] for value in dump[2]}  # noqa: F405
        assert set.union(*program.roots()) <= roots, set.union(*program.roots()) - roots
    done = subprocess.run([STEPTRACE, 'convert', 'in.step', '-o', 'out.binpb.zst', '--at', 'end'], capture_output=True)
    assert done.returncode == 0 or b'zstd' in done.stderr, done
    assert done.returncode != 0 or pathlib.Path('out.binpb.zst').read_bytes()[:4] == b'\x28\xb5\x2f\xfd'
    lines = [line for line in program.text().splitlines()
             if line.split()[1] not in ('field', 'element', 'range', 'clone') or line.split()[0] == 'field']
    make('\n'.join(lines) + '\n')
    assert '+reference' in run('convert', 'in.step', '-o', 'none.binpb', code=1).stderr


def elephant():
    """The lines lead to the references that the program has at the end, and deaths are where they are dated."""
    for seed in range(6):
        program = Program(seed)  # noqa: F405
        program.run(150)
        make(program.text())
        told = run('convert', 'in.step', '-o', 'out.et').stderr
        assert 'steptrace deaths' in told and 'no lines' not in told, told
        found = Elephant('out.et/trace')
        wanted = {o: {k[1]: t for k, t in edges.items() if t} for o, edges in program.edges.items()}
        assert found.living() == wanted
        assert sorted(found.dead) == sorted(program.deaths)
        names = pathlib.Path('out.et/names').read_text().splitlines()
        assert 'C 0x2 [Lt/Node;' in names and 'F I 0x3 referent 0x4 java/lang/ref/Reference Ljava/lang/Object;' in names
        assert 'N 0x2 0x5 t/Main main ()V S' in names and 'F S 0x4 root 0x5 t/Main Lt/Node;' in names
        run('deaths', 'in.step', '-o', 'dated.step')
        told = run('convert', 'dated.step', '-o', 'out.et').stderr
        assert all('arrays are estimates' in line for line in told.splitlines()), told
        dated = Elephant('out.et/trace')
        ends = found_deaths('dated.step')
        times = [ends[o][0] for o in dated.dead]
        assert times == sorted(times) and sorted(dated.dead) == sorted(found.dead)
    lines = [line for line in program.text().splitlines()
             if line.split()[1] not in ('field', 'element', 'range', 'clone', 'entry', 'exit', 'pop')
             or line.split()[0] in ('field', 'method')]
    make('\n'.join(lines) + '\n')
    told = run('convert', 'in.step', '-o', 'out.et').stderr
    assert 'events=reference' in told and 'events=method' in told, told
    # the references and roots of the first snapshot, not those of the second
    text = HEAD + '0 start 0 0\n0 init 0 0\n' + ''.join(  # noqa: F405
        f'0 existing 1 0 1 {16 * o} {o}\n' for o in range(1, 4))
    text += ('2 snapshot 2 0 1 start\n2 root 2 0 1 22 0 0 0\n2 has-field 2 0 1 2 1\n2 snapshot-end 2 0 1 3 1 1 0\n'
             '2 field 3 1 2 3 2\n2 snapshot 4 0 2 command\n2 root 4 0 2 22 0 0 0\n2 has-field 4 0 2 3 2\n'
             '2 snapshot-end 4 0 2 3 1 1 0\n0 end 9 0\n')
    make(text)
    run('convert', 'in.step', '-o', 'out.et')
    found = Elephant('out.et/trace')
    assert found.roots == [1] and found.living() == {0: {}, 1: {1: 2}, 2: {2: 3}, 3: {}}, (found.roots, found.living())
    run('convert', 'in.step', '-o', 'out.et', '--class', 't/Node', code=2)


def check():
    """Rule 9, and what the verbs say of traces that lack something or are cut."""
    def breaches():
        out = json.loads(subprocess.run([STEPTRACE, 'check', 'in.step', '--json'],
                                        capture_output=True, text=True).stdout)
        return {r['rule']: r['breaches'] for r in out['rules']}[9]
    program = Program(1)  # noqa: F405
    program.run(100)
    text = program.text()
    make(text)
    assert breaches() == 0
    dead, time = min(program.deaths), program.time + 1
    make(text + f'2 field {time} 1 {dead} 999999 1\n2 clone {time} 1 {dead} 999999\n'
         f'2 range {time} 1 5555555 0 {dead} 18446744073709551615 18446744073709551615\n')
    assert breaches() == 6
    told = run('deaths', 'in.step', '-o', 'out.step').stderr
    assert '3 holders, 1 targets, 2 sources of copies' in told, told
    # the deaths are dated; a second time there is nothing to do
    assert 'were computed before' in run('deaths', 'out.step', '-o', 'again.step', code=2).stderr
    assert run('stats', 'out.step').stdout == run('stats', 'out.step').stdout
    # no stores: only collections tell
    lines = [line for line in text.splitlines()
             if line.split()[1] not in ('field', 'element', 'range', 'clone', 'entry', 'exit', 'pop')
             or line.split()[0] in ('field', 'method')]
    make('\n'.join(lines) + '\n')
    told = run('deaths', 'in.step', '-o', 'out.step').stderr
    assert 'events=reference' in told and f'0 deaths exact, 0 bounds, {len(program.deaths)} by' in told, told
    found = found_deaths('out.step')
    assert all(t == c and how == 2 for t, how, c in found.values())
    assert '+reference' in run('heap', '--retained', 'in.step', code=1).stderr
    # cut anywhere: an answer or a fault, never a crash
    make(text)
    data = open('in.step', 'rb').read()
    for length in range(0, len(data), len(data) // 7):
        open('cut.step', 'wb').write(data[:length])
        for words in (['deaths', 'cut.step', '-o', 'o.step'], ['heap', '--retained', 'cut.step'],
                      ['paths', 'cut.step', '--class', '**'], ['convert', 'cut.step', '-o', 'o.hprof']):
            done = subprocess.run([STEPTRACE, *words], capture_output=True, timeout=60)
            assert done.returncode in (0, 1, 3), (words, length, done)


def snapshots():
    """A snapshot takes the place of what stores told, and its unknown is told."""
    head = HEAD + '0 start 0 0\n0 init 0 0\n' + ''.join(  # noqa: F405
        f'0 existing 1 0 1 {16 * o} {o}\n' for o in range(1, 7))
    first = ('2 snapshot 2 0 1 start\n2 root 2 0 1 22 0 0 0\n2 has-field 2 0 0 2 4\n'
             '2 has-field 2 0 2 3 1\n2 has-other 2 0 3 4 4\n2 snapshot-end 2 0 1 4 3 1 5\n')
    make(head + first + '0 end 9 0\n')
    done = run('heap', '--retained', '--by', 'object', '--at', 'end', '--json', 'in.step')
    rows = {r['object']: r['retained_bytes'] for r in json.loads(done.stdout)['rows']}
    assert rows == {1: 16, 2: 32 + 48 + 64, 3: 48 + 64, 4: 64}, rows
    assert ' 5 references were skipped: their objects are not in the trace' in done.stderr
    assert json.loads(done.stdout)['unreached_objects'] == 2
    told = run('convert', 'in.step', '-o', 'out.hprof', '--at', '1ns', code=1).stderr
    assert 'a snapshot of them later: --at=end' in told, told
    # what the snapshot could not tell matters only if something was not reached
    for words in ['paths', 'in.step', '1'], ['paths', 'in.step', '--class', '**']:
        told = run(*words).stderr
        assert ('were skipped' in told) == (words[-1] == '**'), (words, told)
    # stores after it, and a second one that knows better: 3 lost 4, and nothing else says so
    more = '2 field 3 1 2 0 1\n2 field 4 1 1 3 1\n2 field 5 1 3 5 2\n'
    make(head + first + more + '0 end 9 0\n')
    ways = json.loads(run('paths', 'in.step', '5', '--json').stdout)['paths']
    assert ways[0]['path'] == ['system class', 't/Node.left', 't/Node.right', 't/Node'], ways
    second = '2 snapshot 6 0 2 command\n2 root 6 0 1 22 0 0 0\n2 has-field 6 0 1 3 1\n2 snapshot-end 6 0 2 2 1 1 0\n'
    make(head + first + more + second + '0 end 9 0\n')
    out = json.loads(run('heap', '--retained', '--by', 'object', '--at', 'end', '--json', 'in.step').stdout)
    assert {r['object']: r['retained_bytes'] for r in out['rows']} == {1: 64, 3: 48}
    # what is not there is told: call stacks, and a snapshot
    told = run('heap', '--retained', '--by', 'site', '--at', 'end', 'in.step').stderr
    assert 'stack=16' in told and 'snapshot=start' not in told, told
    told = run('heap', '--by', 'site', 'in.step').stderr
    assert 'record --stack=16' in told and told.count('\n') == 1, told
    make(head + more + '0 end 9 0\n')
    for words in (['heap', '--retained', 'in.step'], ['paths', 'in.step', '5']):
        told = run(*words).stderr
        assert 'snapshot=start' in told and 'stack=N' not in told, told
    # one that never ends is told
    make(head + first + more + '2 snapshot 6 0 2 command\n2 has-field 6 0 1 3 1\n0 end 9 0\n')
    assert 'snapshot 2 is not complete' in run('heap', '--retained', 'in.step', '--at', 'end').stderr


def freed():
    """A field may still name a freed object: the JVM clears some without a store.  It keeps nothing."""
    head = HEAD + '0 start 0 0\n0 init 0 0\n' + ''.join(  # noqa: F405
        f'0 existing 1 0 1 {16 * o} {o}\n' for o in range(1, 5))
    stores = '2 field 2 1 0 1 4\n2 field 3 1 1 2 1\n2 field 4 1 1 3 2\n2 field 5 1 3 4 1\n1 free 6 0 2\n1 free 6 0 4\n'
    make(head + stores + '0 end 9 0\n')
    for by in 'class', 'site', 'object':
        out = json.loads(run('heap', '--retained', '--by', by, '--at', 'end', '--json', 'in.step').stdout)
        counts = [out[k] for k in ('objects', 'bytes', 'unreached_objects', 'unreached_bytes')]
        assert counts == [2, 64, 0, 0], out
    assert {r['object']: r['retained_bytes'] for r in json.loads(run(
        'heap', '--retained', '--by', 'object', '--at', 'end', '--json', 'in.step').stdout)['rows']} == {1: 64, 3: 48}
    out = json.loads(run('paths', 'in.step', '--class', '**', '--json').stdout)
    assert (out['objects'], out['unreached_objects'], len(out['paths'])) == (2, 0, 2), out
    run('convert', 'in.step', '-o', 'out.hprof', '--at', 'end')
    dump = Dump('out.hprof')  # noqa: F405
    assert sorted(dump.instances) == [1, 3] and not any(
        n in (2, 4) for _, values in dump.instances.values() for n in values.values()), dump.instances


def gaps():
    """A trace that lost events, or that was cut, is answered from, and all verbs say so and end with 3."""
    program = Program(1)  # noqa: F405
    program.run(100)
    make(program.text())
    verbs = (['check'], ['stats'], ['heap'], ['heap', '--retained'], ['paths', '--class', '**'], ['leaks', '--survived=1'],
             ['dump'], ['dump', '--records'], ['report', '-o', 'page.html'], ['deaths', '-o', 'out.step'],
             ['pack', '-o', 'out.step'], ['convert', '-o', 'out.csv'], ['convert', '-o', 'out.hprof'],
             ['convert', '-o', 'lake', '--to=parquet', '--table=objects'], ['compare', 'in.step'])
    asks = [[v[0], 'in.step', *v[1:]] for v in verbs] + [['sql', 'in.step', 'select count(*) from objects']]
    for words in asks[1:]:  # the classes of these traces have no class loads, a breach of rule 3
        told = run(*words).stderr
        assert 'dropped' not in told and 'not closed' not in told, (words, told)
    make(program.text() + 'property dropped 12345\n')
    answers = {}
    for words in asks:
        done = run(*words, code=3)
        assert '12,345 events were dropped' in done.stderr and ': closed' not in done.stdout, (words, done)
        if words[0] == 'report':
            assert '"gaps":["12,345 events were dropped' in pathlib.Path('page.html').read_text(encoding='utf-8')
        answers[words[0]] = done.stdout
    assert answers['stats'] and answers['sql'].split()[1] == str(len(records('in.step', 'ObjectAlloc', 3))), answers['sql']
    make(program.text())
    data = open('in.step', 'rb').read()
    open('in.step', 'wb').write(data[:-40])
    for words in asks:
        done = run(*words, code=3)
        assert 'not closed' in done.stderr or 'is cut' in done.stderr, (words, done)


def order():
    """Records of one tick, as the trace has them: definitions first, frees last; in lines and as JSON."""
    make(HEAD + '0 start 0 0\n0 init 0 0\n1 free 5 0 1\n2 alloc 5 1 1 16 1\n3 alloc 5 1 1 16 2\n'  # noqa: F405
         '1 free 5 0 2\n2 alloc 6 1 1 16 3\n1 free 6 0 3\n0 end 6 0\n')
    wanted = ['ObjectAlloc 1', 'ObjectAlloc 2', 'ObjectFree 1', 'ObjectFree 2', 'ObjectAlloc 3', 'ObjectFree 3']
    rows = [json.loads(line) for line in run('dump', '--json', 'in.step').stdout.splitlines()]
    found = [f"{r['$record'].split('.')[1]} {r['object']}" for r in rows if 'object' in r]
    assert found == wanted and rows[-1]['$record'] == 'java.VMDeath', rows
    lines = [line for line in run('dump', '--records', 'in.step').stdout.splitlines() if ' object=' in line]
    assert [f"{line.split('.')[1].split()[0]} {line.split(' object=')[1].split()[0]}" for line in lines] == wanted, lines
    run('convert', 'in.step', '-o', 'out.jsonl')
    found = [json.loads(line) for line in open('out.jsonl')]
    assert [f"{r['$record'].split('.')[1]} {r['object']}" for r in found if 'object' in r] == wanted, found


def graph():
    """check --graph: what stores and a snapshot do not both have (rules about classes are breached)."""
    head = HEAD + '0 start 0 0\n0 init 0 0\n' + ''.join(  # noqa: F405
        f'0 existing 1 0 1 {16 * o} {o}\n' for o in range(1, 7)) + '0 existing 1 0 2 64 7\n'
    first = ('2 snapshot 2 0 1 start\n2 root 2 0 1 22 0 0 0\n2 has-field 2 0 0 2 4\n'
             '2 has-field 2 0 2 3 1\n2 has-other 2 0 3 4 4\n2 snapshot-end 2 0 1 4 3 1 5\n')
    stores = ('2 field 3 1 2 0 1\n2 field 4 1 1 3 1\n2 field 5 1 3 5 2\n2 element 5 1 7 3 2\n'
              '2 element 5 1 7 3 3\n2 field 5 1 6 6 1\n')
    # 1.left is the same; 3.right has another target, nothing told of 5.left; the static field and an
    # element are only the stores'; 6 is not come to
    edges = '2 has-field {0} 0 1 3 1\n2 has-field {0} 0 3 4 2\n2 has-field {0} 0 5 3 1\n2 has-element {0} 0 7 3 2\n'
    second = '2 snapshot {0} 0 {1} command\n2 root {0} 0 1 22 0 0 0\n2 root {0} 0 7 21 0 0 0\n' + edges
    second += '2 snapshot-end {0} 0 {1} 2 4 2 0\n'
    make(head + first + stores + second.format(6, 2) + second.format(7, 3) + '0 end 9 0\n')
    text = run('check', '--graph', '--json', 'in.step', code=3).stdout
    valid('check', text)
    found = json.loads(text)['snapshots']
    counts = [[s[k] for k in ('number', 'references', 'missing', 'other', 'surplus')] for s in found]
    assert counts == [[2, 4, 1, 1, 2], [3, 4, 0, 0, 0]], counts
    places = {p.get('field', p.get('elements_of')): [p[k] for k in ('missing', 'other', 'surplus')]
              for p in found[0]['places']}
    assert places == {'t/Node.left': [1, 0, 0], 't/Node.right': [0, 1, 0], 't/Main.root': [0, 0, 1],
                      '[Lt/Node;': [0, 0, 1]}, places
    told = run('check', '--graph', '--limit=1', 'in.step', code=3).stdout
    assert '4 references, 50.0000 % as the stores have them; 1 missing (0 of them constants of classes), 1 other, 2 ' \
        'surplus' in told, told
    assert 'and 3 more' in told, told
    # what only the JVM has, as a root, are constants
    lone = '2 snapshot 6 0 2 end\n2 root 6 0 7 22 0 0 0\n2 has-element 6 0 7 3 1\n2 snapshot-end 6 0 2 2 1 1 0\n'
    make(head + first + lone + '0 end 9 0\n')
    found = json.loads(run('check', '--graph', '--json', 'in.step', code=3).stdout)['snapshots'][0]
    assert (found['missing'], found['constants']) == (1, 1), found
    make(head + first + lone.replace('end\n2 root', 'end\n2 has-field 6 0 1 7 1\n2 root') + '0 end 9 0\n')
    found = json.loads(run('check', '--graph', '--json', 'in.step', code=3).stdout)['snapshots'][0]
    assert (found['missing'], found['constants']) == (2, 0), found
    assert 'events=reference' in run('check', '--graph', 'in.step', code=3).stderr
    # one that never ends counts as far as it goes; without any there is nothing to compare
    make(head + first + stores + '2 snapshot 6 0 2 command\n' + edges.format(6) + '0 end 9 0\n')
    told = run('check', '--graph', 'in.step', code=3)
    assert 'not complete: 4 references' in told.stdout and 'events=reference' not in told.stderr, told
    make(head + first + stores + '0 end 9 0\n')
    assert 'no snapshot after' in run('check', '--graph', 'in.step', code=3).stdout


def asked(path, question):
    return json.loads(run('sql', path, question, '--json').stdout)


def verb(*words):
    return json.loads(run(*words, '--json').stdout)


def dated_alike(times):
    """What goes by collections is the same as before; what lives was reachable."""
    births = {r['object']: r['time'] for r in records('in.step', 'ObjectAlloc')}
    found = found_deaths('out.step')
    for question in ('select collection, time, freed_objects, freed_bytes from collections',
                     'select object, survived, born from objects order by object',
                     'select object, collection from frees order by object'):
        assert asked('in.step', question) == asked('out.step', question), question
    rows = asked('out.step', 'select object, died from objects where not alive')
    assert {r['object']: r['died'] for r in rows} == {o: t for o, (t, _, _) in found.items()}
    rows = asked('out.step', 'select object, time, how, collected from frees')
    assert {r['object']: (r['time'], r['how'], r['collected']) for r in rows} == found
    for number, time in enumerate(times, 1):
        alive = [o for o, t in births.items() if t <= time and not (o in found and found[o][0] <= time)]
        out = verb('heap', 'out.step', '--at', f'gc:{number}')['moment']
        assert (out['live_objects'], out['collections'], out['time_ns']) == (len(alive), number, time), out
        assert verb('heap', 'in.step', '--at', f'gc:{number}')['moment']['time_ns'] == time
        out = verb('heap', '--retained', 'out.step', '--at', f'gc:{number}')
        assert out['objects'] + out['unreached_objects'] == len(alive), out
        assert out['moment']['collections'] == number, out
        chosen = verb('stats', 'out.step', '--alive-at', f'gc:{number}', '--top=0')
        assert chosen['objects']['allocated_objects'] == len(alive), chosen['objects']
    run('heap', 'out.step', '--at', f'gc:{len(times) + 1}', code=1)


def dated():
    """Verbs of a trace whose deaths are dated."""
    for seed in range(2):
        program = Program(seed)  # noqa: F405
        program.run(160)
        make(program.text())
        run('deaths', 'in.step', '-o', 'out.step')
        times = sorted({r['time'] for r in records('in.step', 'ObjectFree')})
        dated_alike(times)
        hows = [how for _, how, _ in found_deaths('out.step').values()]
        for words in (['stats'], ['leaks', '--survived=1'], ['stats', '--temporary']):
            plain, exact = verb(*words, 'in.step'), verb(*words, 'out.step')
            valid(words[0], json.dumps(exact))
            assert not plain['deaths']['dated'] and plain['deaths']['exact'] == 0
            told = exact['deaths']
            assert told['dated'] == (told['exact'] + told['bound'] + told['by_collection'] > 0)
            if words == ['stats']:
                assert [told['exact'], told['bound'], told['by_collection']] == [hows.count(i) for i in range(3)]
            for key in ('collections', 'at_end', 'survived'):
                assert plain.get(key) == exact.get(key), (words, key, plain.get(key), exact.get(key))
            if words[0] == 'stats':
                assert plain['objects']['allocated_objects'] == exact['objects']['allocated_objects'], words
                assert plain['objects']['allocated_bytes'] == exact['objects']['allocated_bytes'], words
        assert f'death times: {hows.count(0)} exact, {hows.count(1)} bounds' in run('stats', 'out.step').stdout
        assert 'death times: from collections' in run('stats', 'in.step').stdout
        assert 'deaths' in run('heap', 'out.step').stdout and 'deaths' in run('leaks', 'out.step').stdout
        both = run('compare', 'in.step', 'out.step', '--json')
        assert 'out.step has exact deaths, in.step those that collections found' in both.stderr, both.stderr
        assert not json.loads(both.stdout)['before'][0]['deaths']['dated']
        assert json.loads(both.stdout)['after'][0]['deaths']['dated']
        valid('compare', both.stdout)
        valid('heap', run('heap', 'out.step', '--json').stdout)


def page_data(*words):
    run('report', 'in.step', '-o', 'page.html', *words)
    with open('page.html', encoding='utf-8') as page:
        text = page.read()
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S).group(1))


def report():
    """The page has what `heap --retained` has."""
    program = Program(3)  # noqa: F405
    program.run(200)
    for _ in range(25):
        program.step()
    make(program.text())
    for at in 'end', 'peak', 'gc:1':
        data = page_data('--at', at)['retained']
        for by, rows in ('site', data['sites']), ('class', data['classes']):
            out = verb('heap', '--retained', 'in.step', '--by', by, '--at', at, '--top=0', '--depth=4')
            named = [(' <- '.join(r[by]) if by == 'site' else r[by], r) for r in out['rows']]
            wanted = [[name, r['objects'], r['bytes'], r['retained_bytes']] for name, r in named if name not in ('', '?')]
            assert sorted(rows) == sorted(wanted), (at, by, rows, wanted)
            assert data['objects'] == out['objects'] and data['unreached_bytes'] == out['unreached_bytes']
    assert page_data('--class', 't/**')['retained'] is None
    make(re.sub('(?m)^2 (field|element|range|clone) .*\n', '', program.text()))
    assert page_data()['retained'] is None


def peak():
    """Three moments have the most bytes: the peak is that with the most objects, of two such the earlier, for all."""
    lines = ['0 start 0 0', '0 init 0 0', '2 alloc 10 1 1 16 1', '1 free 20 0 1', '2 alloc 30 1 1 8 2',
             '2 alloc 31 1 1 8 3', '2 field 32 1 2 3 1', '1 free 40 0 3', '2 alloc 50 1 1 8 4', '0 end 90 0']
    make(HEAD + '\n'.join(lines) + '\n')  # noqa: F405
    live = verb('stats', 'in.step')['live']
    assert (live['peak_ns'], live['peak_objects'], live['peak_bytes']) == (31, 2, 16), live
    moment = verb('heap', 'in.step', '--at=peak')['moment']
    assert (moment['time_ns'], moment['live_objects']) == (31, 2), moment
    retained = verb('heap', 'in.step', '--retained', '--by=object', '--at=peak')
    assert retained['moment']['time_ns'] == 31 and {row['object'] for row in retained['rows']} == {2, 3}, retained
    assert verb('stats', 'in.step', '--alive-at=peak')['objects']['allocated_objects'] == 2


PARTS = {f.__name__: f for f in (deaths, late, retained, paths, hprof, heapdump, elephant, check, snapshots, freed, gaps, order, dated, report, graph, peak)}
if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        PARTS[sys.argv[1]]()
