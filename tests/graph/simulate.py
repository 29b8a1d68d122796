# SPDX-License-Identifier: Apache-2.0
"""A small program, simulated: objects, references, calls, collections; and when each object became
unreachable, found out the slow way: after each event everything is gone through."""
import random

# Numbers of the names in HEAD, in their order.
HEAD = '''class t/Node 0
class [Lt/Node; 0
class t/Weak 0
class java/lang/ref/Reference 0
class t/Main 0
field 1 left Lt/Node; 0
field 1 right Lt/Node; 0
field 4 referent Ljava/lang/Object; 2
field 5 root Lt/Node; 8
field 5 other Lt/Node; 8
method 1 touch ()V 1
method 5 main ()V 9
thread main 0
thread helper 0
frame 0 2 10
frame 1 1 20
frame 1 1 30
'''
LEFT, RIGHT, REFERENT, ROOT, OTHER = 1, 2, 3, 4, 5
NODE, ARRAY, WEAK = 1, 2, 3
GLOBAL, FREES, FIRST_THREAD = 0, 1, 2  # streams
USE, CUT = 1, 0


class Program:
    """Each event has a time of its own."""

    def __init__(self, seed, length=8, collects=None):
        self.random = random.Random(seed)
        self.time = 0
        self.lines = []
        self.edges = {0: {}}       # object -> key -> target; 0 has the static fields
        self.classes = {}
        self.sizes = {}
        self.sites = {}
        self.length = length       # of arrays
        self.last = {}             # object -> (time, how) of its last reachability
        self.hands = []            # what frames have: the program goes on with these
        self.deaths = {}           # object -> (time, how, collected)
        self.unsure = set()        # of these, what a weak reference led to: never exact
        self.next = 1
        self.line(GLOBAL, 'start 0 0')
        self.line(GLOBAL, 'init 0 0')
        if collects:
            self.lines.insert(0, f'property collect {collects}')

    def line(self, stream, text):
        self.lines.append(f'{stream} {text}')

    def reach(self, starts, weak=False):
        """All that can be come to from the starts."""
        seen, todo = set(), [s for s in starts if s]
        while todo:
            at = todo.pop()
            if at in seen:
                continue
            seen.add(at)
            todo += [t for k, t in self.edges[at].items() if t and (weak or k != ('f', REFERENT))]
        return seen

    def note(self, touched):
        """touched: object -> how."""
        for target in self.reach([t for k, t in self.edges[0].items()]):
            self.last[target] = (self.time, USE)
        for how in (CUT, USE):
            for at in self.reach([t for t, h in touched.items() if h == how]):
                if self.last.get(at, (-1, 0))[0] < self.time or how == USE:
                    self.last[at] = (self.time, how)

    def tick(self):
        self.time += self.random.randint(1, 3)
        return self.time

    def alloc(self, kind, existing=False):
        target = self.next
        self.next += 1
        size = 16 + 8 * self.random.randint(0, 4)
        site = 0 if existing else self.random.choice([1, 2, 3])
        self.tick()
        if existing:
            self.line(GLOBAL, f'existing {self.time} 1 {kind} {size} {target}')
        elif site == 1:
            site = 0
            self.line(FIRST_THREAD, f'alloc {self.time} 1 {kind} {size} {target}')
        else:
            self.line(FIRST_THREAD, f'at {self.time} 1 {kind} {size} {target} 0 {site}')
        self.edges[target] = {}
        self.classes[target], self.sizes[target], self.sites[target] = kind, size, site
        self.hands.append(target)
        self.note({target: USE})
        return target

    def set(self, holder, key, target, line):
        self.tick()
        before = self.edges[holder].get(key, 0)
        self.edges[holder][key] = target
        self.line(FIRST_THREAD, line.format(time=self.time))
        touched = {before: CUT} if before and before != target else {}
        touched[target] = USE
        if holder:
            touched[holder] = USE
        self.note({o: h for o, h in touched.items() if o})

    def field(self, holder, field, target):
        self.set(holder, ('f', field), target, f'field {{time}} 1 {holder} {target} {field}')

    def element(self, holder, index, target):
        self.set(holder, ('e', index), target, f'element {{time}} 1 {holder} {target} {index}')

    def range(self, source, start, holder, at, count):
        self.tick()
        moved = [self.edges[source].get(('e', start + i), 0) for i in range(count)]
        touched = {}
        before = [self.edges[holder].get(('e', at + i), 0) for i in range(count)]
        for i in range(count):
            self.edges[holder][('e', at + i)] = moved[i]
        for i in range(count):
            if before[i] and before[i] != moved[i]:
                touched[before[i]] = CUT
            if moved[i]:
                touched.setdefault(moved[i], USE)
        self.line(FIRST_THREAD,
                  f'range {self.time} 1 {source} {start} {holder} {at} {count}')
        touched[source] = touched[holder] = USE
        self.note(touched)

    def clone(self, source):
        target = self.alloc(self.classes[source])
        self.tick()
        self.edges[target] = dict(self.edges[source])
        self.line(FIRST_THREAD, f'clone {self.time} 1 {source} {target}')
        self.note({o: USE for o in [source, target] + list(self.edges[target].values()) if o})

    def call(self, receiver):
        self.tick()
        self.line(FIRST_THREAD, f'entry {self.time} 1 1 {receiver}')
        self.note({receiver: USE})
        if self.random.random() < 0.3:
            self.alloc(NODE)
        self.tick()
        self.line(FIRST_THREAD, f'{self.random.choice(["exit", "pop"])} {self.time} 1 1')
        self.note({receiver: USE})

    def collect(self, some=False):
        """Frames have nothing then but what they go on with, if that is said so."""
        self.tick()
        self.note({})
        live = self.reach([t for k, t in self.edges[0].items()] + self.hands)
        dead = [o for o in self.edges if o and o not in live]
        if some:  # of the young ones alone, and what only these hold
            old = sorted(dead)[:len(dead) // 2]
            keep = self.reach(old)
            dead = [o for o in dead if o not in keep]
        weakly = [edges.get(('f', REFERENT), 0) for edges in self.edges.values()]
        self.unsure |= self.reach([o for o in dead if o in weakly])
        for o in sorted(dead):
            self.line(FREES, f'free {self.time} 0 {o}')
            self.deaths[o] = self.last[o] + (self.time,)
        for o in dead:
            del self.edges[o]
        for holder in self.edges:  # weak references are cleared
            for key, target in list(self.edges[holder].items()):
                if target in dead:
                    assert key == ('f', REFERENT)
                    self.edges[holder][key] = 0

    def roots(self):
        """The static fields' objects; and those without a holder, which a frame holds, or which are
        dead."""
        held = {t for edges in self.edges.values() for k, t in edges.items() if k != ('f', REFERENT)}
        statics = {t for t in self.edges[0].values() if t}
        return statics, {o for o in self.edges if o and o not in held}

    def retained(self):
        """object -> all that cannot be come to without it, itself among them.  A frame holds nothing
        that a static field holds."""
        statics, frames = self.roots()
        kept = self.reach(statics)
        all_of_it = kept | self.reach(frames)

        def reach_without(roots, objects):
            seen, todo = set(), [r for r in roots if r not in objects]
            while todo:
                at = todo.pop()
                if at in seen:
                    continue
                seen.add(at)
                todo += [t for k, t in self.edges[at].items()
                         if t and t not in objects and k != ('f', REFERENT)]
            return seen

        def without(objects):
            return all_of_it - reach_without(statics, objects) - (reach_without(frames, objects) - kept)
        return all_of_it, without

    def ways(self):
        """object -> how many references from a root; those that cannot be come to are not there."""
        found = {}
        for roots in self.roots():
            at = sorted(roots - set(found))
            found.update({r: 1 for r in at})
            while at:
                then = []
                for o in at:
                    for k, t in self.edges[o].items():
                        if t and k != ('f', REFERENT) and t not in found:
                            found[t] = found[o] + 1
                            then.append(t)
                at = then
        return found

    def step(self):
        r = self.random
        if len(self.hands) > 6:
            self.hands = r.sample(self.hands, 3)
        what = r.random()
        known = self.hands + [t for t in self.edges[0].values() if t]
        reachable = sorted(self.reach(known))
        pick = (lambda: r.choice(reachable)) if reachable else (lambda: 0)
        of = lambda kind: [o for o in reachable if self.classes[o] == kind]
        if what < 0.25 or not reachable:
            self.alloc(r.choice([NODE, NODE, ARRAY, WEAK]))
        elif what < 0.45 and of(NODE):
            self.field(r.choice(of(NODE)), r.choice([LEFT, RIGHT]), r.choice([0, pick()]))
        elif what < 0.6 and of(ARRAY):
            self.element(r.choice(of(ARRAY)), r.randrange(self.length), r.choice([0, pick(), pick()]))
        elif what < 0.68 and of(ARRAY):
            count = r.randint(0, self.length)
            self.range(r.choice(of(ARRAY)), r.randint(0, self.length - count), r.choice(of(ARRAY)),
                       r.randint(0, self.length - count), count)
        elif what < 0.72:
            self.clone(pick())
        elif what < 0.8 and of(WEAK):
            self.field(r.choice(of(WEAK)), REFERENT, pick())
        elif what < 0.9:
            self.field(0, r.choice([ROOT, OTHER]), r.choice([0, pick(), pick()]))
        else:
            self.call(pick())

    def run(self, steps):
        for i in range(steps):
            self.step()
            if self.random.random() < 0.02:
                self.collect(self.random.random() < 0.5)
        self.collect()

    def text(self):
        return HEAD + '\n'.join(self.lines) + f'\n{GLOBAL} end {self.time + 1} 0\n'
