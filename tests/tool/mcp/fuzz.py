# SPDX-License-Identifier: Apache-2.0
"""fuzz.py BIN_FOLDER TEXT2TRACE TRACE.txt SCRATCH [LINES]: requests that were changed at random. Each line gets one answer, which is JSON, or none where it is a
notification; the server goes on, and ends well. The same lines each time: `seed` and the number of a line give it again."""
import json
import os
import random
import shutil
import subprocess
import sys

from client import Client, expect, fail, failures

SEED = 20260728
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def call(tool, **arguments):
    return {"method": "tools/call", "params": {"name": tool, "arguments": arguments}}


SEEDS = [{"method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}},
         {"method": "ping"}, {"method": "tools/list"}, {"method": "server/discover", "params": {"_meta": META}},
         {"method": "tools/list", "params": {"_meta": META}}, call("open"), call("open", path="run.db"), call("findings", handle="h1"),
         call("findings", handle="h1", kind="leak", severity="fault", more="f1"), call("explain", handle="h1", finding=1),
         call("explain", handle="h1", block="0x1000"), call("explain", handle="h1", moment="peak", more="1"), call("explain", handle="h1", stack=1),
         call("compare", a="h1", ranks=True), call("compare", a="h1", b="h1"), call("query", handle="h1", sql="SELECT name, 1.5e3, x'00' FROM catalog"),
         call("query", topic="leak_by_site", more="100"), call("report", handle="h1", path="x.html"), {"method": "notifications/cancelled", "params": {"requestId": 1}}]
PIECES = [b'"', b"\\", b"\\u0000", b"\\ud800", b"{", b"}", b"[", b"]", b",", b":", b"null", b"true", b"-", b"1e999", b"9223372036854775808", b"\xff", b"\xe2\x80\xae",
          b"\x00", b"h1", b"'", b";", b"..", b"/", b"%s%n", b" " * 100, b'"id":2,', b'"method":"ping",', b"[" * 600, b'{"a":' * 300]


def changed(rng, line):
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at, to = rng.randrange(len(line) + 1), rng.randrange(len(line) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            line = line[:at] + bytes([rng.randrange(256)]) + line[at + 1:]
        elif kind == 1:
            line = line[:at] + rng.choice(PIECES) + line[at:]
        elif kind == 2:
            line = line[:min(at, to)] + line[max(at, to):]
        elif kind == 3:
            line = line[:at] + line[min(at, to):max(at, to)] + line[at:]
        elif kind == 4:
            line = line[:at]
        else:
            line = line[:at] + rng.choice(PIECES) * rng.randrange(1, 40) + line[to:]
    return line.replace(b"\n", b" ")


def has_answer(line):
    """None: it is not known. Python's reader takes all that ours takes, but for what is no UTF-8."""
    if not line.strip(b" \t\r"):
        return False
    try:
        message = json.loads(line)
    except (UnicodeDecodeError, RecursionError):
        return None
    except ValueError:
        return True
    if not isinstance(message, dict) or not isinstance(message.get("method"), str) or message.get("jsonrpc") != "2.0":
        return None
    if "id" not in message and isinstance(message.get("params", {}), dict):
        return False
    return True if isinstance(message.get("id"), int) else None


def main():
    bin_folder, text2trace, text, scratch = sys.argv[1:5]
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    subprocess.run([text2trace, text, scratch + "/run.zst"], check=True)
    subprocess.run([bin_folder + "/npumem-ingest", "--quiet", scratch + "/run.zst"], check=True)
    rng = random.Random(SEED)
    client = Client(bin_folder + "/npumem-mcp", "--folder", scratch)
    client.open("run.db")
    answered = silent = 0
    for number in range(int(sys.argv[5]) if len(sys.argv) > 5 else 50000 if os.environ.get("NPUMEM_NIGHTLY") else 3000):
        seed = dict(rng.choice(SEEDS), jsonrpc="2.0")
        if not seed["method"].startswith("notifications"):
            seed["id"] = rng.choice((1, "a", -7))
        line = changed(rng, json.dumps(seed).encode())
        client.send(line + b"\n" + b'{"jsonrpc":"2.0","id":"end %d","method":"ping"}\n' % number)
        answers = []
        try:
            while not answers or answers[-1].get("id") != "end %d" % number:
                answers.append(client.receive())
        except (ValueError, AttributeError) as error:
            fail("line %d: %r: %s" % (number, line, error))
            break
        wanted = has_answer(line)
        if len(answers) > 2 or (wanted is not None and len(answers) != 1 + wanted) or any(answer.get("jsonrpc") != "2.0" for answer in answers):
            fail("line %d: %r is answered by %r" % (number, line, answers[:-1]))
        answered, silent = answered + len(answers) - 1, silent + (len(answers) == 1)
    expect("the end", client.end()[::2], (0, ""))
    if answered < 500 or silent < 20:
        fail("%d lines were answered, %d not: the lines are not what they should be" % (answered, silent))
    return 1 if failures else 0


sys.exit(main())
