# SPDX-License-Identifier: Apache-2.0
"""A minute of a program that records as fast as it can, an hour in full, with the recorder stopped for a moment now and then and parts
that come and go: what recorder and program hold in memory stays flat, and what the program was told is in the parts that are left, or
counted as dropped or as no longer kept."""
import ctypes
import os
import signal
import subprocess
import time

from trial import IS_WHOLE, begin, check_recorded, clear, expect, fail, finish, leave_out, paths, run, told

SECONDS = int(os.environ.get("NPUMEM_SOAK_S", 3600 if IS_WHOLE else 60))
EVERY_S = 10  # the recorder is stopped so often
STOPPED_S = 0.4
GROWTH = 0.01 if SECONDS >= 600 else 0.08  # in a minute what is filled once is not yet full, and arrays double


def without_huge_pages():
    """One of them is 2 MiB at a touch, a twentieth of what the recorder holds; what is started inherits it."""
    ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE


def resident_kib(pid):
    """What it holds by itself, without the pages of rings and libraries that others hold too."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("RssAnon:"))


def program_of(recorder):
    for _ in range(600):
        with open(f"/proc/{recorder}/task/{recorder}/children", encoding="ascii") as file:
            for pid in file.read().split():
                with open(f"/proc/{pid}/comm", encoding="ascii") as name:
                    if name.read().strip() == "spin_events":
                        return int(pid)
        time.sleep(0.05)
    fail("the program does not begin")
    return finish()


def check_flat(what, samples):
    """The highest of the last quarter against the highest of the second: the first fills what is filled once."""
    quarter = len(samples) // 4
    before, after = max(samples[quarter:2 * quarter]), max(samples[3 * quarter:])
    expect(after <= before * (1 + GROWTH), f"{what}: {before} KiB in the second quarter, {after} KiB in the last")
    print(f"{what}: {before} KiB in the second quarter, {after} KiB in the last: {samples[::max(1, len(samples) // 12)]}")


begin()
leave_out("a minute of an hour")
clear("rings")
os.mkdir("rings")
recorder = subprocess.Popen([paths.record, "--force", "--keep", "last:4M", "--ring-dir", os.path.abspath("rings"), "-o", "t.zst", "--", paths.spin_events,
                             "--events", "0", "--threads", "2", "--pace-ns", "4000", "--ack", "ack"], stderr=subprocess.PIPE,
                            preexec_fn=without_huge_pages)
program = program_of(recorder.pid)
held, program_held, stops, end = [], [], 0, time.monotonic() + SECONDS
while time.monotonic() < end and recorder.poll() is None:
    for _ in range(EVERY_S):
        time.sleep(1)
        held.append(resident_kib(recorder.pid))
        program_held.append(resident_kib(program))
    recorder.send_signal(signal.SIGSTOP)
    time.sleep(STOPPED_S)
    recorder.send_signal(signal.SIGCONT)
    stops += 1
os.kill(program, signal.SIGTERM)
said = recorder.communicate(timeout=120)[1].decode()
expect(recorder.returncode == -signal.SIGTERM, f"npumem-record ends with {recorder.returncode}: {said}")
check_flat("npumem-record", held)
check_flat("the program", program_held)
status, _, err = run(paths.ingest, "--quiet", "--force", "-o", "t.db", "t.zst", seconds=600)
expect(status in (0, 3), f"npumem-ingest ends with {status}: {err}")
lost = check_recorded("soak", "t.db", told("ack"), others_most=64 + 4 * stops)  # what was dropped is told, and samples
print(f"{SECONDS} s, {sum(map(sum, told('ack')))} events, {lost} of them dropped or no longer kept; {said.strip().splitlines()[-1:]}")
finish()
