#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jdk_suites.py: runs groups of the JDK's regression tests with jtreg, untraced and traced, and prints the difference.
scripts/jdk-tests.sh gets what it needs and calls it."""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

SUITES = {'jdk': 'test/jdk', 'hotspot': 'test/hotspot/jtreg'}

# What looks at the JVM from inside as the agent does, or at what the agent changes: code, stacks, exceptions, references.
GROUPS = '''jdk:java/lang/Throwable jdk:java/lang/StackWalker jdk:java/lang/ref jdk:java/lang/Class jdk:java/lang/ClassLoader
    jdk:java/lang/Object jdk:java/lang/reflect jdk:java/lang/invoke jdk:java/lang/instrument jdk:java/lang/Thread
    jdk:java/lang/ThreadLocal jdk:java/lang/ProcessBuilder jdk:java/lang/constant jdk:java/io/Serializable
    jdk:java/util/concurrent/atomic jdk:java/util/concurrent/locks jdk:jdk/jfr/api/consumer jdk:jdk/jfr/event/allocation
    jdk:jdk/jfr/event/oldobject hotspot:runtime/StackTrace hotspot:runtime/Throwable hotspot:runtime/StackGap
    hotspot:runtime/BadObjectClass hotspot:runtime/ClassFile hotspot:runtime/ClassUnload hotspot:runtime/clinit
    hotspot:runtime/condy hotspot:serviceability/attach hotspot:serviceability/jvmti'''.split()

# These fail with any agent that rewrites classes.
UNAVOIDABLE = {
    'serviceability/jvmti/AddModuleReads': 'java.base reads the unnamed module once an agent has changed a class of it',
    'serviceability/jvmti/events/MethodExit/mexit01': 'another agent sees the code with probes',
    'serviceability/jvmti/events/MethodExit/mexit02': 'another agent sees the code with probes',
    'runtime/condy/CondyLDCTest': "VerifyError's text has the place in the code with probes",
}


def run_jtreg(words, group, work, limit, more=()):
    """Runs a group, or single tests of it, and ends what it started. Returns whether it came to its end."""
    shutil.rmtree(work, ignore_errors=True)
    suite, path = group[0], group[1:]
    command = [f'{words.jtreg}/bin/jtreg', f'-jdk:{words.java}', '-agentvm', '-automatic', '-ignore:quiet', '-timeoutFactor:4',
               f'-concurrency:{words.jobs}', f'-w:{work}/work', f'-r:{work}/report', *more,
               *(f'{words.source}/{SUITES[suite]}/{one}' for one in path)]
    os.makedirs(work)
    environment = {**os.environ, 'JT_JAVA': words.java, 'JT_HOME': words.jtreg}
    with open(f'{work}/output.txt', 'w', encoding='utf-8') as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment, start_new_session=True)
        try:
            process.wait(limit)
            return True
        except subprocess.TimeoutExpired:
            return False
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # jtreg, and the JVMs that it left
            except ProcessLookupError:
                pass
            process.wait()


def results(work):
    """The status of each test that ended: passed, failed or error; and why."""
    found = {}
    for path in sorted(pathlib.Path(f'{work}/work').rglob('*.jtr')):
        status = re.search(r'^execStatus=(\w+)\.? ?(.*)', path.read_text(encoding='utf-8', errors='replace'), re.M)
        if status:
            found[str(path.relative_to(f'{work}/work').with_suffix(''))] = (status[1].lower(), status[2])
    return found


def traced(words, group, name, limit):
    """The same with the agent: results, and what `check` says of its traces."""
    work, traces = f'{words.results}/{name}', pathlib.Path(f'{words.results}/{name}.traces')
    shutil.rmtree(traces, ignore_errors=True)
    traces.mkdir(parents=True)
    option = f'-javaoption:-agentpath:{words.build}/agent/libtracer.so=file={traces}/%p-%t.step,{words.options}'
    ended = run_jtreg(words, group, work, limit, (option,))
    return ended, results(work), check(words, traces)


def check(words, traces):
    """How many traces are whole, or cut because jtreg killed the JVM; and those that are neither."""
    counts, faults = {'whole': 0, 'cut': 0}, []
    for trace in sorted(traces.glob('*.step')):
        done = subprocess.run([f'{words.build}/converter/steptrace', 'check', '--json', '--memory=4g', trace], text=True, capture_output=True, check=False)
        said = json.loads(done.stdout) if done.stdout.startswith('{') else {}
        if done.returncode == 0:
            counts['whole'] += 1
        elif said.get('cut') and said['breach_count'] == 0:  # the JVM was killed
            counts['cut'] += 1
        else:
            faults.append(f"{trace.name}: {said.get('breaches') or ''} {done.stderr.strip()}")
    if not faults and not words.keep:
        shutil.rmtree(traces)
    return counts, faults


def why(test):
    return next((text for key, text in UNAVOIDABLE.items() if test.startswith(key)), None)


def differs(test, plain, ours):
    return plain.get(test, ('',))[0] == 'passed' and ours.get(test, ('passed',))[0] != 'passed'


def confirmed(words, suite, test, number):
    """Whether it passes without the agent and fails with it once more, alone."""
    source = test.split('_id')[0]
    path = next((f'{source}{end}' for end in ('.java', '.sh') if os.path.exists(f'{words.source}/{SUITES[suite]}/{source}{end}')), source)
    run_jtreg(words, (suite, path), f'{words.results}/again-{number}', words.time)
    plain = results(f'{words.results}/again-{number}')
    ended, ours, _ = traced(words, (suite, path), f'again-{number}-traced', words.time)
    return differs(test, plain, ours if not ended else {test: ('missing', ''), **ours})


def tally(found):
    return f"{sum(1 for status, _ in found.values() if status == 'passed')} of {len(found)}"


def run_group(words, group, number):
    suite, path = group.split(':', 1)
    began = time.monotonic()
    ended = run_jtreg(words, (suite, path), f'{words.results}/{number}', words.time)
    plain = results(f'{words.results}/{number}')
    ended_traced, ours, (counts, faults) = traced(words, (suite, path), f'{number}-traced', words.time)
    if ended_traced:  # a JVM that did not start left no result
        ours = {**{test: ('missing', 'it left no result') for test in plain}, **ours}
    both = plain.keys() & ours.keys()
    different = [test for test in sorted(both) if differs(test, plain, ours)]
    bad = []
    lines = []
    for place, test in enumerate(different):
        reason = why(test)
        if reason is None and confirmed(words, suite, test, f'{number}-{place}'):
            bad.append(test)
            reason = f'DIFFERENT: {ours[test][1]}'
        lines.append(f'    {test}: {reason or "failed once, and not when it ran again alone"}')
    print(f'{group}: untraced {tally(plain)} passed, traced {tally(ours)}; {len(both)} compared, {len(bad)} different; '
          f"traces: {counts['whole']} whole, {counts['cut']} cut; {time.monotonic() - began:.0f} s"
          + ('' if ended and ended_traced else '; the time was over'), flush=True)
    print(*lines, *(f'    TRACE: {fault}' for fault in faults), sep='\n', end='\n' if lines or faults else '', flush=True)
    if not both:
        print(f'    nothing was compared: see {words.results}/{number}/output.txt', flush=True)
    return len(both), len(bad) + len(faults)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--list', action='store_true')
    for name in ('java', 'build', 'source', 'jtreg', 'results'):
        parser.add_argument(f'--{name}')
    parser.add_argument('--options', default='events=all')
    parser.add_argument('--time', type=int, default=1800)
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--keep', action='store_true')
    parser.add_argument('groups', nargs='*', default=[])
    words = parser.parse_args()
    if words.list:
        print(*GROUPS, sep='\n')
        return 0
    for group in words.groups:
        suite, _, path = group.partition(':')
        if suite not in SUITES or not os.path.exists(f'{words.source}/{SUITES[suite]}/{path}'):
            print(f'jdk_suites.py: {group}: no group of {words.source}', file=sys.stderr)
            return 2
    shutil.rmtree(words.results, ignore_errors=True)
    print(f'{words.java}, tests of {os.path.basename(words.source)}, agent: {words.options}', flush=True)
    groups = words.groups or [g for g in GROUPS if os.path.exists(f"{words.source}/{SUITES[g.split(':')[0]]}/{g.split(':')[1]}")]
    done = [run_group(words, group, number) for number, group in enumerate(groups)]
    compared, faults = (sum(column) for column in zip(*done))
    print(f'{compared} tests compared, {faults} faults')
    return 1 if faults or not compared else 0


if __name__ == '__main__':
    sys.exit(main())
