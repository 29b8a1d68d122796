#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one test on one JDK with one collector: a program of java-tests, whose trace has to be closed
and to have the program's facts, or a test of special.py."""
import argparse
import json
import pathlib
import shutil
import sys

FORMATS = pathlib.Path(__file__).resolve().parent.parent / "formats"
sys.path[:0] = [str(FORMATS / name) for name in ("", "elephant_tracks", "hatf", "hprof", "otlp", "text")]
import drivers  # noqa: E402
import facts  # noqa: E402
import hatf_reader  # noqa: E402
import special  # noqa: E402
import trace_text  # noqa: E402
from session import Failure, Session, Skip  # noqa: E402

SKIPPED = 77


def check_trace(session, program, killed):
    session.step("check", "run.step", codes=(0, 3) if killed else (0,))
    session.step("convert", "run.step", "-o", "run.zip", codes=(0, 3) if killed else (0,))
    trace = trace_text.read_zip(session.path("run.zip"), program.markers(), killed)
    faults = trace.breaches + check_existing(program, trace)
    heap = None
    if program.needs_threads():
        session.step("convert", "run.step", "-o", "run.hatf", "--attributes=class")
        heap = hatf_reader.Heap(session.path("run.hatf"))
        faults += heap.breaches
    sites = allocation_sites(session, trace) if program.needs_sites() else ()
    faults += facts.Judge(program, trace, heap, sites).judge()
    if not killed and pathlib.Path(session.path("run.step.live")).exists():
        faults.append("run.step.live is there after a clean end")
    if faults:
        raise Failure("\n".join(faults))
    return trace


def allocation_sites(session, trace):
    """What each site allocated of each class; with what existed before they add up to all allocations."""
    table = json.loads(session.step("heap", "run.step", "--at", "end", "--allocated", "--by",
                                    "class+site", "--top", "0", "--json"))
    total = sum(row["objects"] for row in table["rows"]) + table["moment"]["existing_objects"]
    if total != trace.kinds["OA"]:
        raise Failure(f"sites: {total} objects, not {trace.kinds['OA']}")
    return table["rows"]


def check_existing(program, trace):
    """What was there before VM init: threads, classes, objects."""
    events = program.settings["events"]
    wanted = {"TB": "thread", "CL": "class", "OA": "alloc"}
    least = {"TB": 3, "CL": 300, "OA": 3000}
    return [f"only {trace.existing[kind]} {kind} at VI" for kind, event in wanted.items()
            if (event in events or events == "all" or kind != "OA") and
            trace.existing[kind] < least[kind]]


def run_program(session, name):
    program = facts.Program(session.sources, name)
    session.timeout = int(program.settings["timeout"])
    if session.version() < int(program.settings["jdk"]):
        raise Skip(f"{name} needs JDK {program.settings['jdk']}")
    killed = drivers.TABLE[program.settings["driver"]](session, program)
    program.add_facts(session.path("facts.out"))
    if session.engine == "jvmti":
        program.facts = [fact for fact in program.facts if fact[0] != "frees-between"]
    trace = check_trace(session, program, killed)
    if killed:
        drivers.compare_recovered(session, trace)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tracer", required=True, help="libtracer.so")
    parser.add_argument("--steptrace", required=True, help="the command")
    parser.add_argument("--jdk", required=True, help="the JDK's directory")
    parser.add_argument("--collector", default="G1", help="Serial, Parallel, G1, Z or Shenandoah")
    parser.add_argument("--classes", required=True, help="where java-tests are compiled to")
    parser.add_argument("--sources", required=True, help="java-tests")
    parser.add_argument("--library", default="", help="the native methods of NativeCalls")
    parser.add_argument("--versions", default="", help="the agent that changes class files' versions")
    parser.add_argument("--other-agent", default="", help="an agent beside ours")
    parser.add_argument("--jar", default="", help="steptrace.jar, if it was built")
    parser.add_argument("--as-service", default="", help="runs a program under a service's filter of system calls")
    parser.add_argument("--thinner", default="", help="thin_collections of tests/graph")
    parser.add_argument("--engine", default="bytecode", help="jvmti or bytecode")
    parser.add_argument("--directory", required=True, help="where the files of the test go")
    parser.add_argument("test", help="a program of java-tests, or a test of special.py")
    return parser.parse_args()


def main():
    args = arguments()
    for name in ("tracer", "steptrace", "jdk", "classes", "sources", "library", "other_agent", "versions", "thinner", "as_service",
                 "jar", "directory"):
        if getattr(args, name):
            setattr(args, name, str(pathlib.Path(getattr(args, name)).resolve()))
    shutil.rmtree(args.directory, ignore_errors=True)
    pathlib.Path(args.directory).mkdir(parents=True)
    session = Session(args)
    try:
        session.require_collector()
        if args.test in special.TABLE:
            special.TABLE[args.test](session)
        else:
            run_program(session, args.test)
    except Skip as skip:
        print(f"skipped: {skip}")
        return SKIPPED
    except Failure as failure:
        print(f"{args.test}, {session.jdk.name}, {session.collector}, in {args.directory}:\n{failure}")
        return 1
    shutil.rmtree(args.directory, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
