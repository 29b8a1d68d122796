#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""extremes.py STEPTRACE MUTATE_STEP DATA [--rounds=N] [--first=N] [--minutes=N] [--keep=DIRECTORY]

Small traces of every format that is read, in which one number is extreme, through the verbs that read: no
number of a file may make a command take more time, memory or output than the file accounts for. Each run
has a limit of CPU time, of address space and of the length of a file, and fails if it reaches one.
Round N of a seed is always the same change: --first continues where an earlier run ended.
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

sys.dont_write_bytecode = True
from verbs import Fuzzer

CPU_SECONDS = 10
ADDRESS_BYTES = 3 << 29
DATA_LIMIT = '1g'  # --memory: what the allocations may have of it
OUTPUT_BYTES = 64 << 20
EXTREMES = [(1 << 64) - 1, 0, 1 << 62, (1 << 32) - 1, 1 << 31, 1 << 32, (1 << 63) - 1, 1, 1 << 40, 1 << 24, 1 << 53, 10 ** 30]
ENDINGS = ['step', 'zip', 'hatf', 'hatf.txt', 'mtf', 'heaptrack', 'memory-infra.json', 'pb.gz', 'otlp', 'collapsed',
           'trace.json', 'speedscope.json', 'calls.speedscope.json', 'jsonl', 'csv', 'callgrind', 'calls.callgrind',
           'dhat.json', 'massif', 'jfr', 'lifetimes.csv', 'hprof', 'et', 'ctf', 'binpb']
VERBS = ['info', 'info --json', 'check', 'dump', 'dump --records --entries', 'dump --json', 'stats',
         'stats --json --lifetimes=bytes', 'heap --by class,site', 'heap --by thread --at end', 'heap --retained --by site',
         'heap --by site --tree=top-down', 'report -o out.html', 'simulate',
         'simulate --young 192k..1m --semi-space 1k..1g --mark-compact 4k,1m --json', 'leaks',
         'leaks --survived=1 --existing --by=class+site', 'leaks --baseline=IN', 'compare IN --by all', 'compare IN --tree',
         'watch --json --top=3', 'watch --once --by=site', 'pack -o out.step', 'recover -o out.step', 'lifetimes',
         'advise --json --least=0 --top=0', 'nominal', 'escape --jit-log=jit.xml', 'deaths -o out.step', 'paths --class ** --at end',
         'layout', 'locality --json', 'stats --fail-if=peak>1 --alive-at=peak', 'sql select*from(objects)',
         'sql --csv select*from(sites)', 'sql --json select*from(classes)', 'sql select*from(phases)', 'sql select*from(calls)',
         'sql select*from(heap)', 'convert -o out.parquet --to=parquet --table=objects',
         'convert -o out.native --to=clickhouse-native --table=calls'] + [f'convert -o out.{ending}' for ending in ENDINGS]
NUMBER = re.compile(rb'(?<![0-9A-Za-z_])(?:0[xX][0-9a-fA-F]+|[0-9]+)(?![0-9A-Za-z_])')


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_BYTES, ADDRESS_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_BYTES, OUTPUT_BYTES))


class Extremes(Fuzzer):
    def add_seeds(self):
        for name in ('odd.txt', 'closed.txt', 'heap.hatf.txt', 'heap_breaches.hatf.txt', 'old.memory-infra.json', 'note.memory-infra.json'):
            shutil.copy(f'{self.data}/{name}', f'plain-{name}')
            self.seeds.append(f'plain-{name}')
        for corpus in ('metatf', 'hatf'):
            directory = f'{self.data}/../../fuzz/corpus/{corpus}'
            for name in sorted(os.listdir(directory)):
                ending = '.mtf' if corpus == 'metatf' else '.hatf'
                made = f'corpus-{name.split(".")[0]}{ending}'
                shutil.copy(f'{directory}/{name}', made)
                self.seeds.append(made)
        shutil.copy(f'{self.data}/escape-jit.xml', 'jit.xml')
        self.call(self.steptrace, 'convert', f'{self.data}/closed.txt', '-o', 'text.hatf.zst')
        self.seeds = [seed for seed in sorted(set(self.seeds)) if os.path.getsize(seed) < 1 << 18]
        random.Random(1).shuffle(self.seeds)

    @staticmethod
    def change_text(content, number):
        """The `number`th choice of a number of the text and a value."""
        found = list(NUMBER.finditer(content))
        if not found:
            return content
        at = found[number % len(found)]
        value = EXTREMES[number // len(found) % len(EXTREMES)]
        text = hex(value) if at[0][:2].lower() == b'0x' else str(value)
        return content[:at.start()] + text.encode() + content[at.end():]

    @staticmethod
    def change_binary(content, number):
        """An extreme number over the bytes of a place: as a varint, or of 1, 2, 4 or 8 bytes in either order."""
        at = number % max(1, len(content))
        number //= max(1, len(content))
        value = EXTREMES[number % (len(EXTREMES) - 1)]
        kind = number // len(EXTREMES) % 6
        if kind == 0:
            bytes_ = bytearray()
            while value > 127:
                bytes_.append(value & 127 | 128)
                value >>= 7
            bytes_.append(value)
        else:
            width = (8, 4, 4, 2, 1)[kind - 1]
            bytes_ = (value & (1 << 8 * width) - 1).to_bytes(width, 'little' if kind != 3 else 'big')
        return content[:at] + bytes(bytes_) + content[at + len(bytes_):]

    def make(self, name, out, number):
        """Makes `out` of the seed; false: this choice gives no file."""
        if name.endswith('.zip'):
            with zipfile.ZipFile(name) as old, zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as new:
                for member in old.namelist():
                    new.writestr(member, self.change_text(old.read(member), number))
            return True
        if name.endswith('.step'):
            live = os.path.exists(name + '.live')
            if live:
                shutil.copy(name, out)
                with open(name + '.live', 'rb') as old, open(out + '.live', 'wb') as new:
                    new.write(self.change_binary(old.read(), number))
                return True
            kind = 'extreme' if number % 3 else 'overwrite'
            return self.call(self.mutate, kind, str(number // 3), name, out)
        with open(name, 'rb') as old, open(out, 'wb') as new:
            change = self.change_text if name.endswith(('.txt', '.json')) else self.change_binary
            new.write(change(old.read(), number))
        return True

    def run(self, verb, trace):
        """What was wrong, or None."""
        words = [word.replace('IN', trace) for word in verb.split()]
        command = [self.steptrace, words[0], trace, f'--memory={DATA_LIMIT}', *words[1:]]
        if words[0] in ('convert', 'dump', 'sql'):
            command.append(f'--limit-output={OUTPUT_BYTES // 2}')
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open('out.stdout', 'wb') as out:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, check=False,
                                  env=self.environment, preexec_fn=limit)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.runs += 1
        self.refused += done.returncode == 3
        message = done.stderr[-1000:].decode('utf-8', 'replace')
        if done.returncode not in (0, 1, 2, 3, 4) or seconds > CPU_SECONDS - 1:
            return f'exit code {done.returncode} after {seconds:.1f} s\n{message}'
        if 'more memory than the limit' in message or 'out of memory' in message:
            return f'too much memory: {message}'
        if 'File too large' in message:
            return f'too much output: {message}'
        if self.options.slow and seconds > self.options.slow:
            print(f'slow: {seconds:.1f} s, {verb}, {trace}', flush=True)
            self.keep_files('slow', trace)
        return None

    def keep_files(self, what, trace):
        if self.options.keep:
            os.makedirs(self.options.keep, exist_ok=True)
            for path in (trace, trace + '.live'):
                if os.path.exists(path):
                    shutil.copy(path, f'{self.options.keep}/{what}-{path}')

    def round(self, number):
        dice = random.Random(number)
        name = self.seeds[number % len(self.seeds)]
        trace = 'changed' + name[name.index('.'):]
        for left in os.listdir('.'):
            if left.startswith(('changed', 'out.')):
                shutil.rmtree(left) if os.path.isdir(left) else os.unlink(left)
        if not self.make(name, trace, dice.getrandbits(40)):
            return
        for verb in dice.sample(VERBS, 4):
            fault = self.run(verb, trace)
            if fault is not None:
                self.failures += 1
                print(f'round {number}: {name}, {verb}: {fault}', flush=True)
                self.keep_files(str(number), trace)

    def all_rounds(self):
        end = time.monotonic() + 60 * self.options.minutes if self.options.minutes else None
        number = self.options.first
        while (time.monotonic() < end) if end else number < self.options.first + self.options.rounds:
            self.round(number)
            number += 1
        print(f'{len(self.seeds)} seeds, rounds {self.options.first} to {number - 1}, {self.runs} runs, {self.refused} with exit '
              f'code 3, {self.failures} failures')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('steptrace')
    parser.add_argument('mutate_step')
    parser.add_argument('data')
    parser.add_argument('--pairs', action='append', default=[], help='a directory of inputs of fuzz_live_pair; more than once')
    parser.add_argument('--rounds', type=int, default=200)
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--minutes', type=float, default=0)
    parser.add_argument('--slow', type=float, default=0, help='say which runs took more seconds')
    parser.add_argument('--keep')
    options = parser.parse_args()
    options.pairs = [os.path.realpath(place) for place in options.pairs]
    options.keep = options.keep and os.path.realpath(options.keep)
    fuzzer = Extremes(options)
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        fuzzer.make_seeds()
        fuzzer.add_seeds()
        fuzzer.all_rounds()
    return 1 if fuzzer.failures else 0


if __name__ == '__main__':
    sys.exit(main())
