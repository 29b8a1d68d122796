#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""exit_codes.py STEPTRACE DATA: the exit status of each verb for each kind of input and output, as
steptrace(1) says.  A verb of `steptrace help` that neither CALLS nor OTHERS lists fails the test."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

CALLS = {  # IN: the trace, OUT: a file to write
    'convert': 'IN -o OUT.txt --to=lines',
    'dump': 'IN',
    'info': 'IN',
    'check': 'IN',
    'stats': 'IN',
    'heap': 'IN',
    'paths': 'IN --class=no.such.Name',
    'deaths': 'IN -o OUT.step',
    'lifetimes': 'IN',
    'advise': 'IN',
    'nominal': 'IN',
    'locality': 'IN',
    'simulate': 'IN',
    'sql': 'IN SELECT',
    'compare': 'IN IN',
    'gate': 'IN --whole=x --update --snapshot OUT.snap',
    'leaks': 'IN',
    'watch': 'IN --once',
    'report': 'IN -o OUT.html',
    'pack': 'IN -o OUT.step',
    'replay': 'IN',
    'recover': 'IN -o OUT.step',
}
OTHERS = {'record', 'attach', 'record-malloc', 'mcp', 'help', 'version',  # read no trace
          'layout',  # needs a trace of layouts: cases/layout.sh
          'gate',  # compares with a snapshot: cases/gate.sh
          'escape'}  # needs one of bytecode indexes: cases/escape.sh
INPUTS = {  # exit status by input; of those in EXCEPTIONS, another
    'whole': 0, 'dropped': 3, 'ring': 3, 'cut': 3, 'damaged': 3, 'empty': 3, 'foreign': 3, 'missing': 1, 'directory': 1, 'fifo': 1, 'unreadable': 1}
EXCEPTIONS = {
    ('paths', 'whole'): 1, ('paths', 'cut'): 1, ('paths', 'damaged'): 1,  # no object of that class
    ('locality', 'whole'): 1, ('locality', 'cut'): 1, ('locality', 'damaged'): 1,  # no references
    ('compare', 'directory'): 3,  # a set of traces that has none
    ('paths', 'dropped'): 1, ('locality', 'dropped'): 1,
    ('recover', 'ring'): 2,  # it takes one of the files
}
WRITES_WHAT_IS_GOOD = {'convert', 'deaths', 'pack', 'recover', 'report'}
REFUSES_SAMPLES = {'convert', 'deaths', 'recover'}  # as the ring's


def make_inputs(data):
    with open(data + '/traces/shop-1.step', 'rb') as file:
        good = file.read()
    damaged = bytearray(good)
    for i in range(len(good) // 3, len(good) // 3 + 40):
        damaged[i] ^= 0x55
    files = {'whole': good, 'cut': good[:len(good) * 2 // 3], 'damaged': damaged, 'empty': b'',
             'foreign': b'what is this\n' * 40, 'unreadable': good}
    for name, content in files.items():
        with open(name + '.step', 'wb') as file:
            file.write(content)
    shutil.copy(data + '/traces/drops.step', 'dropped.step')
    for number in (1, 2, 4):  # the third is missing
        shutil.copy(f'{data}/ring/run.{number:06}.bin', f'ring.{number:06}.step')
    os.chmod('unreadable.step', 0)
    os.mkdir('directory.step')
    os.mkfifo('fifo.step')


def main():
    steptrace, data = (os.path.realpath(path) for path in sys.argv[1:])
    faults = []
    with open(steptrace, 'rb') as program:
        if b'__asan_report_' in program.read():  # the driver's own limit leaves no room for its tables
            del CALLS['replay']
            OTHERS.add('replay')

    def words_of(verb, source, target='out'):
        words = [word.replace('IN', source).replace('OUT', target) if word != 'SELECT' else 'select count(*) from classes'
                 for word in CALLS[verb].split()]
        return [steptrace, verb, *words]

    def expect(wanted, what, words, needs_message=True, **how):
        how.setdefault('stdout', subprocess.PIPE)
        try:
            done = subprocess.run(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60, check=False, **how)
        except subprocess.TimeoutExpired:
            faults.append(f'{what}: does not end')
            return
        if done.returncode != wanted:
            faults.append(f'{what}: {done.returncode}, not {wanted}: {done.stderr.decode(errors="replace")[:200]}')
        elif needs_message and wanted != 0 and not done.stderr:
            faults.append(f'{what}: {wanted} without a message')

    def verbs():
        listing = subprocess.run([steptrace, 'help'], stdout=subprocess.PIPE, check=True).stdout.decode()
        return re.findall(r'^  ([a-z-]+) +\S', listing, re.MULTILINE)

    listed = verbs()
    assert len(listed) > 20, listed
    assert set(CALLS) | OTHERS == set(listed), (set(CALLS) | OTHERS) ^ set(listed)
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        make_inputs(data)
        for verb in CALLS:
            has_output = 'OUT' in CALLS[verb]
            for name, wanted in INPUTS.items():
                if name == 'unreadable' and os.geteuid() == 0:
                    continue  # root reads it
                expect(EXCEPTIONS.get((verb, name), wanted), f'{verb} of {name}', words_of(verb, f'{name}.step'))
                written = [file for file in os.listdir() if file.startswith('out')]
                good = verb in WRITES_WHAT_IS_GOOD and (name in ('whole', 'dropped', 'cut', 'damaged') or
                                                        (name == 'ring' and verb not in REFUSES_SAMPLES))
                good = good or (verb == 'gate' and name == 'whole')
                if bool(written) != good:
                    faults.append(f'{verb} of {name} wrote {written}')
                for file in written:
                    os.remove(file)
            expect(2, f'{verb}, unknown option', [*words_of(verb, 'whole.step'), '--no-such-option'])
            expect(2, f'{verb} without arguments', [steptrace, verb])
            expect(0, f'{verb} --help', [steptrace, verb, '--help'])
            if has_output:
                expect(1, f'{verb}, no such directory', words_of(verb, 'whole.step', 'none/out'))
                full = [re.sub(r'^out\..*', '/dev/full', word) for word in words_of(verb, 'whole.step')]
                expect(1, f'{verb}, output full', full)
            elif verb != 'paths':
                with open('/dev/full', 'wb') as output:
                    expect(1, f'{verb}, standard output full', words_of(verb, 'whole.step'), stdout=output)
        for verb in listed:
            if verb not in CALLS and verb != 'help':
                expect(0, f'{verb} --help', [steptrace, verb, '--help'])
        expect(2, 'unknown command', [steptrace, 'no-such-verb'])
        for former in ('agent-path', 'snapshot'):
            expect(2, f'former command {former}', [steptrace, former, '1'])
        expect(2, 'no command', [steptrace], needs_message=False)
        for verb in ('stats', 'heap', 'dump'):
            expect(0, f'{verb}, a pattern without a match', [*words_of(verb, 'whole.step'), '--class=no.such.Name'])
    print('\n'.join(faults) or f'{len(CALLS)} verbs, {len(INPUTS)} inputs')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
