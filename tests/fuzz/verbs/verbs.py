#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""verbs.py STEPTRACE MUTATE_STEP DATA [--rounds=N] [--minutes=N] [--seed=N] [--keep=DIRECTORY]

Changed files of every format through every verb: each run has to end in time with exit code 0, 2 or 3
(1: the output could not be written), in bounded memory, and to say nothing that a terminal would obey.
Checksums are made good after the change: STEP by mutate_step, zipped text by zipping it anew; the other
formats have none, nor has the live file beside a trace.  What fails is kept, and its seed printed.
"""
import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

VERBS = ['info', 'info --json', 'check', 'stats', 'stats --json --lifetimes=bytes', 'dump', 'dump --records',
         'dump --records --entries', 'heap --by class,site', 'heap --by thread --at end', 'heap --by site --tree=top-down',
         'report -o out.html', 'heap --temporary --by site --site=**a**',
         'stats --lifetime=>1us --alive-at=peak --fail-if=allocated>1 --baseline=IN', 'compare IN --by all',
         'compare IN --tree', 'leaks --survived=1 --existing --by=class+site', 'leaks --baseline=IN', 'watch --json --top=3',
         'watch --once --by=site', 'compare IN --html out.html', 'pack -o out.step', 'recover -o out.step',
         'lifetimes --json --top=0', 'advise --json --least=0 --top=0', 'nominal', 'nominal --json --phase=m*', 'escape --jit-log=IN',
         'deaths -o out.step', 'simulate --young 192k..1m --semi-space 1k..1g --mark-compact 4k,1m --json', 'heap --retained --by site', 'paths --class ** --at end', 'convert -o out.hprof --to=hprof', 'convert -o out.binpb --at end', 'convert -o out.et',
         'layout --json', 'layout --as=fields=old', 'locality --json', 'locality', 'layout --alive-at=peak --as=header=8',
         'convert -o out.hatf --deaths=exact',
         'check --json', 'dump --json', 'heap --csv --by site', 'heap --json --by thread,class', 'advise',
         'escape --json --jit-log=IN', 'simulate --young 1m --heap 2m..1t', 'simulate --csv', 'watch --once --by=thread',
         'gate --snapshot=IN', 'gate --update --snapshot=a.snap --whole=x', 'gate --update --snapshot=a.snap', 'sql select*from(objects)', 'sql --csv select*from(classes)', 'sql --json select*from(sites)', 'sql select*from(phases)',
         'sql select*from(calls)', 'convert -o out.ctf', 'convert -o out.parquet --to=parquet --table=objects', 'convert -o out.native --to=clickhouse-native --table=calls']
ENDINGS = ['step', 'zip', 'hatf', 'hatf.zst', 'hatf.txt', 'mtf', 'heaptrack', 'memory-infra.json', 'pb.gz', 'otlp', 'collapsed', 'jfr.gz',
           'trace.json', 'speedscope.json', 'calls.speedscope.json', 'jsonl', 'csv', 'callgrind', 'calls.callgrind', 'dhat.json',
           'massif', 'jfr', 'lifetimes.csv']
CONTROLS = re.compile(rb'[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]')
SECONDS = 60
MEMORY = '256m'
SANITIZED = 'allocator_may_return_null=1:max_allocation_size_mb=1024:detect_leaks=1'


class Fuzzer:
    def __init__(self, options):
        self.options = options
        self.steptrace = os.path.realpath(options.steptrace)
        self.mutate = os.path.realpath(options.mutate_step)
        self.data = os.path.realpath(options.data)
        self.seeds = []
        self.runs = self.failures = self.refused = 0
        self.environment = dict(os.environ, ASAN_OPTIONS=SANITIZED, UBSAN_OPTIONS='halt_on_error=1')

    def call(self, *words):
        return subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
                              env=self.environment).returncode == 0

    def make_seeds(self):
        """Small files of each format, in the directory that is current."""
        sources = {'java': f'{self.data}/closed.txt', 'heap': f'{self.data}/heap.hatf.txt',
                   'names': f'{self.data}/hostile/names.step', 'odd': f'{self.data}/odd.txt'}
        for name, source in sources.items():
            for ending in ['step', 'zip', 'hatf', 'hatf.txt', 'mtf', 'memory-infra.json']:
                if self.call(self.steptrace, 'convert', source, '-o', f'{name}.{ending}'):
                    self.seeds.append(f'{name}.{ending}')
            for encoding in ('naive', 'optimal', 'age', 'bump'):
                if self.call(self.steptrace, 'convert', source, f'--encoding={encoding}', '-o',
                             f'{name}-{encoding}.hatf'):
                    self.seeds.append(f'{name}-{encoding}.hatf')
            if self.call(self.steptrace, 'convert', source, '--unpacked', '-o', f'{name}-plain.mtf'):
                self.seeds.append(f'{name}-plain.mtf')
            if self.call(self.steptrace, 'pack', f'{name}.step', '-o', f'{name}-packed.step'):
                self.seeds.append(f'{name}-packed.step')
            for layout in ([], ['rows']):
                made = f'{name}-{"rows" if layout else "columns"}.step'
                if os.path.exists(f'{name}.step') and self.call(self.mutate, 'plain', f'{name}.step', made, *layout):
                    self.seeds += [made] * 3  # most is to be found there
        for name in ('shop-1', 'shop-2', 'layouts', 'drops', 'sums_wrap'):  # call stacks, method events, layouts, drops
            if self.call(self.mutate, 'plain', f'{self.data}/traces/{name}.step', f'{name}.step'):
                self.seeds += [f'{name}.step'] * 2
        for path in sorted(os.listdir(self.data)):
            if path.endswith('.bin'):  # traces of records of their own
                shutil.copy(f'{self.data}/{path}', f'{path[:-4]}.step')
                self.seeds.append(f'{path[:-4]}.step')
        # records of every type: source files, phases, layouts, references, samples, deaths
        for name in ('java', 'heap', 'shop-1', 'sampled', 'linked', 'escape'):
            for seed in range(1, 4):
                made = f'every-{name}-{seed}.step'
                if self.call(self.mutate, 'every', str(seed), f'{name}.step', made):
                    self.seeds.append(made)
        for path in sorted(os.listdir(f'{self.data}/ring')):  # a file of a ring by itself, in the midst of objects' lives
            shutil.copy(f'{self.data}/ring/{path}', f'ring-{path[:-4]}.step')
            self.seeds.append(f'ring-{path[:-4]}.step')
        for path in sorted(os.listdir(f'{self.data}/../../golden/versions')):
            if path.endswith('.step'):
                shutil.copy(f'{self.data}/../../golden/versions/{path}', path)
                self.seeds.append(path)
        for place in self.options.pairs:
            self.take_pairs(place)

    def take_pairs(self, directory):
        for path in sorted(os.listdir(directory)):
            with open(os.path.join(directory, path), 'rb') as pair:
                content = pair.read()
            length = int.from_bytes(content[:4], 'little')
            with open(f'{path}.step', 'wb') as trace, open(f'{path}.step.live', 'wb') as live:
                trace.write(content[4:4 + length])
                live.write(content[4 + length:])
            self.seeds.append(f'{path}.step')

    def missing_kinds(self):
        """Records of the definitions that no seed has, as records and not as entries of dictionaries alone."""
        wanted, found = set(), set()
        for name in ('java', 'hatf'):
            with open(f'{self.options.definitions}/{name}.step', encoding='utf-8') as file:
                text = file.read()
            package = re.search(r'^package (\w+)', text, re.M)[1]
            wanted |= {f'{package}.{record}' for record in re.findall(r'^  record (\w+)', text, re.M)}
        for seed in sorted(set(self.seeds)):
            if seed.startswith('every-'):
                done = subprocess.run([self.steptrace, 'dump', '--records', seed], capture_output=True, check=False, env=self.environment)
                found |= {line.split(b' ', 1)[0].decode() for line in done.stdout.splitlines()}
        return sorted(wanted - found)

    @staticmethod
    def change_bytes(content, dice):
        content = bytearray(content)
        for _ in range(dice.randint(1, 6)):
            if not content:
                break
            at = dice.randrange(len(content))
            kind = dice.randrange(5)
            if kind == 0:
                content[at] ^= 1 << dice.randrange(8)
            elif kind == 1:
                content[at] = dice.choice([0, 1, 27, 34, 60, 127, 128, 255])
            elif kind == 2:
                content[at:at + dice.randint(1, 8)] = b''
            elif kind == 3:
                content[at:at] = content[at:at + dice.randint(1, 40)]
            else:
                content[at:at] = dice.choice([b'\x1b[2J', b'</script>', b'"', b'\xe2\x80\xae', b'\xff\xfe',
                                              b'18446744073709551615', b'4294967290', b':', b'\n'])
        return bytes(content)

    def change(self, name, out, dice):
        """Makes `out` of the seed; its checksums are good."""
        if name.endswith('.zip'):
            with zipfile.ZipFile(name) as old, zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as new:
                for member in old.namelist():
                    new.writestr(member, self.change_bytes(old.read(member), dice))
            return
        if name.endswith('.step'):
            subprocess.run([self.mutate, 'change', str(dice.getrandbits(62)), name, out], check=True)
            if os.path.exists(name + '.live'):
                with open(name + '.live', 'rb') as old, open(out + '.live', 'wb') as new:
                    new.write(self.change_bytes(old.read(), dice))
            return
        with open(name, 'rb') as old, open(out, 'wb') as new:
            new.write(self.change_bytes(old.read(), dice))

    def run(self, verb, trace):
        """What was wrong, or None."""
        words = verb.split()
        words = [word.replace('IN', trace) for word in words]
        command = [self.steptrace, words[0], trace, f'--memory={MEMORY}', *words[1:]]
        try:
            done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False,
                                  env=self.environment,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28)))
        except subprocess.TimeoutExpired:
            return f'not done in {SECONDS} s'
        self.runs += 1
        self.refused += done.returncode == 3
        if done.returncode not in (0, 1, 2, 3, 4):
            return f'exit code {done.returncode}\n{done.stderr[-3000:].decode("utf-8", "replace")}'
        if (b'usage' in done.stderr or b'--help' in done.stderr) and b"Meta-TF's records" not in done.stderr:
            return 'the harness calls it wrongly: ' + done.stderr.decode('utf-8', 'replace')
        if done.returncode == 1 and (b'out of memory' in done.stderr or not done.stderr):
            return 'exit code 1: ' + done.stderr.decode('utf-8', 'replace')
        for what, text in (('stdout', done.stdout), ('stderr', done.stderr)):
            found = CONTROLS.search(text.replace(b'\r\n', b'\n'))
            if found:
                return f'a control on {what}: {text[max(0, found.start() - 40):found.end() + 20]!r}'
        return None

    def round(self, number):
        dice = random.Random(self.options.seed * 1000003 + number)
        name = self.seeds[number % len(self.seeds)]
        trace = 'changed' + name[name.index('.'):]
        for left in os.listdir('.'):
            if left.startswith(('changed', 'out.')):
                shutil.rmtree(left) if os.path.isdir(left) else os.unlink(left)
        self.change(name, trace, dice)
        verbs = dice.sample(VERBS, 3) + ['convert -o out.' + dice.choice(ENDINGS)]
        for verb in verbs:
            fault = self.run(verb, trace)
            if fault is not None:
                self.failures += 1
                print(f'seed {self.options.seed}, round {number}: {name}, {verb}: {fault}', flush=True)
                if self.options.keep:
                    os.makedirs(self.options.keep, exist_ok=True)
                    for path in (trace, trace + '.live'):
                        if os.path.exists(path):
                            shutil.copy(path, f'{self.options.keep}/{self.options.seed}-{number}-{path}')

    def all_rounds(self):
        end = time.monotonic() + 60 * self.options.minutes if self.options.minutes else None
        number = 0
        while (time.monotonic() < end) if end else number < self.options.rounds:
            self.round(number)
            number += 1
        print(f'{len(set(self.seeds))} seeds, {number} changed files, {self.runs} runs, {self.refused} with exit '
              f'code 3, {self.failures} failures')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('steptrace')
    parser.add_argument('mutate_step')
    parser.add_argument('data')
    parser.add_argument('--pairs', action='append', default=[], help='a directory of inputs of fuzz_live_pair; more than once')
    parser.add_argument('--definitions', help='where java.step and hatf.step are: each of their records has to be in a seed')
    parser.add_argument('--rounds', type=int, default=200)
    parser.add_argument('--minutes', type=float, default=0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--keep')
    options = parser.parse_args()
    options.pairs = [os.path.realpath(place) for place in options.pairs]
    for key in ('keep', 'definitions'):
        if getattr(options, key):
            setattr(options, key, os.path.realpath(getattr(options, key)))
    fuzzer = Fuzzer(options)
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        fuzzer.make_seeds()
        missing = fuzzer.missing_kinds() if options.definitions else []
        for name in missing:
            print(f'no seed has {name}')
        fuzzer.failures += len(missing)
        fuzzer.all_rounds()
    return 1 if fuzzer.failures else 0


if __name__ == '__main__':
    sys.exit(main())
