#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""selection.py STEPTRACE DATA: what the options of a selection take, against another reader.

The trace is printed as records, with the entries of its dictionaries; what each selection must have is worked out
here from these lines, and compared with what `dump`, `stats`, `heap`, `convert` and `report` make of it.
"""
import fnmatch
import functools
import json
import os
import re
import subprocess
import sys
import tempfile

STEPTRACE, DATA = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
TRACE = f'{DATA}/traces/shop-1.step'
failures = 0


def steptrace(*words, code=0):
    done = subprocess.run([STEPTRACE, *words], capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != code:
        sys.exit(f'{words}: exit code {done.returncode}\n{done.stderr}')
    return done.stdout


def fields(line):
    """name=value, names of what numbers stand for taken out."""
    return dict(re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|#?\d+)', re.sub(r'\{[^{}]*\}', '', line)))


def number(text):
    return int(text.lstrip('#'))


@functools.cache
def pattern(glob):
    """A pattern of names as a regular expression."""
    parts = {'**': '.*', '*': '[^/]*', '?': '[^/]', '.': '/'}
    return re.compile(''.join(parts.get(part) or re.escape(part) for part in re.findall(r'\*\*|.', glob)), re.DOTALL)


class Trace:
    def __init__(self):
        entries = {}
        for line in steptrace('dump', '--records', '--entries', TRACE).splitlines():
            kind, id_ = re.match(r'java\.(\w+)#(\d+)', line).groups()
            entries[kind, int(id_)] = fields(line)
        text = lambda kind, id_, key: entries[kind, id_][key][1:-1]
        self.frames = {id_: (number(f['parent']), number(f['method']), number(f['line']))
                       for (kind, id_), f in entries.items() if kind == 'Frame'}
        self.classes = {id_: text('Class', id_, 'name') for kind, id_ in entries if kind == 'Class'}
        self.methods = {id_: (self.classes[number(f['class'])], f['name'][1:-1])
                        for (kind, id_), f in entries.items() if kind == 'Method'}
        self.threads = {id_: text('Thread', id_, 'name') for kind, id_ in entries if kind == 'Thread'}
        self.resolution = 1000
        self.read_events()

    def read_events(self):
        self.objects, self.events = {}, []
        collections, frees_time, allocations = 0, None, 0
        for line in steptrace('dump', '--records', TRACE).splitlines():
            kind, f = line.split(' ', 1)[0], fields(line)
            time = number(f['time']) * self.resolution
            if kind.startswith('java.ObjectAlloc'):
                object_ = number(f['object'])
                allocations += 1
                frees_time = None
                self.objects[object_] = {
                    'class': self.classes[number(f['class'])], 'size': number(f['size']), 'thread': number(f['thread']),
                    'stack': number(f.get('stack', '#0')), 'born': time, 'died': None, 'epoch': collections,
                    'number': allocations, 'born_event': len(self.events)}
                self.events.append(('OA', time, object_))
            elif kind == 'java.ObjectFree':
                object_ = self.objects[number(f['object'])]
                if frees_time != time:
                    collections, frees_time = collections + 1, time
                object_.update(died=time, died_in=collections, further=allocations - object_['number'],
                               died_event=len(self.events))
                self.events.append(('OF', time, number(f['object'])))
            elif not kind.startswith('java.Class'):
                frees_time = None
            self.end = time

    def places(self, object_):
        return self.places_of(object_['stack']) if object_['stack'] else []

    @functools.cache
    def places_of(self, frame):
        """(class, method, line) of each frame, the innermost first."""
        parent, method, line = self.frames[frame]
        return [(*self.methods[method], line)] + (self.places_of(parent) if parent else [])


def one_of(globs, test):
    """Any of those without `!`, and none of those with it."""
    wanted = [g for g in globs if g[0] != '!']
    return (not wanted or any(test(g) for g in wanted)) and not any(test(g[1:]) for g in globs if g[0] == '!')


@functools.cache
def names_place(glob, place):
    class_, method, line = place
    texts = [f'{class_}/{method}:{line}'] if ':' in glob else [f'{class_}/{method}', class_]
    return any(pattern(glob).fullmatch(text) for text in texts)


def by_class(*globs):
    return lambda trace, o: one_of(globs, lambda g: pattern(g).fullmatch(o['class']) is not None)


def by_site(*globs):
    return lambda trace, o: one_of(globs, lambda g: any(names_place(g, p) for p in trace.places(o)))


def by_method(*globs):
    return lambda trace, o: one_of(globs, lambda g: any(names_place(g, p) for p in list(trace.places(o))[:1]))


def by_thread(*globs):
    def test(trace, o):
        name = trace.threads.get(o['thread'], '')
        return one_of(globs, lambda g: int(g) == o['thread'] if g.isdigit() else
                      o['thread'] != 0 and fnmatch.fnmatchcase(name, g))
    return test


def peak_event(trace):
    live = most = (0, 0)
    at = 0
    for i, (kind, _, object_) in enumerate(trace.events):
        sign = 1 if kind == 'OA' else -1
        live = (live[0] + sign * trace.objects[object_]['size'], live[1] + sign)
        if live > most:
            most, at = live, i
    return at


def lived(trace, o, least, most):
    return least <= o['died'] - o['born'] <= most if o['died'] else most is not None and most == float('inf') and \
        trace.end - o['born'] >= least


MS, INF = 1000000, float('inf')


def cases(trace):
    middle = trace.events[len(trace.events) // 2][1]
    peak = peak_event(trace)
    every = {o['died_in'] for o in trace.objects.values() if o['died']}
    yield ['--class', '[*'], by_class('[*')
    yield ['--class', 'java.lang.*', '--class=Shop*', '--class', '!**String*'], by_class('java.lang.*', 'Shop*', '!**String*')
    yield ['--class', '!java.**'], by_class('!java.**')
    # as Java writes them: arrays, and names without their package
    yield ['--class', 'byte[]'], by_class('[B')
    yield ['--class', 'java.lang.Object[]'], by_class('[Ljava/lang/Object;')
    yield ['--class', 'java.**[]', '--class', '!String[]'], by_class('[Ljava/**;', '[[Ljava/**;', '![Ljava/lang/String;')
    yield ['--class', 'String', '--class', '!Object[]'], by_class('java/lang/String', '![Ljava/lang/Object;')
    yield ['--site', 'Shop.format'], by_site('Shop.format')
    yield ['--site', 'Shop'], by_site('Shop')
    yield ['--site', 'Shop.main:44', '--site=Shop.*:21'], by_site('Shop.main:44', 'Shop.*:21')
    yield ['--site', '!Shop.**'], by_site('!Shop.**')
    yield ['--site', 'java.lang.invoke.**', '--site', '!**.invoke'], by_site('java.lang.invoke.**', '!**.invoke')
    yield ['--method', 'Shop.*'], by_method('Shop.*')
    yield ['--method', '!java.**'], by_method('!java.**')
    yield ['--thread', '1'], by_thread('1')
    yield ['--thread', 'helper-[2-4]'], by_thread('helper-[2-4]')
    yield ['--thread', 'helper-*', '--thread=!helper-3'], by_thread('helper-*', '!helper-3')
    yield ['--thread=0'], by_thread('0')
    yield ['--size', '>=1k'], lambda t, o: o['size'] >= 1024
    yield ['--size', '<24'], lambda t, o: o['size'] < 24
    yield ['--size', '=24'], lambda t, o: o['size'] == 24
    yield ['--size', '20..0.5k'], lambda t, o: 20 <= o['size'] <= 512
    yield ['--lifetime', '<10ms'], lambda t, o: lived(t, o, 0, 10 * MS - 1)
    yield ['--lifetime', '10ms..20ms'], lambda t, o: lived(t, o, 10 * MS, 20 * MS)
    yield ['--lifetime', '>30ms'], lambda t, o: lived(t, o, 30 * MS + 1, INF)
    yield ['--alive-at', 'end'], lambda t, o: o['died'] is None
    yield ['--alive-at', f'{middle}ns'], lambda t, o: o['born'] <= middle and (o['died'] is None or o['died'] > middle)
    yield ['--alive-at', 'peak'], lambda t, o: o['born_event'] <= peak and (o['died'] is None or o['died_event'] > peak)
    for n in sorted(every)[:3]:
        yield ['--alive-at', f'gc:{n}'], lambda t, o, n=n: o['epoch'] < n and (o['died'] is None or o['died_in'] > n)
    yield ['--temporary'], lambda t, o: o['died'] is not None and o['died_in'] == o['epoch'] + 1
    yield ['--temporary=500'], lambda t, o: o['died'] is not None and o['further'] < 500
    yield (['--class=[?', '--site=Shop.format', '--size=>24', '--lifetime=<1s', '--thread=main'],
           lambda t, o: by_class('[?')(t, o) and by_site('Shop.format')(t, o) and o['size'] > 24 and
           lived(t, o, 0, 1000 * MS - 1) and by_thread('main')(t, o))


def same(what, wanted, found):
    global failures
    if wanted != found:
        failures += 1
        print(f'{what}: {str(found)[:200]}, not {str(wanted)[:200]}')


def check_dump(trace, options, taken):
    for kinds, slice_ in (('OA,OF', []), ('OF', []), ('OA,OF', ['--time', '550ms..']), ('OA,OF', ['--to-time=560ms'])):
        from_, to = (550 * MS if '--time' in slice_ else 0), (560 * MS if slice_ == ['--to-time=560ms'] else INF)
        wanted = [f'{kind}:{time}:{trace.objects[o]["class"]}:{o}' for kind, time, o in trace.events
                  if o in taken and from_ <= time <= to and kind in kinds.split(',')]
        found = steptrace('dump', '--kind', kinds, *slice_, *options, TRACE).splitlines()
        same(f'dump {kinds} {slice_} {options}', sorted(wanted), sorted(found))
        if '--thread' not in ''.join(options):
            lines = set(wanted)
            same(f'order of dump {options}', [line for line in every_line(kinds) if line in lines], found)


def every_line(kinds, cache={}):
    if kinds not in cache:
        cache[kinds] = steptrace('dump', '--kind', kinds, TRACE).splitlines()
    return cache[kinds]


def check_sums(trace, options, taken):
    objects = [trace.objects[o] for o in taken]
    freed = [o for o in objects if o['died']]
    allocated = json.loads(steptrace('stats', '--json', '--top=0', *options, TRACE))['objects']
    same(f'stats {options}', [len(objects), sum(o['size'] for o in objects), len(freed), sum(o['size'] for o in freed)],
         [allocated[key] for key in ('allocated_objects', 'allocated_bytes', 'freed_objects', 'freed_bytes')])
    end = json.loads(steptrace('heap', '--at=end', '--json', '--allocated', *options, TRACE))['moment']
    same(f'heap {options}', [len(objects), len(objects) - len(freed)], [end['allocated_objects'], end['live_objects']])


def main():
    trace = Trace()
    for options, test in cases(trace):
        taken = {id_ for id_, o in trace.objects.items() if test(trace, o)}
        same(f'{options} takes some and not all', True, 0 < len(taken) < len(trace.objects))
        check_dump(trace, options, taken)
        check_sums(trace, options, taken)
    with tempfile.TemporaryDirectory() as work:
        options = ['--site=Shop.order', '--size=>=100']
        taken = [o for o in trace.objects.values() if by_site('Shop.order')(trace, o) and o['size'] >= 100]
        steptrace('convert', TRACE, '-o', f'{work}/part.zip', '--kind=OA', *options)
        same('convert', len(taken), len(steptrace('dump', f'{work}/part.zip').splitlines()))
        steptrace('convert', TRACE, '-o', f'{work}/part.collapsed', '--at=end', '--allocated', *options)
        with open(f'{work}/part.collapsed', encoding='utf-8') as lines:
            same('convert of a heap', sum(o['size'] for o in taken), sum(int(line.rsplit(' ', 1)[1]) for line in lines))
        steptrace('report', TRACE, '-o', f'{work}/part.html', *options)
        with open(f'{work}/part.html', encoding='utf-8') as page:
            data = json.loads(re.search(r'id="data">\s*(\{.*?\})\s*</script>', page.read(), re.DOTALL).group(1))
        same('report', len(taken), data['summary']['allocated_objects'])
    sys.exit(failures > 0)


main()
