#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""try_clickhouse.py STEPTRACE: objects of a made-up trace in two real ClickHouse servers on loopback.

A Distributed table, sharded by object, gets the stream of `convert --to=clickhouse-native`; counts, sums by class
and lifetimes have to be those that the trace was made of; with one server killed there is an error and no number. For that
the question waits for its end (docs/tables.md): the server may else send one shard's sum ahead of the error.
77: Debian's clickhouse-server and clickhouse-client are not there, or no loopback, or others have its ports.
"""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import try_doors  # noqa: E402

PORTS = [int(f"{server}{port}") for server in "12" for port in ("8143", "9043", "9049")]
USERS = """<yandex><profiles><default><max_threads>1</max_threads></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota></default></users><quotas><default></default></quotas></yandex>"""
CONFIG = """<yandex><logger><level>none</level><log>{d}/log</log><errorlog>{d}/err</errorlog></logger>
<http_port>{n}8143</http_port><tcp_port>{n}9043</tcp_port><interserver_http_port>{n}9049</interserver_http_port>
<listen_host>127.0.0.1</listen_host><path>{d}/data/</path><tmp_path>{d}/tmp/</tmp_path>
<user_files_path>{d}/u/</user_files_path><format_schema_path>{d}/f/</format_schema_path>
<users_config>{d}/users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database><mark_cache_size>67108864</mark_cache_size>
<remote_servers><two><shard><replica><host>127.0.0.1</host><port>19043</port></replica></shard>
<shard><replica><host>127.0.0.1</host><port>29043</port></replica></shard></two></remote_servers></yandex>"""


def start(number, work):
    folder = f"{work}/n{number}"
    for part in ("data", "tmp", "u", "f"):
        os.makedirs(f"{folder}/{part}")
    with open(f"{folder}/users.xml", "w", encoding="utf-8") as file:
        file.write(USERS)
    with open(f"{folder}/config.xml", "w", encoding="utf-8") as file:
        file.write(CONFIG.format(d=folder, n=number))
    return subprocess.Popen(["clickhouse-server", f"--config-file={folder}/config.xml"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def ask(port, text, stdin=None, code=0):
    done = subprocess.run(["clickhouse-client", "--port", str(port), "--insert_distributed_sync=1", "-q", text],
                          stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert (done.returncode == 0) == (code == 0), (text, done.stderr.decode())
    return done.stdout.decode().strip()


def ask_to_the_end(port, text):
    """The status and text of an answer over HTTP that begins only when the whole question is answered."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"http://127.0.0.1:{port}/?wait_end_of_query=1", text.encode(), 60) as answer:
            return answer.status, answer.read().decode().strip()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode().strip()


def is_free(port):
    """Whether a server may have it, and be reached there."""
    with socket.socket() as found:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind(("127.0.0.1", port))
            found.listen()
            socket.create_connection(("127.0.0.1", port), 10).close()
        except OSError:
            return False
        return True


def wait_for(port, server):
    while server.poll() is None:
        done = subprocess.run(["clickhouse-client", "--port", str(port), "-q", "select 1"], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if done.returncode == 0:
            return
        time.sleep(0.1)
    raise RuntimeError(f"the server at {port} has ended with {server.returncode}")


def check(steptrace, work, known, servers):
    for port, server in zip((19043, 29043), servers):
        wait_for(port, server)
        ask(port, "create table t (object UInt64, class Nullable(String), born UInt64, died Nullable(UInt64))"
                  " engine = Memory")
    ask(19043, "create table two as t engine = Distributed(two, default, t, object)")
    with subprocess.Popen([steptrace, "convert", f"{work}/one.step", "-o", "-", "--to=clickhouse-native",
                           "--table=objects", "--columns=object,class,born,died"],
                          stdout=subprocess.PIPE) as stream:
        ask(19043, "insert into two format Native", stdin=stream.stdout)
    assert ask(19043, "select count() from two") == str(len(known))
    assert 0 < int(ask(29043, "select count() from t")) < len(known)
    assert ask_to_the_end(18143, "select count() from two") == (200, str(len(known)))
    lines = ask(19043, "select class, count(), sum(died - born) from two group by class order by class")
    for line in lines.splitlines():
        name, count, lived = line.split("\t")
        rows = [r for r in known.values() if r[0] == name]
        assert int(count) == len(rows), line
        assert int(lived) == sum(r[2] - r[1] for r in rows if r[2] is not None), line
    print(f"{len(known)} objects in two servers: counts and lifetimes by class are the trace's")


def main():
    if not shutil.which("clickhouse-server") or not shutil.which("clickhouse-client"):
        print("Debian's clickhouse-server and clickhouse-client are not there")
        return 77
    if not all(map(is_free, PORTS)):
        print(f"not all of the ports {PORTS} can be had on loopback")
        return 77
    steptrace = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as work:
        known = try_doors.make_trace(f"{work}/one.txt", 20000)
        try_doors.run(steptrace, "convert", "--from=lines", f"{work}/one.txt", "-o", f"{work}/one.step")
        servers = [start(1, work), start(2, work)]
        try:
            check(steptrace, work, known, servers)
            servers[1].kill()
            servers[1].wait()
            ask(19043, "select count() from two", code=1)
            status, text = ask_to_the_end(18143, "select count() from two")
            assert status == 500 and text.startswith("Code:"), (status, text)
            print("with one server killed: an error, and no number")
        finally:
            for server in servers:
                server.kill()
                server.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
