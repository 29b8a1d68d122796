#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""findings.py STEPTRACE AGENT JAVA_HOME: programs with one planted fault each, of which `stats` and the report page find
that one and nothing else."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

STEPTRACE, AGENT, JAVA = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), sys.argv[3]
SPREAD = 24  # lines, of which none has a tenth

SOURCE = '''
import java.util.ArrayList;

class Nothing {
    public static void main(String[] args) {
        System.gc();
        System.gc();
    }
}

class Churns {
    static long sum;

    static byte[] copy(int i) {
        return new byte[1000 + i % 8]; // planted
    }

    public static void main(String[] args) {
        for (int i = 0; i < 40_000; i++)
            sum += copy(i).length;
    }
}

class Leaks {
    static final ArrayList<long[]> kept = new ArrayList<>(16_384);

    static Object last;

    static void keep() {
        for (int i = 0; i < 200; i++)
            kept.add(new long[6]); // planted
    }

    public static void main(String[] args) throws InterruptedException {
        for (int round = 0; round < 30; round++) {
            keep();
            for (int i = 0; i < 10; i++)
                last = new byte[100];
            System.gc(); // which frees some: a collection that frees nothing may be none
            Thread.sleep(20);
        }
    }
}

class Keeps {
    static final Object[] kept = new Object[3000];

    static Object make() {
        return new byte[1000]; // planted
    }

    public static void main(String[] args) {
        for (int i = 0; i < kept.length; i++)
            kept[i] = make();
        for (int i = 0; i < 4; i++)
            System.gc();
    }
}

class Recents {
    static final java.util.ArrayDeque<long[]> lately = new java.util.ArrayDeque<>();

    public static void main(String[] args) {
        for (int i = 0; i < 60_000; i++) {
            lately.add(new long[16]); // planted
            if (lately.size() > 4000)
                lately.remove();
        }
    }
}

class Spreads {
    static Object last;

    public static void main(String[] args) {
        for (int i = 0; i < 400; i++) {
SPREAD
        }
        System.gc();
        System.gc();
    }
}
'''.replace('SPREAD', '\n'.join('            last = new byte[1000];' for _ in range(SPREAD)))

LINES = [number for number, line in enumerate(SOURCE.splitlines(), 1) if 'planted' in line]

# program, options of record, of java, and the findings: by kind what the sentence has
CASES = [
    ('Nothing', ['--stack=16'], ['-Xmx64m'], {}),
    ('Nothing', [], ['-Xmx64m'], {'lacks': 'Call stacks were not recorded'}),
    ('Nothing', ['--stack=16', '-O', 'events=class+alloc'], ['-Xmx64m'], {'lacks': 'Deaths were not recorded'}),
    ('Churns', ['--stack=16', '-O', 'collect=4m'], ['-Xmx6m'],
     {'allocates': rf'byte\[\] at Churns.copy\(Planted.java:{LINES[0]}\), 3\d[.]\d MiB in 40,00\d objects',
      'dies': rf'byte\[\] at Churns.copy\(Planted.java:{LINES[0]}\), (100[.]0|9\d[.]\d) %'}),
    ('Leaks', ['--stack=16', '-O', 'snapshot=end'], ['-Xmx6m'],
     {'grows': rf'long\[\] at Leaks.keep\(Planted.java:{LINES[1]}\), by \d.*; static field Leaks.kept holds [\d,]+[.]'}),
    ('Keeps', ['--stack=16'], ['-Xmx64m', '-Xmn32m'],
     {'allocates': rf'byte\[\] at Keeps.make\(Planted.java:{LINES[2]}\), 2[.]91 MiB in 3,000 objects',
      'heap': 'would have been enough'}),
    # what dies in the old generation, which no collection of the young one finds, is not growth
    ('Recents', ['--stack=16'], ['-Xmx14m', '-Xmn1m'],
     {'allocates': rf'long\[\] at Recents.main\(Planted.java:{LINES[3]}\)', 'grows': 'the trace does not show what holds them'}),
    ('Recents', ['--stack=16', '-O', 'snapshot=end'], ['-Xmx14m', '-Xmn1m'],
     {'allocates': rf'long\[\] at Recents.main\(Planted.java:{LINES[3]}\)'}),
    ('Spreads', ['--stack=16'], ['-Xmx640m'], {'heap': r'-Xmx\d+m would have been enough with Serial.* of -Xmx640m were in use'}),
]


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=300).stdout


# what the command after a finding prints
EVIDENCE = {'allocates': r'Planted\.java:\d+|type \[', 'grows': r'Planted\.java:\d+', 'dies': r'Planted\.java:\d+', 'heap': 'least heap'}


def show(line):
    """What the command of a finding prints, as a shell takes it."""
    words = shlex.split(line)
    if words[:2] != ['$', 'steptrace']:
        sys.exit(f'{line!r} is no command')
    return run(STEPTRACE, *words[2:])


def findings_of(name, options, java_options):
    run(STEPTRACE, 'record', f'--agent={AGENT}', '-O', 'overwrite=yes', *options, '-o', 'run.step', '--',
        f'{JAVA}/bin/java', '-XX:+UseSerialGC', *java_options, '-cp', '.', name)
    shutil.copy('run.step', "it's run.step")
    found = json.loads(run(STEPTRACE, 'stats', '--json', 'run.step'))['findings']
    told = run(STEPTRACE, 'stats', "it's run.step").splitlines()
    lines = [line[2:] for line in told if line.startswith('- ')]
    run(STEPTRACE, 'report', 'run.step', '-o', 'page.html')
    page = pathlib.Path('page.html').read_text(encoding='utf-8')
    shown = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])['findings']
    return found, lines, shown, [show(line) for line in told if line.startswith('  $ ')]


def main():
    faults = []
    pathlib.Path('Planted.java').write_text(SOURCE, encoding='utf-8')
    run(f'{JAVA}/bin/javac', 'Planted.java')
    for name, options, java_options, wanted in CASES:
        found, lines, shown, commands = findings_of(name, options, java_options)
        what = f'{name} {options}'
        if {one['kind'] for one in found} != set(wanted) or len(found) != len(wanted):
            faults.append(f'{what}: {found}, not {wanted}')
        if lines != [one['text'] for one in found] or [one['kind'] for one in shown] != [one['kind'] for one in found]:
            faults.append(f'{what}: the text has {lines}, the page {shown}, JSON {found}')
        evidence = [EVIDENCE[one['kind']] for one in found if one['kind'] in EVIDENCE]
        if len(evidence) != len(commands) or not all(re.search(text, output) for text, output in zip(evidence, commands)):
            faults.append(f'{what}: the commands print {commands}, not {evidence}')
        faults += [f'{what}: {one["text"]!r} has no {wanted[one["kind"]]!r}' for one in found
                   if one['kind'] in wanted and re.search(wanted[one['kind']], one['text']) is None]
    sys.exit('\n'.join(faults) or 0)


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    main()
