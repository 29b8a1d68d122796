#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-layers.py [BUILD]: do the includes of each folder keep to the layers that its CMakeLists.txt names?

An include "a/b/c.h" uses the folder a/b.  It must be named under USES of the folder's
steptrace_layer(), or come with one of those.
No folders may use each other in a circle, and inside a folder no more than three files.
With a BUILD: in its objects no files of a folder may call each other in a circle.  A function is where it belongs
if what it calls lies below it; a file that has two layers in it is two files.  Nor is a function global that no
other object uses, tests included, but for those of the public headers.
Only the modules of OPENERS open, make, rename or remove files: so what keeps others from leading them elsewhere stands in one place.
One file of the agent clears exceptions: another could clear one of the program's.
Calls that wait stand in the tables of docs/hotspot-internals.md, "Waits", each with its limit, as `file`: call, or call and number.
"""
import os
import re
import subprocess
import sys

TOPS = ("format", "compilers", "capture", "agent", "converter", "analyses", "malloc-recorder")
EVERYBODYS = ("format/include/steptrace", "analyses/replay/driver", "malloc-recorder/drain")
CLEARS_EXCEPTIONS = "agent/base/exceptions"  # nothing else in the agent does
INLINE = ("format/core/grow.h", "format/core/hash.h", "format/core/nearest_word.h")  # without a symbol: everybody's as well

KNOWN_CIRCLES = {  # of calls, each with the reason
    "malloc-recorder: interpose_heaps native_recording process":
        "whichever function in front of the program's is called first starts the recording, which sets up the others",
}

OPENING = set("""open openat openat2 creat fopen freopen mkstemp mkostemp mkdtemp tmpfile rename renameat renameat2 unlink
    unlinkat rmdir remove opendir fdopendir mkdir mkdirat mkfifo mkfifoat mknod mknodat symlink symlinkat link linkat
    chmod fchmodat chown lchown fchownat truncate""".split())

OPENERS = {  # files, or folders, that do any of these, each with the reason
    "format/core/input_file": "all inputs",
    "format/core/output_place": "the directory of an output, and names in it",
    "format/io/zip_file": "the library's writers of ZIP files, at the caller's path",
    "format/step/write/file_output": "the library's writer, at a caller's path that is no regular file",
    "format/hatf/hatf_output_file": "tmpfile(), which has no name",
    "converter/output/output_directory": "outputs: directories, and files that appear when they are whole",
    "converter/output/output_file": "outputs: files",
    "converter/output/output_lock": "outputs: the lock of a file to replace",
    "converter/output/output_signals": "outputs that a signal leaves unfinished, removed",
    "converter/files/spool": "temporary files without a name",
    "converter/recorders/attach_protocol": "files of another user's process, opened in a child with that user's rights",
    "converter/recorders/jvm_process": "files of another user's process, opened in a child with that user's rights",
    "converter/recorders/shared_place": "files of another user's process, opened in a child with that user's rights",
    "converter/recorders/target_user": "files of another user's process, opened in a child with that user's rights",
    "analyses/mcp/": "traces below the server's directories, one part of a path after the other",
    "analyses/replay/driver/driver_clocks": "runs in another process, without the rest",
    "analyses/replay/driver/driver_samples": "runs in another process, without the rest",
    "capture/trace_file": "the trace and its live file",
    "capture/provenance": "files of /proc that describe the process",
    "capture/writer_process": "the library's own bytes, before it is started again",
    "capture/attach_client": "the socket of a program that attached and was killed",
    "capture/detached": "/dev/null",
    "agent/base/option_text": "options=FILE, in a JVM",
    "agent/session/dormant": "the command of wake=, in a JVM",
    "agent/events/tagged_deaths": "the JVM's own threads in /proc",
    "agent/hotspot/archived_classes": "the JVM's own archive",
    "malloc-recorder/": "the trace, its live file, and the program's own files",
}

SOCKETS = set("socket socketpair bind listen connect accept accept4 getaddrinfo gethostbyname sendto sendmsg".split())

WAITS_PAGE = "docs/hotspot-internals.md"
WAITING = set("""poll ppoll select pselect epoll_wait epoll_pwait nanosleep clock_nanosleep usleep sleep sched_yield flock lockf
    waitpid wait wait3 wait4 waitid pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait pthread_join
    pthread_timedjoin_np pthread_barrier_wait sem_wait sem_timedwait sem_clockwait accept accept4 connect recv recvfrom recvmsg
    sigwait sigwaitinfo sigtimedwait sigsuspend pause system popen pclose getaddrinfo thrd_join thrd_sleep cnd_wait cnd_timedwait
    mtx_lock mtx_timedlock tcdrain msgrcv mq_receive getch futex_wait futex_gate_wait""".split())
NEVER_WAITS = r"WNOHANG|MSG_DONTWAIT|^poll\(.*, 0\)"  # calls of these with such an argument
PRIMITIVES = {"capture/futex.h": "futex_wait(), which callers are asked about"}

UNCALLED = {  # global functions that no other object uses, each with the reason
    "native_method_entered": "the assembly of native_methods.c calls it",
    "native_method_left": "the same",
    "writer_entry_at": "the assembly of writer_entry.c calls it",
}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def words(text, key):
    found = re.search(rf"\b{key}\s+(.*?)(?=\s[A-Z]{{4,}}\s|\))", text, re.S)
    return found[1].split() if found else []


def circles(graph):
    """Groups of nodes that reach each other, of two or more."""
    def reach(node):
        seen, todo = set(), [node]
        while todo:
            for other in graph.get(todo.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen
    reached = {node: reach(node) for node in graph}
    groups = {frozenset([a, *(b for b in reached[a] if a in reached.get(b, ()))]) for a in graph}
    return [sorted(group) for group in groups if len(group) > 1]


def symbols(*paths):
    """The member or object, the symbol and its kind, of archives and objects."""
    listed = subprocess.run(["nm", "-A", "-P", *paths], check=True, text=True, stdout=subprocess.PIPE).stdout
    return re.findall(r"([\w.-]+)\.[cS]\.o\]?: (\S+) (\w)", listed)


def object_calls(build, functions):
    """Files of ours whose object calls any of the functions, with the calls."""
    objects, calls = {}, {}
    for where, _, names in os.walk(build):
        folder, found, below = os.path.relpath(where, build).partition("/CMakeFiles/")
        for name in names if found and folder.split("/")[0] in TOPS else ():
            path = os.path.normpath(f"{folder}/{'/'.join(below.split('/')[1:])}/{name.removesuffix('.o')}")
            if name.endswith(".c.o") and os.path.exists(path):
                objects[f"{where}/{name}"] = path.removesuffix(".c")
    listed = subprocess.run(["nm", "-A", "-u", "-P", *objects], check=True, text=True, stdout=subprocess.PIPE).stdout
    for found, name in re.findall(r"^(.*?): (?:__)?(\w+?)(?:64)?(?:_2|_chk)?(?:@\S*)? U", listed, re.M):
        if name in functions:
            calls.setdefault(objects[found], set()).add(name)
    return calls


def calls_that_wait(text):
    """Each call of WAITING in C text, with its arguments, but for those that never wait."""
    text = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', "", text, flags=re.S)
    for call in re.finditer(r"(?<![\w.>])(\w+)\(", text):
        if call[1] not in WAITING or re.search(rf"^static [\w *]*\b{call[1]}\(", text, re.M):
            continue  # the file's own function may have such a name
        end, open_ones = call.end(), 1
        while open_ones and end < len(text):
            open_ones += (text[end] == "(") - (text[end] == ")")
            end += 1
        if not re.search(NEVER_WAITS, re.sub(r"\s+", " ", text[call.start():end])):
            yield call[1]


def waits_said():
    """How often each call of each file stands in the tables."""
    section = re.search(r"^## Waits\n(.*?)^## ", read(WAITS_PAGE), re.S | re.M)[1]
    said = {}
    for path, calls in re.findall(r"`([\w./-]+\.[ch])`: (\w+(?: \d)?(?:, \w+(?: \d)?)*)", section):
        for name, times in re.findall(r"(\w+)(?: (\d))?", calls):
            if name in WAITING:
                said[path, name] = said.get((path, name), 0) + int(times or 1)
    return said


def wait_faults(build):
    """Calls that wait and are not in the tables; waits that an object has and its source does not show."""
    said, found = waits_said(), {}
    for top in TOPS:
        for folder, _, names in os.walk(top):
            for name in (n for n in names if n.endswith((".c", ".h")) and f"{folder}/{n}" not in PRIMITIVES):
                text = read(f"{folder}/{name}")
                if re.search(r"F_(OFD_)?SETLKW", text):
                    yield f"{folder}/{name}: F_SETLKW waits without a limit: F_SETLK"
                for call in calls_that_wait(text):
                    found[f"{folder}/{name}", call] = found.get((f"{folder}/{name}", call), 0) + 1
    for path, name in sorted(said.keys() | found.keys()):
        times, rows = found.get((path, name), 0), said.get((path, name), 0)
        if times != rows:
            yield f"{path}: {name}(), {times} calls, {rows} in the tables of waits: {WAITS_PAGE}"
    for path, calls in object_calls(build, WAITING).items():
        text = read(f"{path}.c")
        for name in sorted(n for n in calls if not re.search(rf"\b{n}\(", text)):
            yield f"{path}.c: {name}() comes with a macro or a header: call it where it can be seen"


def opener_faults(build):
    unused = set(OPENERS)
    for path, calls in sorted(object_calls(build, OPENING).items()):
        entries = {entry for entry in OPENERS if path == entry or (entry.endswith("/") and path.startswith(entry))}
        unused -= entries
        if not entries:
            yield f"{path}.c: {', '.join(sorted(calls))}(): format/core/input_file.h opens inputs, converter/output outputs"
    for entry in sorted(unused):
        yield f"{entry} opens nothing any more: it need not be in OPENERS"


def socket_faults(build):
    """What runs in the recorded process has one socket, which is of this machine: docs/safety.md says so."""
    for path, calls in sorted(object_calls(build, SOCKETS).items()):
        if path.startswith(("agent/", "capture/", "malloc-recorder/")) and path != "capture/attach_client":
            yield f"{path}.c: {', '.join(sorted(calls))}(): a recorder makes no connection"
    families = set(re.findall(r"\bAF_\w+", read("capture/attach_client.c")))
    if families != {"AF_UNIX"}:
        yield f"capture/attach_client.c: {', '.join(sorted(families))}: a recorder makes no connection"


def exported(folder):
    """What the folder's library gives out; of the recorder, functions that stand in front of the C library's."""
    path = f"{folder}/exports.map"
    return set(re.findall(r"\w+", read(path))) if os.path.exists(path) else set()


def circles_of_calls(build, targets):
    for target, folder in sorted(targets.items()):
        found, passed = symbols(f"{build}/{folder}/lib{target}.a"), exported(folder)
        home = {name: member for member, name, kind in found if kind in "TW" and name not in passed}
        graph = {}
        for member, name, kind in found:
            if kind == "U" and home.get(name, member) != member:
                graph.setdefault(member, set()).add(home[name])
        for circle in circles(graph):
            yield f"{folder}: {' '.join(circle)}"


def uncalled(build, targets, files):
    """Functions of our own sources: what bison, flex and our compilers make is more than is used."""
    objects = [f"{where}/{n}" for where, _, names in os.walk(build) for n in names if n.endswith(".o")]
    used = {name for _, name, kind in symbols(*objects) if kind == "U"}
    headers = "".join(read(f"{EVERYBODYS[0]}/{n}") for n in os.listdir(EVERYBODYS[0]))
    used |= set(re.findall(r"\w+", headers)) | set().union(*(exported(top) for top in TOPS))
    for target, folder in sorted(targets.items()):
        for member, name, kind in symbols(f"{build}/{folder}/lib{target}.a"):
            if kind == "T" and name not in used and f"{member}.c" in files[folder] and \
                    re.search(rf"\b{name}\([^;{{}}]*\)\s*\{{", read(f"{folder}/{member}.c")):
                yield name, f"{folder}/{member}.c"


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)) + "/..")
    uses, targets, files = {}, {}, {}
    for top in TOPS:
        for folder, _, names in os.walk(top):
            files[folder] = [n for n in names if re.search(r"\.[chyl]$", n)]
            text = read(folder + "/CMakeLists.txt") if "CMakeLists.txt" in names else ""
            layer = re.search(r"^steptrace_layer\((\w+)(.*?)\)$", text, re.S | re.M)
            if layer:
                targets[layer[1]] = folder
                uses[folder] = words(layer[0], "USES")
    folders = lambda names: {targets[n] for n in names if n in targets}

    def closure(folder):
        seen, todo = set(), [folder]
        while todo:
            new = folders(uses.get(todo.pop(), ())) - seen
            seen |= new
            todo += new
        return seen

    faults = []
    for folder in uses:
        allowed, inner = closure(folder), {}
        for name in files[folder]:
            stem = name.rsplit(".", 1)[0]
            for line in re.findall(r'^\s*#\s*include "([^"]+)"', read(f"{folder}/{name}"), re.M):
                where, other = os.path.split(line)
                if where == folder:
                    inner.setdefault(stem, set()).add(other.rsplit(".", 1)[0])
                elif (where in targets.values() and where not in allowed
                      and where not in EVERYBODYS and line not in INLINE):
                    faults.append(f"{folder}/{name}: {line}: not among the layer's USES")
                elif not where:
                    faults.append(f'{folder}/{name}: "{line}": no path from the root')
            if folder.startswith("agent/") and f"{folder}/{stem}" != CLEARS_EXCEPTIONS and \
                    "ExceptionClear" in read(f"{folder}/{name}"):
                faults.append(f"{folder}/{name}: ExceptionClear: see {CLEARS_EXCEPTIONS}.h")
        for circle in circles(inner):
            if len(circle) > 3:
                faults.append(f"{folder}: a circle of {len(circle)} files: {' '.join(circle)}")
    for circle in circles({folder: folders(uses[folder]) for folder in uses}):
        faults.append("a circle of folders: " + " ".join(circle))
    if len(sys.argv) > 1:
        found = set(circles_of_calls(sys.argv[1], targets))
        faults += [f"a circle of calls in {circle}" for circle in sorted(found - set(KNOWN_CIRCLES))]
        faults += [f"no circle of calls any more in {circle}" for circle in sorted(set(KNOWN_CIRCLES) - found)]
        faults += [*opener_faults(sys.argv[1]), *wait_faults(sys.argv[1]), *socket_faults(sys.argv[1])]
        faults += [f"{path}: {name}() is global, and no other file uses it"
                   for name, path in uncalled(sys.argv[1], targets, files) if name not in UNCALLED]
    print(*faults, f"{len(uses)} layers, {len(faults)} faults", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
