#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""try_growth.py STEPTRACE GRAPH_TRACE: what `steptrace advise` says of arrays that grow: elements used against capacity,
of random programs for which each element is known."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve()
STEPTRACE, GRAPH_TRACE = map(os.path.abspath, sys.argv[1:3])


def run(*words):
    return subprocess.run([STEPTRACE, *words], capture_output=True, text=True, timeout=60, check=True).stdout


def make(text):
    subprocess.run([GRAPH_TRACE, 'in.step'], input=text, text=True, check=True, timeout=60)


def answer():
    text = run('advise', '--json', '--least=1', 'in.step')
    schema = HERE.parent.parent.parent / 'docs/schemas/advise.schema.json'
    subprocess.run([HERE.parent.parent / 'cli/validate.py', schema], input=text, text=True, check=True)
    return json.loads(text)


ROW, SLOTS, INTS, OBJECTS, ELEMENT = 1, 2, 3, 4, 5
NAMES = '''class t/Row 0
class t/Slots 0
class [I 0
class [Ljava/lang/Object; 0
class java/lang/Object 0
class t/Main 0
field 1 values [I 2
field 2 values [Ljava/lang/Object; 2
method 6 main ()V 9
thread main 0
frame 0 1 10
frame 0 1 20
0 start 0 0
0 init 0 0
2 alloc 1 1 5 16 1
'''


class Growth:
    """Collections whose arrays grow; for each array, which of its elements a reference went into, one by one."""

    def __init__(self, seed, has_layout):
        self.random = random.Random(seed)
        self.time, self.next, self.lines = 1, 2, []
        self.has_layout = has_layout
        self.lengths, self.sure, self.maybe = {}, {}, {}
        self.last = {SLOTS: [], ROW: []}

    def line(self, text):
        self.time += 1
        self.lines.append('2 ' + text.replace('@', str(self.time)))

    def array(self, kind, length):
        number, bytes_used = self.next, 16 + 4 * length
        size = -(-bytes_used // 8) * 8
        self.next += 1
        self.line(f'alloc @ 1 {kind} {size} {number} {size - bytes_used if self.has_layout else 0}')
        self.lengths[number] = length if self.has_layout else (size - 16) // 4
        self.sure[number], self.maybe[number] = set(), set()
        return number

    def store(self, array, index, target):
        self.line(f'element @ 1 {array} {target} {index}')
        (self.sure if target else self.maybe)[array].add(index)

    def copy(self, source, array, count):
        self.line(f'range @ 1 {source} 0 {array} 0 {count}')
        for ever in (self.sure, self.maybe):
            top = max(ever[source], default=-1)
            ever[array].update(range(min(top + 1, count)))

    def collection(self, kind):
        """Grows some times, and then uses some of what it has."""
        holder, array_class = self.next, {SLOTS: OBJECTS, ROW: INTS}[kind]
        self.next += 1
        self.line(f'at @ 1 {kind} 24 {holder} 0 {kind}')
        length = self.random.randint(3, 9)
        array = self.array(array_class, length)
        self.line(f'field @ 1 {holder} {array} {kind}')
        for _ in range(self.random.randint(3, 6)):
            if kind == SLOTS:
                self.store(array, self.random.randrange(length), self.random.choice([0, 1, 1, 1]))
            longer = self.array(array_class, 2 * length + 1)
            if kind == SLOTS:
                self.copy(array, longer, length)
            self.line(f'field @ 1 {holder} {longer} {kind}')
            array, length = longer, 2 * length + 1
        for _ in range(self.random.randint(0, 4) if kind == SLOTS else 0):
            self.store(array, self.random.randrange(length), self.random.choice([0, 1]))
        self.last[kind].append(array)
        if self.random.random() < 0.5:  # they die, the array first or last
            dead = [holder, array]
            self.random.shuffle(dead)
            self.time += 1
            self.lines += [f'1 free {self.time} 0 {number}' for number in dead]

    def used(self):
        """Of the arrays of references: at least, at most."""
        arrays = self.last[SLOTS]
        least = [max(self.sure[a], default=-1) + 1 for a in arrays]
        most = [max(self.sure[a] | self.maybe[a], default=-1) + 1 for a in arrays]
        return sum(least), sum(most)


def try_seed(seed):
    """With lengths in the trace, or without."""
    program = Growth(seed, has_layout=seed % 2 == 0)
    for _ in range(30):
        program.collection(SLOTS)
        program.collection(ROW)
    layout = 'property layout alignment=8,reference=4,elements=16/16/16/16\n' if program.has_layout else ''
    make(layout + NAMES + '\n'.join(program.lines) + f'\n0 end {program.time + 1} 0\n')
    rows = {r['class']: r for r in answer()['advice'] if r['advice'] == 'presize'}
    slots, ints = rows['t/Slots']['evidence'], rows['t/Row']['evidence']
    capacity = {kind: sum(program.lengths[a] for a in arrays) for kind, arrays in program.last.items()}
    assert (slots['last_arrays'], slots['capacity']) == (30, capacity[SLOTS]), slots
    assert (slots['used'], slots['used_most']) == program.used(), (slots, program.used())
    assert (ints['last_primitive_arrays'], ints['primitive_capacity'], ints['used']) == (30, capacity[ROW], 0), ints
    assert slots['is_capacity_exact'] == ints['is_capacity_exact'] == program.has_layout, slots
    text = run('advise', '--least=1', 'in.step')
    assert ('elements used' in text and 'use unknown' in text
            and ('at most' in text.partition('at stake')[2]) == (not program.has_layout)), text


def main():
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for seed in range(6):
            try_seed(seed)


main()
