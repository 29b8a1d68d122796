#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_tools.py [--build DIR] [--java HOME] [--async LIB] [--objects N] [--rounds N]: StepTrace beside other tools.

One program whose allocations are known in Java (KnownObjects.java) and one in C, under each tool that is there: CPU
seconds of all its processes (user and system), bytes on disk, and what the tool then says was allocated, beside what
was. Prints the tables of docs/comparisons.md.
"""
import argparse
import collections
import glob
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NODE, ARRAY = 'KnownObjects$Node', '[S'
NATIVE = '''#include <stdlib.h>
#include <stdio.h>
#include <stdint.h>
static void *kept[1 << 20];
int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 1000;
    for (long i = 0; i < count; i++) {
        char *block = malloc(16 + i % 64 * 8);
        *block = 1;
        if (i % 100 == 0) { free(kept[i / 100 % (1 << 20)]); kept[i / 100 % (1 << 20)] = block; }
        else free(block);
    }
    return 0;
}
'''


def measure(command, folder, env=None):
    """CPU seconds of the command and its children, and its wall seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                          env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit('%s: exit code %d: %s' % (' '.join(command)[:200], done.returncode, done.stderr.decode()[-500:]))
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def size_of(pattern):
    return sum(os.path.getsize(path) for path in glob.glob(pattern))


# What each tool says of the nodes and arrays: (objects or None, bytes or None) by class, and of the nodes' deaths.

def told_by_steptrace(steptrace, trace):
    stats = json.loads(subprocess.check_output([steptrace, 'stats', '--json', trace]))
    found = {row['name']: row for row in stats['classes']}
    rows = {name: (found[name]['allocated_objects'], found[name]['allocated_bytes']) for name in (NODE, ARRAY)}
    return rows, found[NODE]['freed_objects'] + found[NODE]['live_objects']


def told_by_jfr(java, recording, events):
    text = subprocess.check_output([java + '/bin/jfr', 'print', '--json', '--stack-depth', '1', '--events',
                                    ','.join(events), recording])
    sums = collections.Counter()
    counts = collections.Counter()
    for event in json.loads(text)['recording']['events']:
        values = event['values']
        name = values['objectClass']['name'].replace('/', '.')
        counts[name] += 1
        sums[name] += values.get('weight', values.get('tlabSize', values.get('allocationSize', 0)))
    return {NODE: (None, sums[NODE]), ARRAY: (None, sums['[S'])}, sum(counts.values())


def told_by_async(collapsed):
    sums = collections.Counter()
    with open(collapsed) as file:
        for line in file:
            stack, _, value = line.rpartition(' ')
            leaf = stack.rpartition(';')[2]
            sums[re.sub(r'_\[.\]$', '', leaf)] += int(value)
    return {NODE: (None, sums[NODE]), ARRAY: (None, sums['short[]'])}


def percent(told, true):
    """How far from the truth; a few too many are the JDK's own."""
    if abs(told - true) * 20000 < true:
        return 'exact' if told == true else '%+d' % (told - true)
    return '%+.2f %%' % (100 * (told - true) / true)


def java_ways(given, folder, steptrace):
    """name -> (options, files, teller)"""
    agent = '-agentpath:%s/agent/libtracer.so=file=%s/run.step,overwrite=yes,finish=60min' % (os.path.abspath(given.build), folder)
    recording = folder + '/run.jfr'
    flight = '-XX:StartFlightRecording:filename=%s,' % recording
    tlab = ['jdk.ObjectAllocationInNewTLAB', 'jdk.ObjectAllocationOutsideTLAB']
    ways = {
        'untraced': ([], None, None),
        'StepTrace': ([agent + ',events=alloc+free'], 'run.step*', 'step'),
        'StepTrace, `stack=16`': ([agent + ',events=alloc+free,stack=16'], 'run.step*', 'step'),
        'JFR, `settings=default`': ([flight + 'settings=default'], 'run.jfr', ['jdk.ObjectAllocationSample']),
        'JFR, `settings=profile`': ([flight + 'settings=profile'], 'run.jfr', ['jdk.ObjectAllocationSample']),
        'JFR, TLAB events': ([flight + ','.join(event + '#enabled=true' for event in tlab)], 'run.jfr', tlab),
    }
    if given.asynchronous:
        for name, interval in (('`event=alloc` (512 KiB)', ''), ('`alloc=16k`', ',alloc=16k'), ('`alloc=1`', ',alloc=1')):
            options = '-agentpath:%s=start,event=alloc%s,total,file=%s/run.collapsed' % (
                os.path.abspath(given.asynchronous), interval, folder)
            ways['async-profiler, ' + name] = ([options], 'run.collapsed', 'async')
    return ways


def run_java(given, folder, steptrace):
    subprocess.run([given.java + '/bin/javac', '-d', folder, HERE + '/KnownObjects.java'], check=True)
    count = given.objects
    arrays = (count + 3) // 4
    true = {NODE: (count, 24 * count),
            ARRAY: (arrays, sum((16 + 2 * (i % 64 * 4) + 7) // 8 * 8 for i in range(arrays)))}
    print('%s nodes of 24 bytes, %s arrays, %s bytes; %s' % (format(count, ','), format(arrays, ','), format(
        true[NODE][1] + true[ARRAY][1], ','), subprocess.run([given.java + '/bin/java', '-version'],
                                                            capture_output=True, text=True).stderr.split('\n')[0]))
    print('\n| way | CPU, s | times | file, bytes | nodes: objects | bytes | arrays: objects | bytes | deaths |')
    print('|---|--:|--:|--:|--:|--:|--:|--:|--:|')
    bare = None
    for name, (options, files, teller) in java_ways(given, folder, steptrace).items():
        best = None
        for _ in range(given.rounds):
            for old in glob.glob(folder + '/run.*'):
                os.remove(old)
            cpu = measure([given.java + '/bin/java', '-Xmx256m', '-cp', folder, *options, 'KnownObjects',
                           str(count)], folder)
            best = min(best or cpu, cpu)
        bare = bare or best
        cells = ['', '', '', '', '', '']
        if teller is not None:
            deaths = 'none'
            if teller == 'step':
                rows, ended = told_by_steptrace(steptrace, folder + '/run.step')
                deaths = 'all' if ended == count else '%d' % ended
            elif teller == 'async':
                rows = told_by_async(folder + '/run.collapsed')
            else:
                rows, samples = told_by_jfr(given.java, folder + '/run.jfr', teller)
                name += ', %s events' % format(samples, ',')
            cells = [format(size_of(folder + '/' + files), ',')]
            for kind in (NODE, ARRAY):
                objects, size = rows[kind]
                cells += ['not told' if objects is None else percent(objects, true[kind][0]), percent(size, true[kind][1])]
            cells.append(deaths)
        print('| %s | %.2f | %.1f | %s |' % (name, best, best / bare, ' | '.join(cells)), flush=True)


def run_native(given, folder, steptrace):
    source, program = folder + '/known.c', folder + '/known'
    with open(source, 'w') as file:
        file.write(NATIVE)
    subprocess.run(['cc', '-O0', '-fno-builtin', '-o', program, source], check=True)
    count = str(given.objects)
    ways = {'bare': ([], None),
            'StepTrace': ([steptrace, 'record-malloc', '-o', folder + '/run.step', '--'], 'run.step*'),
            'StepTrace, `--stack=64`': ([steptrace, 'record-malloc', '--stack=64', '-o', folder + '/run.step', '--'],
                                        'run.step*')}
    if shutil.which('heaptrack'):
        ways['heaptrack'] = (['heaptrack', '-o', folder + '/run.heaptrack'], 'run.heaptrack*')
    print('\nIn C, %s blocks:\n' % format(given.objects, ','))
    print('| way | CPU, s | times | file, bytes | bytes an event | blocks |\n|---|--:|--:|--:|--:|--:|')
    bare = None
    for name, (command, files) in ways.items():
        best = None
        for _ in range(given.rounds):
            for old in glob.glob(folder + '/run.*'):
                os.remove(old)
            cpu = measure([*command, program, count], folder)
            if files == 'run.step*': # the drain is a process of its own session
                text = subprocess.check_output([steptrace, 'info', folder + '/run.step'], text=True)
                cpu += int(re.search(r'^drain-cpu-us +([\d,]+)', text, re.M)[1].replace(',', '')) / 1e6
            best = min(best or cpu, cpu)
        bare = bare or best
        cells = '| | '
        if files:
            size = size_of(folder + '/' + files)
            told = native_told(steptrace, folder, files)
            cells = '%s | %.2f | %s' % (format(size, ','), size / (2 * given.objects), told_cell(told, given.objects))
        print('| %s | %.2f | %.1f | %s |' % (name, best, best / bare, cells), flush=True)


def native_told(steptrace, folder, files):
    if files == 'run.step*':
        stats = json.loads(subprocess.check_output([steptrace, 'stats', '--json', folder + '/run.step']))
        return stats['objects']['allocated_objects']
    text = subprocess.check_output(['heaptrack_print', glob.glob(folder + '/run.heaptrack*')[0]],
                                   stderr=subprocess.DEVNULL, text=True)
    return int(re.search(r'calls to allocation functions: (\d+)', text)[1])


def told_cell(told, true):
    """The C library itself allocates a little."""
    return 'all' if true <= told <= true + 50 else '%+d' % (told - true)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build-gcc')
    parser.add_argument('--java', default='/usr/lib/jvm/temurin-25-jdk-amd64')
    parser.add_argument('--async', dest='asynchronous', help='libasyncProfiler.so')
    parser.add_argument('--objects', type=int, default=4000000)
    parser.add_argument('--rounds', type=int, default=2)
    given = parser.parse_args()
    steptrace = os.path.abspath(os.path.join(given.build, 'converter/steptrace'))
    with tempfile.TemporaryDirectory() as folder:
        run_java(given, folder, steptrace)
        run_native(given, folder, steptrace)


if __name__ == '__main__':
    main()
