# SPDX-License-Identifier: Apache-2.0
"""Made-up traces, as text that `steptrace convert` reads: objects that are born and die, in two threads."""
import json
import random
import subprocess

CLASSES = ["java/lang/String", "[B", "pack/Größe", "java/util/HashMap$Node"]


def write(path, objects, seed):
    """The trace of that seed, as `path`.txt; all is known to whoever counts it."""
    chance = random.Random(seed)
    lines = ["VS:0", "VI:1000", *(f"CL:1000:{c}" for c in CLASSES), "TB:1000:1"]
    known, live, now = {}, [], 1000
    for number in range(1, objects + 1):
        now += chance.randrange(3) * 1000
        name = CLASSES[min(chance.randrange(8), 3)]
        lines.append(f"OA:{now}:{name}:{number}")
        known[number] = [name, now, None]
        live.append(number)
        if chance.randrange(objects // 5) == 0:
            now += 1000
            dead = sorted(n for n in live if chance.randrange(4))
            gone = set(dead)
            live = [n for n in live if n not in gone]
            for n in dead:
                lines.append(f"OF:{now}:{known[n][0]}:{n}")
                known[n][2] = now
    lines += [f"TE:{now + 1000}:1", f"VD:{now + 2000}"]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return known


def make(steptrace, path, objects, seed):
    """A .step trace of many blocks; what is known of its objects: number -> [class, born, died]."""
    known = write(path + ".txt", objects, seed)
    for words in (["convert", path + ".txt", "-o", path + ".one.step"],
                  ["pack", "--block=2000", path + ".one.step", "-o", path]):
        subprocess.run([steptrace, *words], check=True, stderr=subprocess.PIPE)
    return known


def stats(steptrace, path):
    """What `steptrace stats --json --top=0` says."""
    return json.loads(subprocess.run([steptrace, "stats", "--json", "--top=0", path], check=True,
                                     stdout=subprocess.PIPE).stdout)
