#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recorder_cost.py [--build DIR] [--rounds N] [PROGRAM...]: what recording costs, beside heaptrack.

CPU seconds, of the program and of what records it; bytes an event on disk; memory of the largest
process. Prints the table of docs/results/recorder.md.
"""
import argparse
import glob
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

STACK = 64
os.environ['PYTHONMALLOC'] = 'malloc'  # else python3 has an allocator of its own

CXX = '''#include <map>
#include <string>
#include <vector>
#include <algorithm>
#include <functional>
#include <regex>
#include <iostream>
std::map<std::string, std::vector<int>> m;
int main() { m["a"].push_back(1); std::sort(m["a"].begin(), m["a"].end());
  std::regex r("a+b"); std::cout << std::regex_match("aab", r); }
'''
SQL = '''create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x+1 from c where x<150000)
  insert into t select x, hex(x*x) from c;
create index i on t(b); select count(*) from t where b like '%12%';
'''
PERL = 'for my $r (1..6) { my %h; for (1..60000) { $h{$_ * $r} = "x" x ($_ % 50) } }'
AWK = 'BEGIN { for (r = 0; r < 4; r++) { delete a; for (i = 0; i < 300000; i++) a[i] = i "x" } }'
PYTHON = 'd = {}\nfor r in range(2):\n d = {str(i): [i, (i, r)] for i in range(150000)}\n'
DOT = 'digraph g { ' + ' '.join('n%d -> n%d;' % (i % 300, (i * 7 + 3) % 300)
                                for i in range(500)) + ' }'


def programs(scratch):
    """name -> (command, standard input)"""
    def there(*command, text=None):
        return (list(command), text) if shutil.which(command[0]) else None
    source = os.path.join(scratch, 'source.cc')
    with open(source, 'w') as file:
        file.write(CXX)
    compiler = subprocess.run(['gcc', '-print-prog-name=cc1plus'], capture_output=True,
                              text=True).stdout.strip()
    found = {
        'sqlite3': there('sqlite3', ':memory:', text=SQL),
        'cc1plus': there(compiler, '-quiet', '-O1', '-D_GNU_SOURCE', '-imultiarch', 'x86_64-linux-gnu', source, '-o', '/dev/null'),
        'perl': there('/usr/bin/perl', '-e', PERL),
        'gawk': there('gawk', AWK),
        'python3': there('/usr/bin/python3', '-S', '-c', PYTHON),
        'dot': there('dot', '-Tsvg', '-o', '/dev/null', text=DOT),
    }
    return {name: row for name, row in found.items() if row is not None}


def measure(command, text, is_sure=True):
    """CPU seconds of all its processes, and the memory of the largest, in MiB."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        done = subprocess.run(command, input=text, text=True, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        os.write(write, repr((usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024,
                              done.returncode)).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        cpu, memory, code = eval(file.read())
    os.waitpid(child, 0)
    if is_sure and code != 0:
        sys.exit('%s: exit code %d' % (' '.join(command)[:80], code))
    return cpu, memory


def info(steptrace, trace):
    text = subprocess.run([steptrace, 'info', trace], capture_output=True, text=True).stdout
    take = lambda key: int(re.search(r'^%s +([\d,]+)' % key, text, re.M)[1].replace(',', ''))
    return take('records'), take('drain-cpu-us') / 1e6, take('drain-peak-kib') / 1024


def recorded(steptrace, scratch, command, text, *options):
    trace = os.path.join(scratch, 'run.step')
    cpu, memory = measure([steptrace, 'record-malloc', '-O', 'overwrite=yes', *options, '-o', trace, '--', *command],
                             text)
    records, drain_cpu, drain_memory = info(steptrace, trace)
    size = os.path.getsize(trace)
    os.remove(trace)
    return cpu + drain_cpu, max(memory, drain_memory), size / records, records


def heaptracked(scratch, command, text):
    out = os.path.join(scratch, 'heaptrack.out')
    cpu, memory = measure(['heaptrack', '-o', out, *command], text, False)
    file, = glob.glob(out + '*')
    size = os.path.getsize(file)
    os.remove(file)
    return cpu, memory, size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build-gcc')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('names', nargs='*')
    given = parser.parse_args()
    steptrace = os.path.abspath(os.path.join(given.build, 'converter/steptrace'))
    print('| program | records | bare | recorded | `--stack=%d` | heaptrack |' % STACK)
    print('|---|---:|---:|---|---|---|')
    with tempfile.TemporaryDirectory() as scratch:
        for name, (command, text) in programs(scratch).items():
            if given.names and name not in given.names:
                continue
            rows = [[], [], [], []]
            for _ in range(given.rounds):
                rows[0].append(measure(command, text))
                rows[1].append(recorded(steptrace, scratch, command, text))
                rows[2].append(recorded(steptrace, scratch, command, text, '--stack=%d' % STACK))
                if shutil.which('heaptrack'):
                    rows[3].append(heaptracked(scratch, command, text))
            bare, plain, stacks = min(rows[0]), min(rows[1]), min(rows[2])
            cell = lambda row, size: '%.2f s, %.2fx, %.2f B, %.0f MiB' % (
                row[0], row[0] / bare[0], size, row[1])
            heaptrack = min(rows[3]) if rows[3] else None
            print('| %s | %s | %.2f s, %.0f MiB | %s | %s | %s |' % (
                name, format(plain[3], ','), bare[0], bare[1], cell(plain, plain[2]),
                cell(stacks, stacks[2]),
                cell(heaptrack, heaptrack[2] / plain[3]) if heaptrack else 'not installed'),
                flush=True)


if __name__ == '__main__':
    main()
