# SPDX-License-Identifier: Apache-2.0
"""What the tests of native programs share: running steptrace, and reading what `dump` prints."""
import os
import subprocess
import sys

STEPTRACE, PROGRAMS, LIBRARY = sys.argv[1:4]
del sys.argv[1:4]


def program(name):
    return os.path.join(PROGRAMS, 'native_' + name)


def run(arguments, **more):
    return subprocess.run([str(word) for word in arguments], capture_output=True, text=True,
                          timeout=400, **more)


def steptrace(*arguments, expect=0):
    done = run([STEPTRACE, *arguments])
    assert done.returncode == expect, (arguments, done.returncode, done.stderr)
    return done.stdout


def record(trace, *command, **more):
    return run([STEPTRACE, 'record-malloc', '-o', trace, '--', *command], **more)


def records(trace, expect=0):
    """The records, as lists of words: tag, addresses and numbers as `dump` gives them."""
    for line in steptrace('dump', trace, expect=expect).splitlines():
        if not line.startswith('#'):
            yield line.split(' ')


def counts(trace, expect=0):
    found = {}
    for words in records(trace, expect):
        found[words[0]] = found.get(words[0], 0) + 1
    return found
