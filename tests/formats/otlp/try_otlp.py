#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""try_otlp.py STEPTRACE DATA: `convert --to=otlp` beside `steptrace heap`: a reader of its own comes to the same bytes
by stack and class, for Java and native traces, selections and hostile names; protoc reads it, where it is installed."""
import collections
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from otlp_reader import amounts  # noqa: E402

STEPTRACE, DATA = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()


def run(*words, code=0):
    done = subprocess.run([STEPTRACE, *map(str, words)], capture_output=True, check=False)
    assert done.returncode == code, (words, done.returncode, done.stderr.decode())
    return done


def decoded(data):
    """protoc reads all of it, with no field that the description lacks."""
    if not shutil.which("protoc"):
        return
    done = subprocess.run(["protoc", "--decode=Data", f"-I{HERE}", "profiles.proto"], input=data, capture_output=True,
                          check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr.decode()
    unknown = [line for line in done.stdout.splitlines() if line.strip()[:1].isdigit()]
    assert not unknown, unknown[:3]


def method_of(frame):
    """A frame without its place: `a/B.c(B.java:7)`, `a/B.c:7` or `a/B.c@3`."""
    for end in "(", "@":
        frame = frame.partition(end)[0] if end in frame[1:] else frame
    name, _, line = frame.rpartition(":")
    return name if name and line.isdigit() else frame


def compare(trace, *words):
    run("convert", trace, "-o", "out.otlp", *words)
    data = pathlib.Path("out.otlp").read_bytes()
    decoded(data)
    found = amounts(data)
    rows = json.loads(run("heap", trace, "--by", "class+site", "--top", "0", "--depth", "0", "--json",
                          *(words if "--at" in words else ("--at", "peak", *words))).stdout)
    wanted = collections.Counter()
    for row in rows["rows"]:
        wanted[(row["class"], *(method_of(frame) for frame in reversed(row["site"])))] += row["bytes"]
    got = collections.Counter({key: value for key, value in found["inuse_space"].items() if value})
    wanted = collections.Counter({key: value for key, value in wanted.items() if value})
    assert got == wanted, (trace, words, (got - wanted).most_common(2), (wanted - got).most_common(2))
    assert sum(found["inuse_objects"].values()) == sum(row["objects"] for row in rows["rows"]), trace
    stats = json.loads(run("stats", trace, "--json").stdout)["objects"]
    if words == ("--at", "end"):
        assert sum(found["allocated_space"].values()) == stats["allocated_bytes"], trace
        assert sum(found["allocated_objects"].values()) == stats["allocated_objects"], trace


class Collector(http.server.BaseHTTPRequestHandler):
    status, answer, got = 200, b"", []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Collector.got.append((self.path, self.headers["Content-Type"], body))
        self.send_response(Collector.status)
        self.end_headers()
        self.wfile.write(Collector.answer)

    def log_message(self, *_):
        pass


def post(trace):
    """A server of Python's gets the bytes of the file; what it does not take is an error."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1development/profiles"
    run("convert", trace, "-o", "sent.otlp")
    data = pathlib.Path("sent.otlp").read_bytes()
    for host in "127.0.0.1", "localhost":
        run("convert", trace, "--to=otlp", "-o", url.replace("127.0.0.1", host))
    assert Collector.got == [("/v1development/profiles", "application/x-protobuf", data)] * 2
    decoded(Collector.got[0][2])
    faults = ((404, b"", b"status 404"), (200, b"\x0a\x02\x08\x03", b"rejected 3 of the profiles"))
    for Collector.status, Collector.answer, text in faults:
        done = run("convert", trace, "--to=otlp", "-o", url, code=1)
        assert text in done.stderr and url.encode() in done.stderr, done.stderr
    Collector.status, Collector.answer = 200, b"\x0a\x00"
    run("convert", trace, "--to=otlp", "-o", url)
    sent = len(Collector.got)
    for words in ("--to=step", "-o", url), ("--to=otlp", "-o", url.replace("http:", "https:")), \
            ("--to=otlp", "-o", "http://192.0.2.1:4318/v1"), ("--to=otlp", "-o", "http://127.0.0.1.example:80/"), \
            ("--to=otlp", "-o", "http://127.0.0.1:99999/"), ("--to=otlp", "-o", url + "\r\nX: y"):
        assert run("convert", trace, *words, code=1).stderr, words
    server.shutdown()
    server.server_close()
    assert b"cannot connect" in run("convert", trace, "--to=otlp", "-o", url, code=1).stderr
    assert len(Collector.got) == sent and not os.path.exists("http:")


def main():
    post(DATA / "traces/shop-1.step")
    shop = DATA / "traces/shop-1.step"
    for words in ("--at", "end"), (), ("--class", "[B"), ("--thread", "main", "--at", "gc:2"), ("--size", ">=100"):
        compare(shop, *words)
    # names that no string of the format can hold
    run("convert", DATA / "hostile/names.step", "-o", "names.otlp")
    data = pathlib.Path("names.otlp").read_bytes()
    decoded(data)
    assert any("\ufffd" in name for name, *_ in amounts(data)["allocated_objects"]), "invalid UTF-8 has gone"
    run("convert", DATA / "hostile/names.step", "-o", "names.pb.gz")
    # a part of the trace without objects, and one that does not come
    run("convert", shop, "-o", "none.otlp", "--class", "none")
    assert not any(sum(of.values()) for of in amounts(pathlib.Path("none.otlp").read_bytes()).values())
    assert b"--at" not in run("convert", shop, "-o", "late.otlp", "--at", "gc:999", code=1).stdout
    assert not os.path.exists("late.otlp")


os.chdir(tempfile.mkdtemp())
main()
