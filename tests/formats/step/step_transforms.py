# SPDX-License-Identifier: Apache-2.0
"""Forms and transforms of columns, each as docs/formats/step.md describes it."""
MASK = (1 << 64) - 1
MIX = 0x9e3779b97f4a7c15


class Bytes:
    """Bytes that are read from the front."""

    def __init__(self, content):
        self.content, self.at = content, 0

    def take(self, count):
        assert self.at + count <= len(self.content), 'bytes end too early'
        self.at += count
        return self.content[self.at - count:self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def varints(self, count):
        return [self.varint() for _ in range(count)]

    def end(self):
        assert self.at == len(self.content), 'bytes are left'


def read_tokens(content, count, m):
    codes = content.take(count)
    rest = [((code >> m) - 1, code) if 2 << m <= code < 255 else (0, code) for code in codes]
    bits = sum(r for r, _ in rest)
    stream, values = int.from_bytes(content.take((bits + 7) // 8), 'little'), []
    for r, code in rest:
        if r == 0:
            values.append(code)
            continue
        values.append((code - (r << m)) << r | stream & ((1 << r) - 1))
        stream >>= r
    return [content.varint() if code == 255 else value for value, code in zip(values, codes)]


def read_runs(content, count):
    values, at = [0] * count, -1
    gaps = content.varints(content.varint())
    for gap, less in zip(gaps, content.varints(len(gaps))):
        at += gap + 1
        values[at] = less + 1
    return values


def read_packed(content, count, w):
    packed = int.from_bytes(content.take((count * w + 7) // 8), 'little')
    most = (1 << w) - 1
    values = [packed >> (i * w) & most for i in range(count)]
    return [most + content.varint() if value == most else value for value in values]


def read_ranked(content, count):
    table, last = [], 0
    for more in content.varints(content.varint()):
        last += more
        table.append(last)
    return [content.varint() if place == 255 else table[place] for place in list(content.take(count))]


def read_form(form, parameters, raw, count):
    content = Bytes(raw)
    w = parameters[0] if parameters else 0
    if form == 1:
        values = [w] * count
    elif form == 2:
        values = [int.from_bytes(content.take(w), 'little') for _ in range(count)]
    elif form == 3:
        planes = [content.take(count) for _ in range(w)]
        values = [sum(plane[i] << 8 * k for k, plane in enumerate(planes)) for i in range(count)]
    elif form == 4:
        values = content.varints(count)
    elif form == 5:
        values = read_packed(content, count, w)
    elif form == 6:
        values = read_runs(content, count)
    elif form == 7:
        values = read_tokens(content, count, w)
    else:
        assert form == 8, f'form {form}'
        values = read_ranked(content, count)
    content.end()
    return values


def zigzag(x):
    return 2 * x if x < 1 << 63 else 2 * ((1 << 64) - x) - 1


def unzigzag(y):
    return y >> 1 if y & 1 == 0 else (-((y + 1) >> 1)) & MASK


def from_front(y, usual):
    return usual if y == 0 else y - 1 if y - 1 < usual else y


def context_hashes(first, before, bits):
    """Places in the tables after the first value, and after each before it."""
    h, places = (first + 1) & MASK, []
    for i in range(len(before) + 1):
        places.append((((h ^ h >> 29) * MIX) & MASK) >> (64 - bits))
        if i < len(before):
            h = ((h ^ h >> 32) * MIX + before[i]) & MASK
    return places


def undo_context(values, order, bits, of_differences):
    table, before, last, out = {}, [0] * order, 0, []
    for y in values:
        place = context_hashes(before[0], before[1:], bits)[-1]
        guess = table.get(place, 0)
        value = (y + guess) & MASK if of_differences else from_front(y, guess)
        table[place] = value
        before = [value] + before[:-1]
        last = (last + value) & MASK
        out.append(last if of_differences else value)
    return out


def undo_keyed(values, keys, order, bits):
    tables, before, out = [{}, {}, {}], [0] * order, []
    for y, key in zip(values, keys):
        places = context_hashes(key, before, bits)
        chosen = [places[0], places[1], places[-1]]
        guess = next((table[place] for table, place in reversed(list(zip(tables, chosen))) if place in table), 0)
        value = from_front(y, guess)
        for table, place in zip(tables, chosen):
            table[place] = value
        before = [value] + before[:-1]
        out.append(value)
    return out


def undo_recent(values, most):
    recent, out = [], []
    for y in values:
        if y < len(recent):
            value = recent.pop(y)
        else:
            value = y - len(recent)
            for smaller in sorted(recent):
                value += smaller <= value
        recent.insert(0, value)
        del recent[most:]
        out.append(value)
    return out


def undo_linked(values, series, holders, bits):
    """`series`: key, holder and newest for each value; `holders`: are there any?"""
    last, before, one, two, recent, out = {}, {}, {}, {}, [], []

    def meet(value):
        if value in recent:
            recent.remove(value)
        recent.insert(0, value)
        del recent[16:]

    for y, (key, holder, newest) in zip(values, series):
        if holders:
            meet(holder)
        by_key = context_hashes(key, [], bits)[0]
        _, by_one, by_two = context_hashes(key, [last.get(by_key, 0), before.get(by_key, 0)], bits)
        listed = dict.fromkeys([one.get(by_one, 0), two.get(by_two, 0), last.get(by_key, 0), *recent])
        if y < len(listed):
            value = list(listed)[y]
        else:
            distance = y - len(listed)
            for other in sorted(zigzag((newest - value) & MASK) for value in listed):
                distance += other <= distance
            value = (newest - unzigzag(distance)) & MASK
        one[by_one] = two[by_two] = value
        before[by_key], last[by_key] = last.get(by_key, 0), value
        meet(value)
        out.append(value)
    return out


def undo_listed(values, series, holders, sizes):
    """`series` and `holders` as for `linked`."""
    mask, most_met, most_kept = (1 << (sizes & 0xff)) - 1, sizes >> 8 & 0xff, sizes >> 16
    met, lists, out = [0] * most_met, {}, []

    def bring(values, value):
        del values[values.index(value) if value in values else -1]
        values.insert(0, value)

    for y, (key, holder, newest) in zip(values, series):
        kept = lists.setdefault(key & mask, [0] * most_kept)
        if holders and met:
            bring(met, holder)
        listed = met + kept
        if y < len(listed) and listed.index(listed[y]) == y:
            value = listed[y]
        else:
            value = (newest - unzigzag((y - len(listed)) & MASK)) & MASK
            while value in listed:
                value = (newest - unzigzag((listed.index(value) - len(listed)) & MASK)) & MASK
        if value not in met:
            bring(kept, value)
        if met:
            bring(met, value)
        out.append(value)
    return out


def undo_given(values, keys, hashing, bits):
    table, out = {}, []
    for y, key in zip(values, keys):
        place = ((key * MIX) & MASK) >> (64 - bits) if hashing else key & ((1 << bits) - 1)
        table[place] = (y + table.get(place, 0)) & MASK
        out.append(table[place])
    return out


def undo_stack(values, pushes):
    stack, out = [], []
    for y, pushed in zip(values, pushes):
        if pushed:
            stack.append(y)
            out.append(y)
        else:
            out.append(from_front(y, stack.pop() if stack else 0))
    return out


def undo_scale(values, n):
    s = (n & -n).bit_length() - 1
    m, out = n >> s, []
    for y in values:
        t = y * m & MASK
        if s == 0:
            out.append(t)
            continue
        sign = t >> (63 - s) & 1
        low = (t >> (64 - s)) ^ ((1 << s) - 1 if sign else 0)
        high = (t & ((1 << (64 - s)) - 1))
        out.append((high << s | low) & MASK)
    return out


def undo(transform, parameters, values, series):
    """`series` is what `given`, `keyed`, `stack` and `age` go by, for each value."""
    p = parameters
    if transform == 1:
        out, last = [], p[0]
        for y in values:
            last = (last + y + p[1]) & MASK
            out.append(last)
        return out
    if transform == 2:
        return [unzigzag(y) for y in values]
    if transform == 3:
        return [(y + p[0]) & MASK for y in values]
    if transform == 4:
        return [from_front(y, p[0]) for y in values]
    if transform == 5:
        return undo_given(values, series, p[1], p[2])
    if transform in (6, 7):
        return undo_context(values, p[0], p[1], transform == 7)
    if transform == 8:
        return undo_recent(values, p[0])
    if transform == 9:
        return undo_keyed(values, series, p[1], p[2])
    if transform == 10:
        return undo_stack(values, series)
    if transform == 11:
        return [(latest - y) & MASK for y, latest in zip(values, series)]
    if transform == 13:
        return undo_scale(values, p[0])
    if transform == 15:
        return undo_linked(values, series, p[0] >> 24, p[2])
    if transform == 16:
        return undo_listed(values, series, p[0] >> 24, p[2])
    raise NotImplementedError(f'transform {transform}')
