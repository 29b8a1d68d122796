# SPDX-License-Identifier: Apache-2.0
"""Which objects a selection takes, as docs/selection.md says."""
import re


def as_expression(pattern, dots_are_slashes=True):
    out = ""
    i = 0
    while i < len(pattern):
        if pattern.startswith("**", i):
            out, i = out + ".*", i + 2
            continue
        c = pattern[i]
        if c == "*":
            out += "[^/]*"
        elif c == "?":
            out += "[^/]"
        elif c == "." and dots_are_slashes:
            out += "/"
        else:
            out += re.escape(c)
        i += 1
    return re.compile(out, re.S)


def class_matches(pattern, name):
    """Array classes match only patterns that begin with `[` (or end in `[]`, which this model does not read)."""
    if name.startswith("[") != pattern.startswith("["):
        return False
    if pattern.startswith("["):
        return as_expression(pattern).fullmatch(name) is not None
    expression = as_expression(pattern)
    if "/" not in pattern and "." not in pattern and "**" not in pattern:
        return expression.fullmatch(name.split("/")[-1]) is not None
    return expression.fullmatch(name) is not None


def frame_matches(pattern, frame):
    """A frame is (CLASS.METHOD, line)."""
    name, line = frame
    path = name.replace(".", "/")
    if ":" in pattern:
        pattern, wanted = pattern.rsplit(":", 1)
        if int(wanted) != line:
            return False
    return any(as_expression(p).fullmatch(path) for p in (pattern, pattern + ".*"))


def any_of(patterns, matches):
    """One of the patterns matches, and none that begins with `!`; only `!` patterns leave all others."""
    wanted = [p for p in patterns if not p.startswith("!")]
    refused = [p[1:] for p in patterns if p.startswith("!")]
    return (not wanted or any(matches(p) for p in wanted)) and not any(matches(p) for p in refused)


class Selection:
    """options: pairs of an option's name and its value, as on the command line."""

    def __init__(self, world, options=(), recorded=False):
        """`recorded`: of call stacks that were recorded alone, as `watch` goes by."""
        self.world, self.stack_of = world, (lambda o: world.stack(o.site)) if recorded else world.derived_stack
        self.values = {}
        for name, value in options:
            self.values.setdefault(name, []).append(value)

    def takes(self, o):
        return all(getattr(self, "takes_" + name.replace("-", "_"))(o, values) for name, values in self.values.items())

    def objects(self):
        return [o for o in self.world.objects if self.takes(o)]

    def takes_class(self, o, values):
        return any_of(values, lambda p: class_matches(p, self.world.class_name(o.kind)))

    def takes_site(self, o, values):
        stack = self.stack_of(o)
        return any_of(values, lambda p: any(frame_matches(p, frame) for frame in stack))

    def takes_method(self, o, values):
        stack = self.stack_of(o)[:1]
        return any_of(values, lambda p: any(frame_matches(p, frame) for frame in stack))

    def takes_thread(self, o, values):
        return any(o.thread == int(v) if v.isdigit() else o.thread and re.fullmatch(re.escape(v).replace(r"\*", ".*"), self.world.thread_name(o.thread))
                   for v in values)

    def takes_size(self, o, values):
        return in_range(o.size, values[0])

    def takes_lifetime(self, o, values):
        ticks = (o.died if o.died is not None else self.world.end) - o.born
        if o.died is None and not values[0].startswith(">"):
            return False
        return in_range(ticks * 1000, values[0])

    def takes_temporary(self, o, values):
        if o.existing:
            return False
        if values[0] is None:
            return o.died is not None and o.died == min((c for c in self.world.collections() if c >= o.born), default=None)
        if o.died is None:
            return False
        after = sum(self.world.birth(other) > self.world.birth(o) and other.born <= o.died for other in self.world.objects)
        return after < int(values[0])

    def takes_alive_at(self, o, values):
        import moments
        return o in moments.Moment(self.world, values[0]).living

    def takes_time(self, o, values):
        first, last = values[0].replace("ns", "").split("..")
        return (not first or o.born * 1000 >= int(first)) and (not last or o.born * 1000 <= int(last))


def in_range(value, text):
    """Sizes in bytes, times in nanoseconds."""
    text = text.replace("ns", "")
    found = re.fullmatch(r"(>=|<=|>|<|=)(\d+)", text)
    if found:
        limit = int(found[2])
        return {">=": value >= limit, "<=": value <= limit, ">": value > limit, "<": value < limit, "=": value == limit}[found[1]]
    first, last = text.split("..")
    return int(first) <= value <= int(last)
