#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mcp.py STEPTRACE DATA: `steptrace mcp` as a client meets it: answers that are the verbs' own, limits, cancelled calls,
messages that are none, and files that it may not read. Then the protocol's own client, where npm has it."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SDK = "@modelcontextprotocol/sdk@1.17.4"
ENDLESS = "with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c"
TOOLS = ["list_traces", "info", "stats", "heap", "leaks", "compare", "paths", "sql", "deaths"]

faults = []


def expect(what, holds, shown=""):
    if not holds:
        faults.append(f"{what}: {str(shown)[:300]}")


class Server:
    def __init__(self, steptrace, *arguments, environment=None):
        self.process = subprocess.Popen([steptrace, "mcp", *arguments], stdin=subprocess.PIPE, env=environment,
                                        stdout=subprocess.PIPE, text=True, encoding="utf-8")
        self.last = 0

    def send(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def begin(self, method, **parameters):
        self.last += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": parameters}))
        return self.last

    def receive(self):
        return json.loads(self.process.stdout.readline())

    def ask(self, method, **parameters):
        number = self.begin(method, **parameters)
        answer = self.receive()
        expect(f"{method}: the id", answer.get("id") == number, answer)
        return answer

    def call(self, tool, **arguments):
        """The text of the first part, and whether the tool failed."""
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        result = answer.get("result")
        if result is None:
            return answer["error"]["message"], None
        return "\n".join(part["text"] for part in result["content"]) if result["isError"] else result["content"][0]["text"], result["isError"]

    def end(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        expect("exit status", self.process.wait() == 0, self.process.returncode)
        expect("nothing more", rest == "", rest)


def verbs_answer(steptrace, server, directory):
    """What the verbs print, but for the path."""
    hello = server.ask("initialize", protocolVersion="2025-03-26", capabilities={}, clientInfo={"name": "t", "version": "1"})
    expect("version", hello["result"]["protocolVersion"] == "2025-03-26", hello)
    expect("an unknown version", server.ask("initialize", protocolVersion="1999-01-01")["result"]["protocolVersion"]
           == "2025-06-18")
    server.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
    tools = server.ask("tools/list")["result"]["tools"]
    expect("tools", [tool["name"] for tool in tools] == TOOLS, tools)
    for tool in tools:
        known = tool["inputSchema"]["properties"]
        expect("schema", set(tool["inputSchema"]["required"]) <= set(known), tool)
        expect("read only", tool["annotations"]["readOnlyHint"] is True, tool)
    for tool, arguments, given in (
            ("info", [], {}), ("stats", ["--top=2"], {"top": 2}), ("heap", ["--by=site", "--top=3"], {"by": "site", "top": 3}),
            ("heap", ["--allocated", "--at=end"], {"allocated": True, "at": "end"}),
            ("leaks", ["--older-than=0"], {"older_than": "0"})):
        wanted = subprocess.run([steptrace, tool, "a.step", "--json", *arguments], cwd=directory, capture_output=True,
                                text=True, check=False)
        text, failed = server.call(tool, trace="a.step", **given)
        expect(f"{tool}: as the verb prints it", (text, failed) == (wanted.stdout, wanted.returncode != 0), text)
    rows = json.loads(server.call("sql", trace=str(directory / "a.step"), query="select count(*) n from objects")[0])
    stats = json.loads(server.call("stats", trace="a.step")[0])
    expect("sql", rows == [{"n": stats["objects"]["allocated_objects"]}], rows)
    text, failed = server.call("compare", before="a.step", after="below/b.step")
    expect("compare", failed is False and json.loads(text), text)
    text, failed = server.call("paths", trace="a.step", object="1")
    expect("what to record is said", failed and "+reference" in text, text)
    text, failed = server.call("list_traces")
    expect("list", {line.split("\t")[0] for line in text.splitlines()}
           == {str(directory / "a.step"), str(directory / "below/b.step")}, text)


def arguments_are_checked(server):
    for tool, given, reason in (
            ("stats", {}, "missing"), ("stats", {"trace": "a.step", "topp": 3}, "no such argument"),
            ("stats", {"trace": "a.step", "top": 0}, "1 to 1000"), ("stats", {"trace": "a.step", "top": "--output=x"}, "1 to 1000"),
            ("heap", {"trace": "a.step", "allocated": "maybe"}, "true or false"),
            ("heap", {"trace": "a.step", "at": "x" * 600}, "too long"),
            ("stats", {"trace": "--help"}, "no such file"), ("sql", {"trace": "a.step", "query": "--help"}, ""),
            ("sql", {"trace": "a.step", "query": "attach 'new' as x"}, "not authorized"),
            ("sql", {"trace": "a.step", "query": "delete from objects"}, "")):
        text, failed = server.call(tool, **given)
        expect(f"{tool} {given}", failed is True and reason in text, (text, failed))
    expect("an unknown tool", server.call("rm")[1] is None)
    expect("an argument that is a list", server.call("stats", trace=["a.step"])[1] is None)
    expect("17 arguments", server.call("stats", **{f"a{i}": 1 for i in range(17)})[1] is None)


def files_are_confined(server, directory, outside):
    (directory / "link.step").symlink_to(outside / "secret.step")
    (directory / "folder").symlink_to(outside)
    os.mkfifo(directory / "pipe.step")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(directory / "s.step"))
        for path in ("../outside/secret.step", "below/../../outside/secret.step", str(outside / "secret.step"), "link.step",
                     "folder/secret.step", "pipe.step", "s.step", "below", ".", "/", "", "a.step/", "/dev/zero", "/proc/self/mem",
                     "x" * 5000, "a.step\0", str(directory)[:-1] + "x/a.step", "/proc/self/fd/0"):
            text, failed = server.call("info", trace=path)
            expect(f"refused: {path[:60]!r}", failed is not False, text)
    text, _ = server.call("list_traces")
    expect("links and others are not listed", "link" not in text and "pipe" not in text and "secret" not in text, text)


def messages_are_hostile(server):
    for text, code in (("nonsense", -32700), ("{", -32700), ("[]", -32600), ("{}", -32600), ("1", -32600),
                       ('{"jsonrpc":"2.0","id":1,"method":"nothing"}', -32601), ('{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
                       ('{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600), ('{"jsonrpc":"2.0","id":1,"method":"ping"} x', -32700),
                       ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":3}', -32602),
                       ('{"jsonrpc":"2.0","id":"' + "i" * 200 + '","method":"ping"}', -32600),
                       ("[" * 100000, -32600), ("x" * (3 << 20), -32600),
                       ('{"jsonrpc":"2.0","id":1,"method":"ping","params":' + '{"a":' * 2000 + "1" + "}" * 2000 + "}", -32700)):
        server.send(text)
        answer = server.receive()
        expect(f"{text[:50]}", answer.get("error", {}).get("code") == code, answer)
    server.send('{"method":"tools/call","params":{"name":"info","arguments":{"trace":["a"]}},"jsonrpc":"2.0","id":9}')
    answer = server.receive()
    expect("the id after parameters at fault", (answer.get("id"), answer.get("error", {}).get("code")) == (9, -32602), answer)
    server.send("")
    server.send('{"jsonrpc":"2.0","method":"notifications/unknown","params":{"a":[1,{"b":2}]}}')
    server.send('{"params":{"_meta":{"x":[]}},"method":"ping","id":"a\\"b","jsonrpc":"2.0"}')
    answer = server.receive()
    expect("members in any order; an id with a quote", answer == {"jsonrpc": "2.0", "id": 'a"b', "result": {}}, answer)


def calls_are_cancelled(server):
    first = server.begin("tools/call", name="sql", arguments={"trace": "a.step", "query": ENDLESS})
    second = server.begin("tools/call", name="info", arguments={"trace": "a.step"})
    third = server.begin("tools/call", name="stats", arguments={"trace": "a.step"})
    ping = server.begin("ping")
    expect("a ping during a call", server.receive() == {"jsonrpc": "2.0", "id": ping, "result": {}})
    for number in (first, second, 999):
        server.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}))
    expect("what is cancelled has no answer", server.receive()["id"] == third)


def limits_hold(steptrace, directory):
    server = Server(steptrace, str(directory), "--time=300ms", "--answer=2k", "--call-memory=16m")
    text, failed = server.call("sql", trace="a.step", query=ENDLESS)
    expect("time", failed and "--time" in text, text)
    text, failed = server.call("sql", trace="a.step", query="select hex(zeroblob(3000))")
    expect("bytes", failed and "fewer rows" in text, text)
    server.end()
    # A query that sorts 200 MB: its temporary files would be on the disk. Here it needs memory, which is limited.
    server = Server(steptrace, str(directory), "--call-memory=64m", "--time=60s")
    text, failed = server.call("sql", trace="a.step", query="with recursive c(x) as (select 1 union all select x + 1 from c limit 40000) "
                               "select max(r) from (select row_number() over (order by randomblob(5000)) r from c)")
    with open(steptrace, "rb") as program:
        limited = b"__asan_report_" not in program.read()  # AddressSanitizer's memory exceeds any limit
    expect("no files for sorting", not limited or (failed and ("memory" in text or "full" in text)), text)
    text, failed = server.call("sql", trace="a.step", query="create virtual table temp.x using steptrace('a.step', 'objects')")
    expect("no other trace", failed and "not authorized" in text, text)
    server.end()
    server = Server(steptrace, str(directory))
    server.begin("tools/call", name="info", arguments={"trace": "a.step"})
    for _ in range(70):
        server.begin("tools/call", name="sql", arguments={"trace": "a.step", "query": "select 1"})
    answers = [server.receive() for _ in range(71)]
    expect("calls that wait are bounded", 0 < sum("error" in answer for answer in answers) <= 70)
    server.end()
    result = subprocess.run([steptrace, "mcp", str(directory / "nothing")], capture_output=True, text=True, check=False)
    expect("no such directory", result.returncode != 0 and result.stdout == "" and "nothing" in result.stderr, result.stderr)


def nothing_remains(steptrace, directory):
    """A server that is ended during a call leaves neither its process nor its files."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with tempfile.TemporaryDirectory() as folder:
            server = Server(steptrace, str(directory), environment={**os.environ, "TMPDIR": folder})
            server.begin("tools/call", name="sql", arguments={"trace": "a.step", "query": ENDLESS})
            started = time.monotonic()
            while not os.listdir(folder) and time.monotonic() < started + 60:
                time.sleep(0.01)
            child = subprocess.run(["pgrep", "-P", str(server.process.pid)], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
            expect("a call", os.listdir(folder) != [])
            server.process.send_signal(number)
            expect(f"dies of {number.name}", server.process.wait(60) == -number, server.process.returncode)
            expect("no files", os.listdir(folder) == [], os.listdir(folder))
            expect("no call", child == "" or not os.path.exists(f"/proc/{child}"), child)
            server.process.stdin.close()
            server.process.stdout.close()


def own_client(steptrace, directory):
    """The client that the protocol's authors publish."""
    if not shutil.which("npm") or not shutil.which("node"):
        return print("without the protocol's own client: no npm")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    place = cache / "steptrace-tests" / "mcp-1.17.4"
    if not (place / "done").exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        try:
            subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", place, SDK], timeout=120,
                           capture_output=True, check=True)
        except (subprocess.SubprocessError, OSError) as error:
            return print(f"without the protocol's own client: {error}")
        (place / "done").touch()
    script = pathlib.Path(__file__).with_name("mcp_client.mjs")
    result = subprocess.run(["node", script, place, steptrace, directory, "a.step"], capture_output=True, text=True, timeout=120,
                            check=False)
    expect("the client", result.returncode == 0, result.stderr)
    seen = json.loads(result.stdout or "{}")
    wanted = subprocess.run([steptrace, "stats", "a.step", "--json", "--top=3"], cwd=directory, capture_output=True, text=True,
                            check=True).stdout
    expect("what the client sees", (seen.get("tools"), seen.get("text"), seen.get("missing")) == (TOOLS, wanted, True), seen)
    expect("an argument that is a list, the client", "-32602" in seen.get("list", ""), seen)
    expect("an unknown tool, the client", "-32602" in seen.get("refused", ""), seen)
    return None


def main():
    steptrace, data = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name).resolve()
        directory, outside, temporary = place / "traces", place / "outside", place / "tmp"
        for folder in (directory / "below", outside, temporary):
            folder.mkdir(parents=True)
        for path in (directory / "a.step", directory / "below/b.step", outside / "secret.step"):
            subprocess.run([steptrace, "convert", data / "closed.txt", "-o", path], check=True)
        os.environ["TMPDIR"] = str(temporary)
        server = Server(steptrace, str(directory))
        verbs_answer(steptrace, server, directory)
        arguments_are_checked(server)
        files_are_confined(server, directory, outside)
        messages_are_hostile(server)
        calls_are_cancelled(server)
        server.end()
        limits_hold(steptrace, directory)
        nothing_remains(steptrace, directory)
        own_client(steptrace, directory)
        expect("nothing is left behind", not list(temporary.iterdir()), list(temporary.iterdir()))
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


main()
