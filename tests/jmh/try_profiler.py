#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""try_profiler.py JAVA_HOME STEPTRACE STEPTRACE.JAR STEPTRACE-JMH.JAR: the profiler of JMH counts what benchmarks allocate whose
bytes are known.  JMH itself is in no registry of Debian's: TryProfiler.java does what JMH does, with the few types of java/jmh/api.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

JAVA, STEPTRACE, JAR, PROFILER = sys.argv[1:]
HERE = pathlib.Path(__file__).resolve().parent
API = HERE.parent.parent / 'java/jmh/api'


def expect(condition, text):
    if not condition:
        sys.exit(text)


def fork(classes, benchmark, threads=1, warmups=0, forks=1, batch=1, options='', name='steptrace', fails=None):
    """The results by their names, with their iteration; or what a failing fork says."""
    done = subprocess.run([f'{JAVA}/bin/java', '-Xmx128m', '-XX:-UseCompactObjectHeaders', '-XX:+IgnoreUnrecognizedVMOptions',
                           '-XX:-BackgroundCompilation', f'-Djava.io.tmpdir={classes}', f'-Dsteptrace.command={STEPTRACE}', '-cp',
                           f'{PROFILER}:{JAR}:{classes}', 'tried.TryProfiler', name, options, benchmark, str(threads), str(warmups),
                           str(forks), str(batch)], capture_output=True, text=True, timeout=100, check=False)
    if fails:
        expect(done.returncode != 0 and fails in done.stderr, f'{benchmark}: not {fails}: {done.stdout}{done.stderr}')
        return None
    expect(done.returncode == 0, f'{benchmark}: {done.stdout}{done.stderr}')
    found = dict((label, (int(iteration), text)) for iteration, label, text in
                 re.findall(r'^(\d+) (steptrace[.\w]*) (.*(?:\n(?!\d+ steptrace).*)*)', done.stdout, re.MULTILINE))
    expect({iteration for iteration, _ in found.values()} == {warmups + 2}, f'{benchmark}: not the last iteration: {done.stdout}')
    return {label: text for label, (_, text) in found.items()}


def of(results, name):
    return float(re.fullmatch(r'\[([\d.E-]+)\] (?:B|#)/op\n?', results[name])[1])


def judge(classes):
    # byte[100]: a header of 16 bytes, 100, and 4 up to a multiple of 8
    for threads in 1, 3:
        results = fork(classes, 'inherited', threads)
        text = results['steptrace']
        expect((of(results, 'steptrace.bytes'), of(results, 'steptrace.objects')) == (120, 1), f'{threads} threads: {results}')
        expect(f'1.000 objects, 120.000 bytes an operation; {threads * 3003:,} operations\n' in text, text)
        expect('  1.000 objects, 120.000 bytes: byte[]\n      at tried.TryProfiler$Base.inherited(TryProfiler.java:' in text, text)
        expect('steptrace.removed' not in results and 'not known: there was no warm-up' in text, text)
    results = fork(classes, 'pair')
    expect((of(results, 'steptrace.bytes'), of(results, 'steptrace.objects')) == (32, 1), f'{results}')
    results = fork(classes, 'both', threads=2, warmups=1)
    expect((of(results, 'steptrace.bytes'), of(results, 'steptrace.objects')) == (72, 1), f'{results}')
    expect('steptrace.removed' not in results and results['steptrace'].count(' bytes: ') == 2, f'{results}')
    # an operation of 7 calls: JMH counts 142, 143 and 143 in 1,000, 1,001 and 1,002 calls
    results = fork(classes, 'stays', warmups=3, batch=7)
    bytes_now = of(results, 'steptrace.bytes')
    expect(abs(bytes_now - 48 * 3003 / 428) < 1e-9 and 'up to 3 operations more' in results['steptrace'], f'{results}')
    expect(bytes_now - 1 < of(results, 'steptrace.removed') <= bytes_now, f'{results}')
    results = fork(classes, 'inherited', warmups=3)
    expect(0 <= of(results, 'steptrace.removed') < 1, f'{results}')
    results = fork(classes, 'startsThread', warmups=1)
    expect('not known: there was no warm-up, or threads ended in it' in results['steptrace'], f'{results}')
    results = fork(classes, 'stays', warmups=1, forks=0, batch=0)
    expect('not known: the benchmark has no JVM of its own' in results['steptrace'], f'{results}')


def main():
    with tempfile.TemporaryDirectory() as directory:
        sources = [*map(str, API.glob('**/*.java')), str(HERE / 'TryProfiler.java')]
        subprocess.run([f'{JAVA}/bin/javac', '-nowarn', '-Xlint:-options', '--release', '17', '-cp', JAR, '-d', directory, *sources],
                       check=True)
        judge(directory)
        fork(directory, 'unknown', fails='no method of the benchmark tried.TryProfiler.Outer.Inner.unknown is found')
        fork(directory, 'pair', options='trace', fails='has the option traces=DIRECTORY alone, not trace')
        kept = pathlib.Path(directory) / 'kept/here'
        fork(directory, 'pair', options=f'traces={kept}', name='steptrace.jmh.StepTraceProfiler')
        expect(len(list(kept.glob('tried.TryProfiler.Outer.Inner.pair-*.step'))) == 1, f'{kept} has no trace')
        left = [path.name for path in pathlib.Path(directory).glob('steptrace-*')]
        expect(not left, f'{left} remain')


main()
