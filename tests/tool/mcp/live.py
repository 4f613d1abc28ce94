# SPDX-License-Identifier: Apache-2.0
"""live.py BIN_FOLDER SPIN_EVENTS SCRATCH: a recording that goes on, asked by an assistant: figures so far, more of them later, and its end."""
import os
import shutil
import signal
import subprocess
import sys
import time

from client import Client, expect, fail, failures

BIN, SPIN_EVENTS, SCRATCH = (os.path.abspath(path) for path in sys.argv[1:4])


def events(answer):
    return answer["inputs"][0]["events_ingested"]


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH + "/rings")
    os.chdir(SCRATCH)
    recorder = subprocess.Popen([BIN + "/npumem-record", "-q", "-o", "live.zst", "--ring-dir", SCRATCH + "/rings", "--", SPIN_EVENTS, "--events", "0", "--pace-ns", "400000"],
                                stdout=subprocess.DEVNULL)
    try:
        client = Client(BIN + "/npumem-mcp", "--folder", ".")
        for _ in range(200):
            if os.path.exists("live.zst") and os.path.getsize("live.zst") > 0:
                break
            time.sleep(0.05)
        first = client.open("live.zst")
        expect("while it runs", (first["state"], first.get("recording", "")[:8]), ("ready", "running:"))
        for _ in range(200):
            later = client.open("live.zst")
            if events(later) > events(first):
                break
            time.sleep(0.05)
        if events(later) <= events(first) or later["handle"] != first["handle"]:
            fail("later: %r after %r" % (later, first))
        expect("it can be asked", client.call("findings", handle=first["handle"])["next"][0]["tool"], "explain")
        recorder.send_signal(signal.SIGINT)
        recorder.wait(timeout=60)
        ended = client.open("live.zst")
        expect("when it has ended", (ended["state"], "recording" in ended, ended["inputs"][0]["verdict"]), ("ready", False, "complete"))
        expect("the end", client.end(), (0, b"", ""))
    finally:
        recorder.kill()
    return 1 if failures else 0


sys.exit(main())
