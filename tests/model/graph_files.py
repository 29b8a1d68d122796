# SPDX-License-Identifier: Apache-2.0
"""Heap dumps of programs whose objects refer to each other, each read by a reader of its own (docs/formats/hprof.md, heapdump.md)."""
import collections

import elephant_reader
import graph_of
import hprof_reader
from graph_world import ARRAY, FIELDS, GLOBAL, MONITOR, REFERENT, SYSTEM_CLASS
from graphs import choose_case, graph_case
from protobuf_reader import tables
from registry import check

CLASS_NUMBERS, SPACE_BYTES = 1 << 62, 1 << 41
UNKNOWN_ROOT, JNI_GLOBAL, STICKY_CLASS, MONITOR_USED = 0xff, 0x01, 0x05, 0x07


def field_name(key):
    return FIELDS[key[1] - 1][1]


def elements(graph, o):
    """Of an array of references with 4 bytes each, behind a header of 16."""
    found = [0] * ((graph.world.by_number[o].size - 16) // 4)
    for (_, index), target in graph.replay.edges[o].items():
        found[index] = target if target in graph.objects else 0
    return found


@check
def hprof(case):
    moment, graph = choose_case(case)
    if graph is None:
        return False
    world, edges = case.world, graph.replay.edges
    case.run("convert", case.trace, "-o", case.path("out.hprof"), moment)
    dump = hprof_reader.Dump(case.path("out.hprof"))
    case.same("instances", set(dump.instances), {o for o in graph.objects if world.by_number[o].kind != ARRAY})
    case.same("arrays", set(dump.arrays), {o for o in graph.objects if world.by_number[o].kind == ARRAY})
    for o in graph.objects:
        of, values = (dump.arrays if o in dump.arrays else dump.instances)[o]
        case.same(f"class of {o}", dump.class_names[of], world.class_name(world.by_number[o].kind))
        if o in dump.arrays:
            case.same(f"elements of {o}", values, elements(graph, o))
        else:
            wanted = {field_name(key): target for key, target in edges[o].items() if target in graph.objects}
            case.same(f"fields of {o}", {name: target for name, target in values.items() if target}, wanted)
    statics = {name: target for _, _, fields, _ in dump.classes.values() for name, target in fields.items() if target}
    case.same("static fields", statics, {field_name(key): target for key, target in edges[0].items() if target in graph.objects})
    roots = {(tag, o) for tag, o in dump.roots if o < CLASS_NUMBERS}
    case.same("classes are roots", {o for tag, o in dump.roots if o >= CLASS_NUMBERS}, set(dump.classes))
    tags = {GLOBAL: JNI_GLOBAL, SYSTEM_CLASS: STICKY_CLASS, MONITOR: MONITOR_USED}
    case.same("roots", roots, {(tags.get(kind, UNKNOWN_ROOT), o) for kind, o in graph.rooted} | {(UNKNOWN_ROOT, o) for o in graph.frames})


@check
def heapdump(case):
    moment, graph = choose_case(case)
    if graph is None:
        return False
    world, is_too_large = case.world, graph.size(graph.objects) > SPACE_BYTES
    case.run("convert", case.trace, "-o", case.path("out.binpb"), moment, status=(0, 1) if is_too_large else (0,))
    if case.status == 1:
        return False
    with open(case.path("out.binpb"), "rb") as file:
        dump = tables(file.read())
    objects, numbers = [tables(value) for value in dump[1]], sorted(graph.objects)
    case.same("objects", len(objects), len(numbers))
    starts = {of[1][0]: number for of, number in zip(objects, numbers)}
    of_class = collections.defaultdict(set)
    with_referent = {world.by_number[o].kind for o in numbers if REFERENT in graph.replay.edges[o]}  # a slot without an edge
    at = 0x20000000000
    for of, number in zip(objects, numbers):
        o = world.by_number[number]
        case.same(f"place and class of {number}", (of[1][0], of[2][0]), (at, o.kind))
        at += of[3][0]
        slots = [tables(value) for value in of[7]]
        found = {slot[1][0] - of[1][0]: starts[slot[2][0]] for slot in slots if slot.get(2, [0])[0]}
        if o.kind == ARRAY:
            wanted = elements(graph, number)
            case.same(f"length of {number}", (of[4][0], of[3][0], len(slots)), (len(wanted), 24 + 8 * len(wanted), len(wanted)))
            case.same(f"elements of {number}", found, {24 + 8 * i: target for i, target in enumerate(wanted) if target})
            continue
        places = sorted(slot[1][0] - of[1][0] for slot in slots)
        of_class[o.kind].add(tuple(places))
        needed = 16 + 8 * (len(places) + (o.kind in with_referent))
        case.same(f"size of {number}", of[3][0], max((o.size + 7) // 8 * 8, needed))
        case.same_rows(f"targets of {number}", list(found.values()),
                       [t for key, t in graph.replay.edges[number].items() if t in graph.objects and key != REFERENT])
    case.same("slots of each class", {kind: len(places) for kind, places in of_class.items()}, dict.fromkeys(of_class, 1))
    roots = {starts[tables(value)[1][0]] for value in dump[2]}
    case.same("roots", roots, graph.known | graph.frames)


@check
def elephant(case):
    """The lines lead to the references of the end, as stores and the snapshot at the start have them; each line fits those before."""
    world = graph_case(case)
    if not world.objects:
        return False
    replay = graph_of.Replay(world)
    for record in world.records:
        if record.kind != "snapshot" or record.values[1] == "start":
            replay.put(record)
    case.run("convert", case.trace, "-o", case.path("out.et"))
    found = elephant_reader.Elephant(case.path("out.et/trace"))
    living = {o: {number: t for (_, number), t in edges.items() if t in replay.edges and t} for o, edges in replay.edges.items()}
    case.same("references", {o: {place: t for place, t in edges.items() if t} for o, edges in found.living().items()}, living)
    case.same_rows("deaths", found.dead, [o.number for o in world.objects if o.died is not None])
    starts = [r for r in world.records if r.kind == "snapshot" and r.values[1] == "start"]
    case.same("roots", set(found.roots), {target for r in starts for target, _, _ in r.values[3]})
