#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""growth.py STEPTRACE: nothing is quadratic in what a trace holds.

Each trace is made with n and with 4 n of something; the instructions that a verb takes for them (as
valgrind counts them, so that the machine's load does not matter) may grow by less than 6.
Exit code 77: there is no valgrind, or the program has sanitizers.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

MOST = 6.0
BEGIN = ['VS:0', 'VI:0', 'TB:0:1', 'CL:0:A']


def bad_exits(n):
    """Exits of a method that was never entered, above a deep stack."""
    yield from BEGIN
    for i in range(n):
        yield f'MN:{i}:1:A:a:0'
    for i in range(n):
        yield f'MX:{n + i}:1:A:b'
    yield f'VD:{2 * n}'


def deep_stack(n):
    """A stack of many methods, with an allocation at each depth, and all the exits."""
    yield from BEGIN
    for i in range(n):
        yield f'MN:{i}:1:A:m{i % 97}:0'
        if i % 16 == 0:
            yield f'OA:{i}:A:{i + 1}'
    for i in reversed(range(n)):
        yield f'MX:{n}:1:A:m{i % 97}'
    yield f'VD:{n}'


def threads(n):
    """Threads that each allocate and call, of methods that are many."""
    yield from BEGIN[:2]
    yield BEGIN[3]
    for i in range(1, n + 1):
        yield f'TB:{i * 1000}:{i}'
        yield f'MN:{i * 1000}:{i}:A:m{i}:0'
        yield f'OA:{i * 1000}:A:{i}'
        yield f'MX:{i * 1000}:{i}:A:m{i}'
    yield f'VD:{n * 1000}'


def classes(n):
    """Classes with an object each, and time that runs on."""
    yield from BEGIN[:2]
    for i in range(1, n + 1):
        yield f'CL:{i}:c/C{i}'
        yield f'OA:{i * 1000}:c/C{i}:{i * 100000}'
    yield f'VD:{n * 10**9}'


def long_names(n):
    """Sites of one class, whose name is long where they are many."""
    name = 'c/' + 'x' * 12 * n
    yield from BEGIN[:3]
    yield f'CL:0:{name}'
    for i in range(1, n + 1):
        yield f'MN:{i * 1000}:1:{name}:m{i}:0'
        yield f'OA:{i * 1000}:{name}:{i}'
        yield f'MX:{i * 1000}:1:{name}:m{i}'
    yield f'VD:{n * 1000}'


CASES = [
    (bad_exits, 4000, ['check --limit=1', 'stats', 'heap --by thread', 'report -o o.html',
                       'convert -o o.calls.speedscope.json', 'dump']),
    (deep_stack, 3000, ['check --limit=1', 'stats', 'heap --by thread', 'heap --by site --depth 2 --top 1',
                        'convert -o o.pb.gz --at end', 'convert -o o.trace.json']),
    (threads, 1500, ['check --limit=1', 'stats', 'heap --by thread', 'report -o o.html',
                     'convert -o o.step', 'info']),
    (classes, 2000, ['check --limit=1', 'stats', 'heap', 'convert -o o.memory-infra.json', 'dump']),
    (long_names, 1000, ['stats', 'leaks', 'heap --by site']),
]


def instructions(steptrace, verb, trace):
    words = verb.split()
    run = subprocess.run(['valgrind', '--tool=cachegrind', '--cache-sim=no',
                          '--cachegrind-out-file=/dev/null', steptrace, words[0], trace,
                          '--memory=0', *words[1:]],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    text = run.stderr.decode('utf-8', 'replace')
    found = re.search(r'I +refs: +([0-9,]+)', text)
    if run.returncode not in (0, 3) or found is None:
        sys.exit(f'{verb}: exit code {run.returncode}\n{text}')
    return int(found.group(1).replace(',', ''))


def make(steptrace, generate, n, name):
    with open('lines.txt', 'w', encoding='utf-8') as lines:
        lines.writelines(line + '\n' for line in generate(n))
    subprocess.run([steptrace, 'convert', 'lines.txt', '-o', name], check=True)


def main():
    steptrace = os.path.realpath(sys.argv[1])
    with open(steptrace, 'rb') as program:
        is_sanitized = b'__asan_report_' in program.read()
    if is_sanitized or shutil.which('valgrind') is None:
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for generate, n, verbs in CASES:
            make(steptrace, generate, n, 'small.step')
            make(steptrace, generate, 4 * n, 'large.step')
            for verb in verbs:
                small, large = (instructions(steptrace, verb, f'{size}.step') for size in ('small', 'large'))
                ratio = large / small
                print(f'{generate.__name__:12} {verb:36} {small:12} {large:12} {ratio:6.2f}', flush=True)
                failed += ratio >= MOST
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
