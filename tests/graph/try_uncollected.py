#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""try_uncollected.py STEPTRACE GRAPH_TRACE: what holds objects when the JVM ends, and there is garbage that no collection has
found."""
import json
import os
import subprocess
import sys
import tempfile

from simulate import HEAD

STEPTRACE, GRAPH_TRACE = map(os.path.abspath, sys.argv[1:3])


def run(*words):
    return subprocess.run([STEPTRACE, *words], capture_output=True, text=True, timeout=60, check=True)


def make(text):
    subprocess.run([GRAPH_TRACE, 'in.step'], input=text, text=True, check=True, timeout=60)


def uncollected():
    """After the JVM's end no frame holds anything: garbage is no root, and takes nothing away from what a static field
    holds.  1 is an array that the list 2 has outgrown, 3 the one that it has; both have 4 and 5; 6 is garbage."""
    body = ('0 start 0 0\n0 init 0 0\n2 snapshot 0 0 1 start\n2 snapshot-end 0 0 1 0 0 0 0\n' +
            ''.join(f'2 alloc {o} 1 {2 if o in (1, 3) else 1} {16 * o} {o}\n' for o in range(1, 7)) +
            '2 field 11 1 0 2 4\n2 element 12 1 1 4 0\n2 element 13 1 1 5 1\n2 field 14 1 2 1 1\n2 field 15 1 2 3 1\n'
            '2 element 16 1 3 4 0\n2 element 17 1 3 5 1\n0 end 20 0\n')
    for ending, rows, left in (('property end vm-death\n', {2: 32 + 48 + 64 + 80, 3: 48 + 64 + 80, 4: 64, 5: 80}, 2),
                               ('', {1: 16, 2: 32 + 48 + 64 + 80, 3: 48 + 64 + 80, 4: 64, 5: 80, 6: 96}, 0)):
        make(ending + HEAD + body)
        out = json.loads(run('heap', '--retained', '--by', 'object', '--at', 'end', '--json', 'in.step').stdout)
        assert {r['object']: r['retained_bytes'] for r in out['rows']} == rows, out
        assert out['unreached_objects'] == left, out
        ways = json.loads(run('paths', 'in.step', '--class', 't.Node', '--json').stdout)['paths']
        assert [(p['objects'], p['path'][0]) for p in ways if 't/Node.left' in p['path']] == [(2, 'static field t/Main.root')], ways
        assert {p['path'][0] for p in ways if p['steps'] == 1} == \
            {'static field t/Main.root', 'no known holder: not collected yet' if left else 'frame'}, ways


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    uncollected()
