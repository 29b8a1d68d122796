# SPDX-License-Identifier: Apache-2.0
"""Phases: a program that counts what it makes in each, and whether --phase selects the same."""
import json
import pathlib

from session import Failure, answer, expect_line, finish, shown

PHASES = "phase=auto+facts.Phases.called+facts.Phases$Made.<init>"
ALL = "(all)"


def require(condition, text):
    if not condition:
        raise Failure(text)


def glob_of(name):
    """A pattern that matches this name alone."""
    return "".join(f"[{letter}]" if letter in "[*?" else letter for letter in name)


def counts_of(stdout):
    """What the program says: the objects of each phase."""
    rows = [line.split(" ", 2) for line in stdout.decode().splitlines() if line.startswith("count ")]
    return {name.replace("{n}", "\n"): int(count) for _, count, name in rows}


def allocated(session, *words):
    return len(session.step("dump", "--kind=OA", *words, "run.step").splitlines())


def judge_watch(session):
    """The sums of watch, which reads thread by thread, are those of stats, which reads by time."""
    for phase in ("program", "many", "!many", "handover", "facts.Phases.called"):
        shown_sums, sums = (json.loads(session.step(verb, "--json", "--top=1", f"--phase={phase}", "run.step"))
                            for verb in ("watch", "stats"))
        for key in ("allocated_objects", "allocated_bytes", "freed_objects", "freed_bytes", "live_objects"):
            require(shown_sums["total"][key] == sums["objects"][key],
                    f"watch --phase={phase}: {key} {shown_sums['total'][key]}, stats {sums['objects'][key]}")


def judge(session, stdout):
    session.step("check", "run.step")
    counts = counts_of(stdout)
    require(len(counts) > 10, f"the program said {counts}")
    for name, count in counts.items():
        words = [f"--phase={glob_of(name)}"] if name != ALL else []
        found = allocated(session, "--class=facts/Phases$Thing", *words)
        require(found == count, f"phase {name!r}: {found} objects instead of {count}")
    require(allocated(session, "--phase=many", "--class=facts/Phases$Other") == 100000,
            "not each of 100,000 phases has its object")
    require(allocated(session, "--phase=!many", "--class=facts/Phases$Other") == 10002,
            "objects between phases")
    judge_watch(session)


def judge_names(session):
    """A name of 70,000 bytes is cut, and no end is missing but that of a phase that stays open."""
    names = session.step("dump", "--record", "java.PhaseName", "--entries", "run.step")
    require(b'"' + b"x" * 65533 + b'..."' in names, "the longest name is not cut")
    require(allocated(session, "--phase=xxx*") == 1, "the object of the phase with that name")
    require(allocated(session, "--phase=open", "--class=facts/Phases$Other") == 1,
            "the object of the phase that is open at the end")
    rows = session.step("sql", "run.step", "--csv", "select phase, count(*), count(ended), "
                        "sum(program) from phases where phase in ('many', 'open', 'program') "
                        "group by 1 order by 1").decode().split()
    require(rows[1:] == ["many,100000,100000,0", "open,1,0,1", "program,1,1,1"], f"{rows}")
    session.step("report", "run.step", "-o", "run.html")
    page = pathlib.Path(session.path("run.html")).read_text()
    require('{"name":"many","phases":100000,' in page, "the report lacks a phase")
    result = session.run([session.steptrace, "stats", "--phase=warmpu", "run.step"])
    require(b"did you mean 'warmup'?" in result.stderr, shown(result.stderr))


def phases(session):
    """Of threads and of the program, by the API, by methods, by harnesses, with exceptions."""
    for agent in ("events=all,include=facts.**", "engine=jvmti"):
        result = session.run(session.java("Phases", "", f"file=run.step,{agent},{PHASES}"))
        require(result.returncode == 0, shown(result.stderr))
        judge(session, result.stdout)
        judge_names(session)
    process = session.start(session.java("Phases", "-XX:+EnableDynamicAgentLoading",
                                         words=["wait"]))
    try:
        expect_line(process, "attach")
        session.step("attach", f"--agent={session.tracer}", "-o", "run.step", "-O", PHASES,
                     "-O", "overwrite=yes", str(process.pid))
        answer(process)
        judge(session, finish(process))
    finally:
        process.kill()


TABLE = {function.__name__: function for function in (phases,)}
