#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""places.py JDK JAR CLASSES CLASS_PATH: where JUnit's extension writes the job's summary and snapshots, if another user has
prepared the place: the rules of the command. Root gives files to user 4242; without root, only what needs none is tried.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

OTHER = 4242


class Places:
    """A directory where all may make files, as /tmp, and a victim beside it."""

    def __init__(self, scratch):
        self.scratch, self.cases = scratch, []
        self.victim = scratch / "victim"
        self.victim.write_text("kept")
        self.number = 0

    def shared(self, owner=0, mode=0o1777):
        self.number += 1
        path = self.scratch / f"shared{self.number}"
        path.mkdir()
        path.chmod(mode)
        if os.geteuid() == 0:
            os.chown(path, owner, owner)
        return path

    def file(self, directory, owner=0, text="x"):
        path = directory / "f"
        path.write_text(text)
        path.chmod(0o666)
        if owner:
            os.chown(path, owner, owner)
        return path

    def link(self, directory, to, owner=0):
        path = directory / "f"
        path.symlink_to(to)
        if owner:
            os.chown(path, owner, owner, follow_symlinks=False)
        return path

    def fifo(self, directory):
        os.mkfifo(directory / "f")
        return directory / "f"

    def second_name(self, directory):
        os.link(self.victim, directory / "f")
        return directory / "f"

    def want(self, what, path, wanted, text=None):
        """`wanted` is in the answer; the file then has the text."""
        self.cases.append((what, path, wanted, text))

    def faults(self, command):
        words = [str(word) for what, path, _, _ in self.cases for word in (what, path)]
        said = subprocess.run([*command, *words], capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
        for (what, path, wanted, text), answer in zip(self.cases, said, strict=True):
            if wanted not in answer or (text is not None and path.read_text() != text):
                yield f"{what} {path}: {answer}, not {wanted}"
        if self.victim.read_text() != "kept":
            yield "the victim was written"


def try_all(places):
    own = places.shared(mode=0o755)
    places.want("append", own / "new", "appended", "more")
    places.want("append", places.file(own), "appended", "xmore")
    places.want("append", places.link(places.shared(), places.victim), "no regular file")
    places.want("append", places.link(places.shared(), "nowhere"), "no regular file")
    places.want("append", places.fifo(places.shared()), "no regular file")
    places.want("append", places.shared(), "no regular file")
    places.want("append", places.file(places.shared()), "appended", "xmore")
    places.want("append", own / "none" / "f", "none")
    places.want("of", own / "new", str(own / "new"))
    places.want("of", places.link(places.shared(), places.victim), str(places.victim))
    places.want("of", places.link(places.shared(), "nowhere"), "the link leads nowhere")
    places.want("of", places.link(places.shared(), "f"), "too many links")
    places.want("of", places.fifo(places.shared()), "no regular file")
    places.want("of", places.link(places.shared(), "/dev/null"), "no regular file")
    if os.geteuid() == 0:
        planted(places)


def planted(places):
    places.want("append", places.file(places.shared(), OTHER), "another user's", "x")
    places.want("append", places.file(places.shared(OTHER), OTHER), "appended", "xmore")  # the directory's owner may do all there
    places.want("append", places.second_name(places.shared(OTHER)), "another user's", "kept")
    places.want("append", places.file(places.shared(mode=0o777), OTHER), "another user's", "x")
    places.want("append", places.file(places.shared(mode=0o755), OTHER), "appended", "xmore")
    places.want("of", places.link(places.shared(), places.victim, OTHER), "another user's link")
    places.want("of", places.file(places.shared(), OTHER), "another user's file", "x")
    places.want("of", places.file(places.shared(mode=0o755), OTHER), "f")
    places.want("of", places.link(places.shared(), places.file(places.shared(), OTHER)), "another user's file")


def main(jdk, jar, classes, class_path):
    with tempfile.TemporaryDirectory() as scratch:
        places = Places(pathlib.Path(scratch))
        try_all(places)
        faults = list(places.faults([f"{jdk}/bin/java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
                                     f"{jar}:{classes}:{class_path}", "steptrace.junit.Places"]))
    print(*faults, f"{len(places.cases)} places, {len(faults)} faults", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
