# SPDX-License-Identifier: Apache-2.0
"""A made-up program whose objects refer to each other: stores, calls, snapshots and collections, as records of one list."""
import dataclasses
import random

from world import TICK, Object, World

CLASSES = [("t/Node", 0), ("[Lt/Node;", 0), ("t/Weak", 0), ("java/lang/ref/Reference", 0), ("t/Main", 0), ("a/Pair", 0)]
NODE, ARRAY, WEAK, REFERENCE, MAIN, PAIR = range(1, 7)
FIELDS = [(NODE, "left", "Lt/Node;", 0), (NODE, "right", "Lt/Node;", 0), (REFERENCE, "referent", "Ljava/lang/Object;", 2), (MAIN, "root", "Lt/Node;", 8),
          (PAIR, "one", "Lt/Node;", 0), (MAIN, "other", "Lt/Node;", 8)]
LEFT, RIGHT, REFERENT, ROOT, ONE, OTHER = (("field", number) for number in range(1, 7))
OF_CLASS = {NODE: (LEFT, RIGHT), ARRAY: (), WEAK: (REFERENT,), PAIR: (ONE,)}
LENGTH = 6  # elements of an array that are used
GLOBAL, SYSTEM_CLASS, MONITOR, LOCAL, JNI_LOCAL, THREAD, OF_JVM = range(21, 28)  # kinds of roots


@dataclasses.dataclass
class Record:
    """What happened, in the trace's order.  `values` are the record's own fields, of a snapshot its references and roots."""
    time: int
    kind: str
    thread: int
    values: tuple


class GraphWorld(World):
    def __init__(self, seed, stores=True):
        """Without `stores` only snapshots tell of references."""
        super().__init__(seed)
        self.stores = stores
        self.chance = random.Random(f"graph {seed}")
        self.classes, self.loaders, self.same_tick = list(CLASSES), False, False
        self.methods = [(NODE, "touch", 0), (MAIN, "main", 1), (PAIR, "swap", 2)]
        self.frames = [(self.chance.randint(0, n), self.chance.randint(1, 3), self.chance.randint(0, 40)) for n in range(5)] if self.stacks else []
        self.first_snapshot, self.ended_by_vm = self.chance.random() < 0.7 or not stores, self.chance.random() < 0.6
        self.unseen = 0.1 if self.chance.random() < 0.3 else 0.0  # how often the JVM stores by itself
        self.make_graph()

    # the program

    def make_graph(self):
        chance = self.chance
        self.objects, self.calls, self.records = [], [], []
        self.start, self.now, self.next, self.snapshots = chance.randint(1, 9), 0, 0, 0
        self.now = self.start
        self.edges, self.by_number = {0: {}}, {}  # as the program has them
        self.hands = {thread: [] for thread in range(1, len(self.threads) + 1)}
        for _ in range(chance.randint(1, 6) if self.existing else 0):
            found = self.make(chance.choice([NODE, NODE, ARRAY, PAIR]), 0, True)
            for key in OF_CLASS[found.kind]:
                self.edges[found.number][key] = chance.choice([0, *self.by_number])
        if self.first_snapshot:
            self.snapshot("start")
        self.last_thread = 0
        for _ in range(chance.choice([10, 40, 120])):
            self.step()
            if chance.random() < 0.04:
                self.collect(chance.random() < 0.5)
            if chance.random() < (0.02 if self.stores else 0.08):
                self.snapshot("every")
        if chance.random() < 0.4:
            self.collect(False)
        if chance.random() < 0.3:
            self.snapshot("end")
        self.end = self.now + chance.randint(1, 9)

    def advance(self, thread):
        """Two events of one thread can have one time."""
        self.now += self.chance.randint(0 if thread == self.last_thread and self.chance.random() < 0.3 else 1, self.chance.choice([1, 3, 500]))
        self.last_thread = thread

    def record(self, kind, thread, *values):
        self.records.append(Record(self.now, kind, thread, values))

    def make(self, kind, thread, existing=False):
        self.next += self.chance.randint(1, 1 << 50) if self.big_ids else 1
        size = 16 + 4 * LENGTH if kind == ARRAY else 8 * self.chance.randint(2, 8)
        if self.big_sizes and self.chance.random() < 0.1 and kind != ARRAY:
            size = 8 * self.chance.randint(1, 1 << 37)
        site = self.chance.randint(0, len(self.frames)) if self.frames and not existing else 0
        made = Object(self.next, kind, size, thread, site, self.now, len(self.objects) + 1, existing)
        self.objects.append(made)
        self.by_number[made.number], self.edges[made.number] = made, {}
        self.record("alloc", thread, made)
        return made

    def put(self, thread, holder, key, target, seen=True):
        self.edges[holder][key] = target
        if seen and self.stores:
            self.record("store", thread, holder, key, target)

    def reached(self, starts, weakly=False):
        seen, todo = set(), [s for s in starts if s]
        while todo:
            at = todo.pop()
            if at not in seen:
                seen.add(at)
                todo += [t for key, t in self.edges[at].items() if t and (weakly or key != REFERENT)]
        return seen

    def step(self):
        chance = self.chance
        thread = chance.randint(1, len(self.threads)) if chance.random() < 0.5 or not self.last_thread else self.last_thread
        self.advance(thread)
        hands = self.hands[thread]
        hands[:] = hands if len(hands) < 6 else chance.sample(hands, 3)
        known = sorted(self.reached(hands + list(self.edges[0].values())))
        what, seen = chance.random(), chance.random() >= self.unseen
        of = {kind: [o for o in known if self.by_number[o].kind == kind] for kind in OF_CLASS}
        if what < 0.3 or not known:
            hands.append(self.make(chance.choice([NODE, NODE, ARRAY, WEAK, PAIR]), thread).number)
        elif what < 0.5 and (of[NODE] or of[PAIR]):
            holder = chance.choice(of[NODE] + of[PAIR])
            self.put(thread, holder, chance.choice(OF_CLASS[self.by_number[holder].kind]), chance.choice([0, chance.choice(known)]), seen)
        elif what < 0.62 and of[ARRAY]:
            self.put(thread, chance.choice(of[ARRAY]), ("element", chance.randrange(LENGTH)), chance.choice([0, chance.choice(known), chance.choice(known)]), seen)
        elif what < 0.69 and of[ARRAY]:
            self.move(thread, chance.choice(of[ARRAY]), chance.choice(of[ARRAY]))
        elif what < 0.73:
            source = self.by_number[chance.choice(known)]
            target = self.make(source.kind, thread).number
            hands.append(target)
            self.edges[target] = dict(self.edges[source.number])
            if self.stores:
                self.record("clone", thread, source.number, target)
        elif what < 0.79 and of[WEAK]:
            self.put(thread, chance.choice(of[WEAK]), REFERENT, chance.choice(known), seen)
        elif what < 0.9:
            self.put(thread, 0, chance.choice([ROOT, OTHER]), chance.choice([0, chance.choice(known), chance.choice(known)]), seen)
        elif self.calls_traced:
            self.call(thread, chance.choice(known))

    def move(self, thread, source, holder):
        """System.arraycopy."""
        count = self.chance.randint(0, LENGTH)
        first, at = (self.chance.randint(0, LENGTH - count) for _ in range(2))
        moved = [self.edges[source].get(("element", first + i), 0) for i in range(count)]
        for i, target in enumerate(moved):
            self.edges[holder]["element", at + i] = target
        if self.stores:
            self.record("range", thread, source, first, holder, at, count)

    def call(self, thread, receiver):
        self.record("entry", thread, 1, receiver)
        self.now += self.chance.randint(0, 3)
        self.record(self.chance.choice(["exit", "pop"]), thread, 1, receiver)

    def collect(self, young):
        self.now += self.chance.randint(1, 9)
        self.last_thread = 0
        hands = [o for group in self.hands.values() for o in group]
        live = self.reached(hands + list(self.edges[0].values()))
        dead = [o for o in self.edges if o and o not in live]
        if young:  # it looks at the later half only, and what the earlier half holds is kept
            kept = self.reached(sorted(dead)[:len(dead) // 2])
            dead = [o for o in dead if o not in kept]
        for o in sorted(dead):
            self.by_number[o].died = self.now
            self.record("free", 0, o)
            del self.edges[o]
        for targets in self.edges.values():  # weak references are cleared without a store
            for key in [key for key, target in targets.items() if target in dead]:
                del targets[key]
        if dead:
            self.now += 1

    def snapshot(self, reason):
        """A walk of the heap also goes through weak references."""
        chance = self.chance
        self.now += chance.randint(1, 9)
        self.last_thread = 0
        self.snapshots += 1
        roots = [(target, GLOBAL if chance.random() < 0.2 else LOCAL, thread) for thread, group in self.hands.items() for target in group]
        known = sorted(self.reached(list(self.edges[0].values()) + [target for target, _, _ in roots], True))
        if reason == "start":
            held = [o.number for o in self.objects]
            roots += [(target, chance.choice([GLOBAL, THREAD, OF_JVM, MONITOR, JNI_LOCAL]), 0) for target in held if chance.random() < 0.6]
            for thread, group in self.hands.items():
                group += [target for target in held if chance.random() < 0.2]
            known = sorted(self.reached([target for target, _, _ in roots], True))
        # what a kind says holds the object from now on
        self.hands[1] += [target for target, kind, _ in roots if kind in (GLOBAL, THREAD, OF_JVM)]
        references = [(holder, key, target) for holder in [0, *known] for key, target in self.edges[holder].items() if target]
        self.record("snapshot", 1, self.snapshots, reason, tuple(references), tuple(roots))
        self.now += 1

    # its trace

    def property_lines(self):
        if self.stores:
            yield "property references yes"
        if self.ended_by_vm:
            yield "property end vm-death"
        if self.frames:
            yield "property stack 64"

    def field_lines(self):
        for of, name, descriptor, modifiers in FIELDS:
            yield f"field {of} {name} {descriptor} {modifiers}"

    def modifiers(self, parameters):
        return 1 if parameters == 0 else 9

    def stream_lines(self):
        """Each stream's records in their order; the streams one after the other."""
        streams = {}
        for record in self.records:
            stream = 1 if record.kind == "free" else 0 if not record.thread else record.thread + 1
            streams.setdefault(stream, []).extend(f"{stream} {line}" for line in record_lines(record))
        for stream in sorted(streams):
            yield from streams[stream]


def record_lines(record):
    time, thread = record.time, record.thread
    if record.kind == "alloc":
        [o] = record.values
        kind = "existing" if o.existing else "at" if o.site else "alloc"
        yield f"{kind} {time} {thread} {o.kind} {o.size} {o.number}" + (f" 0 {o.site}" if o.site else "")
    elif record.kind == "store":
        holder, (kind, number), target = record.values
        yield f"{kind} {time} {thread} {holder} {target} {number}"
    elif record.kind == "snapshot":
        number, reason, references, roots = record.values
        yield f"snapshot {time} {thread} {number} {reason}"
        for target, kind, owner in roots:
            yield f"root {time} {thread} {target} {kind} {owner} 0 0"
        for holder, (kind, key), target in references:
            yield f"has-{kind} {time} {thread} {holder} {target} {key}"
        objects = {target for target, _, _ in roots} | {target for _, _, target in references}
        yield f"snapshot-end {time} {thread} {number} {len(objects)} {len(references)} {len(roots)} 0"
    elif record.kind in ("exit", "pop"):
        yield f"{record.kind} {time} {thread} {record.values[0]}"
    else:
        yield f"{record.kind} {time} {thread} " + " ".join(map(str, record.values))
