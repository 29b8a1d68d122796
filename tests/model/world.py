# SPDX-License-Identifier: Apache-2.0
"""A made-up program: its classes, threads, call stacks and objects, of which everything is known, and the trace of it."""
import dataclasses
import random

TICK = 1000  # nanoseconds
NAMES = ["java/lang/Object", "a/X", "a/b/Y", "a/b/Y$In", "com/acme/Order", "[B", "[La/X;", "java/lang/String", "[[J", "a/Ünï"]
METHODS = ["f", "g", "run", "make", "order", "lambda$0"]
THREADS = ["main", "pool-1-thread-1", "pool-1-thread-2", "http-8080"]


@dataclasses.dataclass
class Object:
    number: int
    kind: int      # number of its class
    size: int
    thread: int    # 0: none
    site: int      # number of its innermost frame, 0: none
    born: int      # ticks
    order: int     # among all births
    existing: bool = False
    died: int = None
    open_calls: tuple = ()  # methods of its thread, innermost first


@dataclasses.dataclass
class Call:
    method: int
    thread: int
    entry: int
    leave: int = None
    exception: bool = False


class World:
    scale = 1  # of sizes

    def __init__(self, seed):
        self.seed, self.chance = seed, random.Random(seed)
        chance = self.chance
        self.big_ids, self.big_sizes, self.same_tick = chance.random() < 0.3, chance.random() < 0.3, chance.random() < 0.25
        self.stacks, self.existing, self.calls_traced = chance.random() < 0.5, chance.random() < 0.4, chance.random() < 0.7
        self.loaders = chance.random() < 0.3
        self.make_names()
        self.make_program()

    # names

    def make_names(self):
        chance = self.chance
        self.classes = [(name, 0) for name in chance.sample(NAMES, chance.randint(2, len(NAMES)))]
        if self.loaders:
            twice = [c for c in self.classes if not c[0].startswith("[")]
            self.classes += [(name, loader + 1) for loader, (name, _) in enumerate(twice[:2])]
        owners = [i + 1 for i, (name, _) in enumerate(self.classes) if not name.startswith("[")] or None
        if owners is None:
            self.classes.append(("java/lang/Object", 0))
            owners = [len(self.classes)]
        self.methods = [(chance.choice(owners), chance.choice(METHODS), i) for i in range(chance.randint(1, 8))]
        self.threads = THREADS[:chance.randint(1, len(THREADS))]
        self.frames = []  # parent, method, line
        for number in range(chance.randint(1, 20) if self.stacks else 0):
            self.frames.append((chance.randint(0, number), chance.randint(1, len(self.methods)), chance.randint(0, 40)))

    def class_name(self, number):
        return self.classes[number - 1][0]

    def thread_name(self, number):
        return self.threads[number - 1] if number else ""

    def method_path(self, number):
        owner, name, _ = self.methods[number - 1]
        return f"{self.class_name(owner)}.{name}"

    def stack(self, site):
        """(CLASS.METHOD, line or 0), innermost first."""
        found = []
        while site:
            parent, method, line = self.frames[site - 1]
            found.append((self.method_path(method), line))
            site = parent
        return found

    def derived_stack(self, o):
        """The calls that were open in the object's thread, of an allocation without a call stack."""
        if o.site or o.existing:
            return self.stack(o.site)
        return [(self.method_path(method), 0) for method in o.open_calls]

    # what happens

    def make_program(self):
        chance = self.chance
        self.objects, self.calls = [], []
        self.start = now = chance.randint(1, 50)
        self.scripts = {t: [] for t in range(1, len(self.threads) + 1)}  # each thread's events, in their order
        self.open_calls = {t: [] for t in self.scripts}
        number = order = 0
        living = []
        if self.existing:
            for _ in range(chance.randint(1, 8)):
                number, order = number + 1, order + 1
                living.append(self.make_object(number, order, now, existing=True))
        collections = chance.choice([0, 1, 2, 3, 5, 8, 12, 40])
        keep = chance.choice([0.0, 0.3, 0.7, 0.95])
        for _ in range(collections + 1):
            for _ in range(chance.randint(0, 12)):
                now += 0 if self.same_tick and chance.random() < 0.4 else chance.randint(1, chance.choice([3, 3000]))
                number += chance.randint(1, 1 << 50) if self.big_ids else 1
                order += 1
                living.append(self.make_object(number, order, now))
                self.maybe_call(now)
            if collections == 0:
                break
            collections -= 1
            now += 0 if self.same_tick and chance.random() < 0.5 else chance.randint(1, 20)
            dead = [o for o in living if chance.random() > keep and not (o.born == now and not self.same_tick)]
            for found in dead:
                found.died = now
                living.remove(found)
        self.end = now + chance.randint(1, 30)
        self.ended = [t for t, calls in self.open_calls.items() if not calls and chance.random() < 0.3]
        for thread in self.ended:
            self.scripts[thread].append(f"ended {self.end} {thread}")

    def make_object(self, number, order, now, existing=False):
        chance = self.chance
        size = 8 * self.scale * chance.randint(2, 40)
        if self.big_sizes and chance.random() < 0.1:
            size = 8 * chance.randint(1, 1 << 37)
        thread = 0 if existing else chance.randint(1, len(self.threads))
        site = chance.randint(0, len(self.frames)) if self.stacks and not existing else 0
        made = Object(number, chance.randint(1, len(self.classes)), size, thread, site, now, order, existing)
        self.objects.append(made)
        if not existing:
            made.open_calls = tuple(call.method for call in reversed(self.open_calls[thread]))
            record, stack = ("at", f" 0 {site}") if site else ("alloc", "")
            self.scripts[thread].append(f"{record} {now} {thread} {made.kind} {size} {number}{stack}")
        return made

    def maybe_call(self, now):
        """Opens or ends a call in a random thread."""
        chance = self.chance
        if not self.calls_traced or chance.random() < 0.4:
            return
        thread = chance.randint(1, len(self.threads))
        if self.open_calls[thread] and chance.random() < 0.5:
            call = self.open_calls[thread].pop()
            call.leave, call.exception = now, chance.random() < 0.2
            self.scripts[thread].append(f"{'pop' if call.exception else 'exit'} {now} {thread} {call.method}")
        else:
            call = Call(chance.randint(1, len(self.methods)), thread, now)
            self.open_calls[thread].append(call)
            self.scripts[thread].append(f"entry {now} {thread} {call.method} 0")
            self.calls.append(call)

    # what is known

    def collections(self):
        return sorted({o.died for o in self.objects if o.died is not None})

    def birth(self, o):
        """By this the trace's allocations are sorted: of a tick those of the thread with the smaller number come first."""
        return o.born, o.thread, o.order

    def events(self):
        """Births and deaths, in the trace's order: of a tick the deaths come last."""
        births = [(o.born, 0, o.order, o) for o in self.objects]
        deaths = [(o.died, 1, o.number, o) for o in self.objects if o.died is not None]
        return sorted(births + deaths, key=lambda e: e[:3])

    # the trace

    def lines(self):
        """What tests/graph/graph_trace makes a trace of.  Stream 0 has the VM's events, 1 deaths, and each thread one."""
        yield f"property resolution-ns {TICK}"
        yield from self.property_lines()
        for name, loader in self.classes:
            yield f"class {name} {loader}"
        yield from self.field_lines()
        for owner, name, number in self.methods:
            yield f"method {owner} {name} ({'I' * number})V {self.modifiers(number)}"
        for name in self.threads:
            yield f"thread {name} 0"
        for frame in self.frames:
            yield "frame {} {} {}".format(*frame)
        yield "0 start 0 0"
        yield f"0 init {self.start} 0"
        for number in range(1, len(self.classes) + 1):
            yield f"0 load {self.start} 0 {number}"
        for number in range(1, len(self.threads) + 1):
            yield f"0 thread {self.start} {number}"
        yield from self.event_lines()
        yield f"0 end {self.end} 0"

    def property_lines(self):
        yield "property stack 64" if self.stacks else "property existing " + ("yes" if self.existing else "no")

    def field_lines(self):
        return ()

    def modifiers(self, parameters):
        """Of a method with so many parameters: public static."""
        del parameters
        return 9

    def event_lines(self):
        """With blocks that end at some places."""
        cuts = random.Random(f"blocks {self.seed}")
        often = cuts.choice([0, 0, 0.05, 0.3])
        for line in self.stream_lines():
            yield line
            if cuts.random() < often:
                yield "flush"

    def stream_lines(self):
        for time, is_death, _, o in self.events():
            if is_death:
                yield f"1 free {time} 0 {o.number}"
            elif o.existing:
                yield f"0 existing {time} 0 {o.kind} {o.size} {o.number}"
        for thread in range(1, len(self.threads) + 1):
            for line in self.scripts[thread]:
                yield f"{thread + 1} {line}"

    def text(self):
        return "".join(line + "\n" for line in self.lines())
