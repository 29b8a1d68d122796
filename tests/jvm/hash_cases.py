# SPDX-License-Identifier: Apache-2.0
"""Identity hash codes: a traced program gets those that it gets without the agent."""
from session import Failure, shown

TAGS_DRAW = 18  # since this JDK an object that gets a tag gets a hash
ALL_HASHED = 25  # since this JDK each class of the archive has a hash there; in 17, too
# Options, the oldest JDK after 17 with the same hashes; None: an object of the program may get a tag.
WAYS = (("events=class+alloc+free+thread", None), ("events=method+class", ALL_HASHED),
        ("engine=jvmti,events=class+thread", TAGS_DRAW))
# Modes without a generator of each thread: 2 is a constant.
OTHER_MODES = (0, 2)


def lines(session, vm, options):
    agent = None if options is None else f"file=run.step,{options}"
    result = session.run(session.java("Hashes", vm, agent))
    if result.returncode != 0 or b"last" not in result.stdout:
        raise Failure(f"{vm} {options}: it ends with {result.returncode}\n"
                      + shown(result.stdout) + shown(result.stderr))
    return result.stdout.decode().splitlines()


def hash_codes(session):
    """The same hashes, also where a set of objects is walked in their order."""
    plain = lines(session, "", None)
    for options, since in WAYS:
        traced = lines(session, "", options)
        exact = session.version() < TAGS_DRAW or (since is not None and session.version() >= since)
        if traced != plain and exact:
            raise Failure(f"{options}:\n" + "\n".join(plain) + "\nbut traced\n" + "\n".join(traced))
        session.step("check", "run.step")


def hash_modes(session):
    """Where there is no such generator nothing is touched, and the program runs."""
    for mode in OTHER_MODES:
        vm = f"-XX:+UnlockExperimentalVMOptions -XX:hashCode={mode}"
        traced = lines(session, vm, "events=class+alloc+free+method")
        if mode == 2 and not all(line.endswith(" 1") for line in traced if "first" in line):
            raise Failure("hashCode=2 is a constant:\n" + "\n".join(traced))
        session.step("check", "run.step")


TABLE = {function.__name__: function for function in (hash_codes, hash_modes)}
