# SPDX-License-Identifier: Apache-2.0
"""Reads the file `trace` that docs/formats/elephant-tracks.md describes, as a simulator does."""
import pathlib


class Elephant:
    """What a simulator makes of the lines of Elephant Tracks: each must fit what came before."""

    def __init__(self, path):
        self.edges, self.types, self.dead, self.calls, self.roots = {0: {}}, {}, [], {}, []
        for line in pathlib.Path(path).read_text().splitlines():
            words = line.split(' ')
            numbers = [int(word, 16) for word in words[1:] if not word.startswith(('L', '['))]
            getattr(self, f'line_{words[0]}')(words, *numbers)

    def line_N(self, words, at, size, site, length, thread):
        assert at not in self.types and size > 0
        assert (words[0] == 'A') == words[3].startswith('[') or words[0] == 'I'
        self.types[at], self.edges[at] = words[3], {}

    line_A = line_I = line_N

    def line_D(self, words, at, thread):
        del self.types[at], self.edges[at]
        self.dead.append(at)

    def line_U(self, words, old, at, new, place, thread):
        before = self.edges[at].get(place, 0)
        assert old == (before if before in self.types else 0), words
        assert new == 0 or new in self.types, words
        self.edges[at][place] = new

    def line_M(self, words, method, receiver, thread):
        self.calls.setdefault(thread, []).append((method, receiver))

    def line_E(self, words, method, receiver, thread):
        assert self.calls[thread].pop() == (method, receiver)

    def line_X(self, words, method, receiver, thrown, thread):
        assert thrown == 0
        self.line_E(words, method, receiver, thread)

    def line_R(self, words, at, thread):
        self.roots.append(at)

    def living(self):
        return {at: {place: to for place, to in edges.items() if to in self.types} for at, edges in self.edges.items()}
