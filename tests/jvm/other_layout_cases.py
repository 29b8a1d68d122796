# SPDX-License-Identifier: Apache-2.0
"""What `steptrace layout` says of a trace, against traces of the same program with those layouts: each class, to the byte."""
import csv

from layout_cases import has_layout
from session import Failure, shown

LAYOUTS = {"-XX:+UseCompactObjectHeaders": "header=8", "-XX:-UseCompressedOops": "reference=8",
           "-XX:ObjectAlignmentInBytes=16": "alignment=16",
           "-XX:-UseCompressedOops -XX:-UseCompressedClassPointers -XX:ObjectAlignmentInBytes=32":
           "header=16,reference=8,alignment=32"}
# What the program's own methods make; the stacks are in the record ObjectAllocAt.
OWN = ("--site", "facts/OtherLayouts.instances", "--site", "facts/OtherLayouts.arrays")


def require(condition, text):
    if not condition:
        raise Failure(text)


def record(session, name, vm, more):
    result = session.run(session.java("OtherLayouts", f"-XX:TieredStopAtLevel=1 {vm}", f"file={name}.step,layout=yes,events=class+alloc{more}"))
    require(result.returncode == 0, shown(result.stderr))
    return f"{name}.step"


def classes(session, trace, layout, *words):
    text = session.step("layout", trace, "--csv", "--as", layout, *words).decode()
    rows = [row for row in csv.DictReader(text.splitlines())
            if row["layout"] == (layout if layout != "alignment=256" else "as traced")]
    # hidden classes have other names in each run
    return {row["class"].split("$$Lambda")[0]: (int(row["objects"]), int(row["bytes"]), int(row["error"])) for row in rows}


def other_layouts(session):
    """Own objects by class with stacks; and without them (the short records) the program's classes."""
    plain = record(session, "plain", "", ",stack=4")
    short = record(session, "short", "", "")
    seen = 0
    for flags, layout in LAYOUTS.items():
        if not has_layout(session, flags):
            continue
        other = record(session, "other", flags, ",stack=4")
        wanted = classes(session, other, "alignment=256", *OWN)
        found = classes(session, plain, layout, *OWN)
        require(len(wanted) >= 24 and all(row[2] == 0 for row in found.values()), f"{layout}: {found}")
        require(found == wanted, f"{layout}:\n{found}\nare not\n{wanted}")
        found = classes(session, short, layout, "--class=**facts/**")
        own = {name: row for name, row in found.items() if name in wanted}
        require(len(own) >= 10 and all(own[name] == wanted[name] for name in own), f"{layout}: {own}, {wanted}")
        seen += 1
    require(seen >= 2, f"{seen} layouts")


TABLE = {"other_layouts": other_layouts}
