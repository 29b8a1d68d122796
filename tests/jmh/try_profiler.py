#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""try_profiler.py STEPTRACE AGENT JAVA_HOME: examples/jmh, which is compiled against the few types of JMH that it uses (api/;
JMH is in no registry of Debian's), makes its directory and counts a nested benchmark's bytes and objects."""
import os
import pathlib
import subprocess
import sys
import tempfile

STEPTRACE, AGENT, JAVA = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), sys.argv[3]
HERE = pathlib.Path(__file__).resolve().parent
EXAMPLE = HERE.parent.parent / 'examples/jmh/StepTraceProfiler.java'

with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    sources = [*map(str, HERE.glob('api/**/*.java')), str(EXAMPLE), str(HERE / 'TryProfiler.java')]
    subprocess.run([f'{JAVA}/bin/javac', '-nowarn', '-d', '.', *sources], check=True, stderr=subprocess.PIPE)
    done = subprocess.run([f'{JAVA}/bin/java', f'-Dsteptrace={STEPTRACE}', '-cp', '.', 'TryProfiler', 'traces/of/forks'],
                          capture_output=True, text=True, timeout=300, env={**os.environ, 'STEPTRACE_AGENT': AGENT}, check=False)
    wanted = ['steptrace.bytes 32.0 B/op', 'steptrace.objects 1.0 #/op']
    if done.returncode != 0 or done.stdout.splitlines() != wanted:
        sys.exit(f'{done.stdout}{done.stderr}: not {wanted}')
    if [path.name for path in pathlib.Path('traces/of/forks').iterdir()] != ['TryProfiler.Outer.Inner.pair-1.step']:
        sys.exit('the trace is not in its directory')
