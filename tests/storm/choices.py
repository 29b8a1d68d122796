# SPDX-License-Identifier: Apache-2.0
"""Random options, of the agent and of the JVM, and random programs."""
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "jvm"))
import facts  # noqa: E402  pylint: disable=wrong-import-position

EVENTS = ("", "events=all", "events=all,include=storm/**+facts/**", "events=all,include=**",
          "events=alloc+free", "events=class+thread", "events=method+class+thread",
          "method=count", "method=count,include=**", "events=alloc,existing=no")
REST = {"stack": ("stack=4", "stack=16", "stack=64,walk=check"),
        "resolution": ("resolution=1ns", "resolution=1ms"),
        "buffer": ("buffer=1m", "buffer=8m", "buffer=256m"), "overflow": ("overflow=drop",),
        "level": ("level=1", "level=9"), "clock": ("clock=monotonic",), "limit": ("limit=300k",),
        "existing": ("existing=no",)}
VM = ("-XX:TieredStopAtLevel=1", "-XX:TieredStopAtLevel=3", "-XX:-TieredCompilation", "-Xint",
      "-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers", "-XX:+UseCompactObjectHeaders",
      "-Xshare:off", "-XX:-DoEscapeAnalysis", "-XX:-UseTLAB", "-XX:+UseStringDeduplication",
      "-Xverify:all", "-XX:ObjectAlignmentInBytes=16", "-Xss1m", "-XX:-Inline",
      "-XX:+AlwaysPreTouch", "-XX:-OmitStackTraceInFastThrow", "-XX:ReservedCodeCacheSize=8m",
      "-XX:+UnlockDiagnosticVMOptions -XX:+VerifyAfterGC",
      "-XX:+UnlockDiagnosticVMOptions -XX:GuaranteedSafepointInterval=1",
      "-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints", "-XX:+UseLargePages",
      "-XX:-UsePerfData", "-XX:NativeMemoryTracking=detail", "-XX:SoftRefLRUPolicyMSPerMB=0",
      "-XX:-StackTraceInThrowable", "-XX:+UseCountedLoopSafepoints", "-XX:-BackgroundCompilation",
      "-XX:Tier4InvocationThreshold=50 -XX:Tier4MinInvocationThreshold=20", "-Xbatch")
OWN = (("Mix", ("400", "3")), ("Finalized", ("300000",)), ("Overflow", ("6",)),
       ("Hunger", ("objects", "array")), ("Reattach", ("50", "2", "100", "0")))
NOT_RANDOM = ("ManyThreads", "Histogram", "StackShapes", "Tangents")


def agent(rng, only=None):
    """Options of the agent: which events, and some of the rest."""
    words = [only if only is not None else rng.choice(EVENTS)]
    words += [rng.choice(REST[key]) for key in sorted(REST) if rng.random() < 0.25]
    if "existing=no" in words[0]:
        words = [words[0]] + [word for word in words[1:] if word != "existing=no"]
    if rng.random() < 0.12 and "method" not in words[0] and "all" not in words[0]:
        words.append("engine=jvmti")
    return ",".join(word for word in words if word)


def vm(rng, machine, most=3):
    """Options that this JVM takes, together with each other."""
    words = []
    for choice in rng.sample(VM, rng.randrange(most + 1)):
        if machine.accepts([*words, *choice.split()]):
            words += choice.split()
    return words


def facts_programs(sources, machine):
    """The programs of java-tests that need nobody to talk to: main class, options of the JVM."""
    found = []
    for path in sorted((pathlib.Path(sources) / "facts").glob("*.java")):
        settings = facts.Program(sources, path.stem).settings
        has_line = any(line.startswith("// TEST:") for line in path.read_text().splitlines()[:20])
        if has_line and settings["driver"] == "plain" and path.stem not in NOT_RANDOM and \
                int(settings["jdk"]) <= machine.version:
            found.append((f"facts.{path.stem}", settings["vm"].split()))
    return found
