# SPDX-License-Identifier: Apache-2.0
"""-Xcheck:jni has nothing to say of the agent's calls that it does not say of the program's, and the
agent nothing of the JDK's initializers."""
from session import Failure

WAYS = ("existing=yes", "events=all,include=**", "engine=jvmti,stack=16", "engine=sampled,sample=16k",
        "events=all+reference,stack=16", "internals=none,events=all+reference")
# While MethodExit events are on, JDK 17 keeps a local reference to each object that a method returns:
# 1,208 warnings for a program without native code and an agent that does nothing else.
WAYS_OF_NEWER = ("engine=jvmti,events=all,stack=16",)
FREES_RESULTS = 25


def warnings(session, program, options):
    agent = None if options is None else f"file=run.step,overwrite=yes,{options}"
    result = session.run(session.java(program, "-Xcheck:jni", agent))
    if result.returncode != 0:
        raise Failure(f"{program} {options}: it ends with {result.returncode}")
    text = result.stdout + result.stderr
    return text.count(b"WARNING"), text


def checked_jni(session):
    for program in ("Throwing", "Clones"):
        untraced, _ = warnings(session, program, None)
        for options in WAYS + (WAYS_OF_NEWER if session.version() >= FREES_RESULTS else ()):
            count, text = warnings(session, program, options)
            if count > untraced:
                raise Failure(f"{program} {options}: {count} warnings, {untraced} untraced:\n"
                              + text[:3000].decode(errors="replace"))
            if b" will run slowly: " in text:
                raise Failure(f"{program} {options}: a method that runs once is told of:\n"
                              + text[-3000:].decode(errors="replace"))


TABLE = {function.__name__: function for function in (checked_jni,)}
