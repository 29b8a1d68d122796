# SPDX-License-Identifier: Apache-2.0
"""Reads heaptrack's format, versions 1 and 2, plain: what was allocated and what lives, by stack.

Written from what heaptrack's own reader does with a line, without a look at the writer.
"""


class File:
    """Sums over a file; `stacks` has frames from the innermost out as (function, file, line, module)."""

    def __init__(self, data):
        self.strings, self.frames, self.nodes, self.pairs = [None], [None], [None], []
        self.allocations = self.allocated = self.freed = self.live = self.peak = 0
        self.temporary, self.last, self.now, self.command, self.stamps = 0, None, 0, None, []
        self.by_stack = {}
        for line in data.split(b"\n"):
            kind = line[:1]
            if not kind or kind == b"#":
                continue
            assert line[1:2] == b" ", line
            if kind in b"sX":
                self.text(kind, line[2:])
            else:
                self.numbers(kind, [int(word, 16) for word in line[2:].split(b" ")])

    def text(self, kind, text):
        if kind == b"s":
            self.strings.append(text.decode("utf-8", "surrogateescape"))
        else:
            assert self.command is None
            self.command = text.decode()

    def numbers(self, kind, given):
        if kind == b"v":
            assert given[1] in (1, 2), given
        elif kind == b"i":
            where = given[2:] + [0] * (5 - len(given))
            self.frames.append((self.strings[where[0]], self.strings[where[1]], where[2], self.strings[given[1]]))
        elif kind == b"t":
            assert 0 < given[0] < len(self.frames) and given[1] < len(self.nodes), given
            self.nodes.append((given[0], given[1]))
        elif kind == b"a":
            assert 0 < given[1] < len(self.nodes), given
            self.pairs.append((given[0], given[1]))
        elif kind == b"+":
            self.alloc(given[0])
        elif kind == b"-":
            self.free(given[0])
        elif kind == b"c":
            assert given[0] > self.now
            self.now = given[0]
        else:
            assert kind == b"I" and len(given) == 2, (kind, given)

    def alloc(self, pair):
        size, stack = self.pairs[pair]
        self.allocations += 1
        self.allocated += size
        self.live += size
        self.peak = max(self.peak, self.live)
        self.last = pair
        sums = self.by_stack.setdefault(stack, [0, 0, 0, 0])
        sums[0] += 1
        sums[1] += size
        sums[2] += 1
        sums[3] += size

    def free(self, pair):
        size, stack = self.pairs[pair]
        self.freed += 1
        self.live -= size
        self.temporary += self.last == pair
        self.last = None
        self.by_stack[stack][2] -= 1
        self.by_stack[stack][3] -= size
        assert self.by_stack[stack][2] >= 0, "a free without its allocation"

    def stack(self, node):
        frames = []
        while node:
            frames.append(self.frames[self.nodes[node][0]])
            node = self.nodes[node][1]
        return frames

    def by_innermost(self):
        """Function of the innermost frame -> [allocations, bytes, live objects, live bytes]."""
        sums = {}
        for node, mine in self.by_stack.items():
            name = self.stack(node)[0][0]
            sums[name] = [a + b for a, b in zip(sums.get(name, [0] * 4), mine)]
        return sums
