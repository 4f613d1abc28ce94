# SPDX-License-Identifier: Apache-2.0
"""Programs that make recording hard: ten thousand threads that end at once, and one that closes, uses again and limits its
descriptors, at any of its events. The program prints and ends as without the recorder; each event is there, or counted as lost."""
import os
import subprocess

from trial import IS_WHOLE, begin, check_recorded, clear, expect, finish, leave_out, paths, run, told

THREADS, AT_ONCE, EVENTS = 10000, 256, 5
EVENT_COUNT = 40  # of descriptors.c


def record(*program):
    clear("rings", "t.zst", "ack")
    os.mkdir("rings")
    return run(paths.record, "-q", "--sample-interval", "0", "--ring-dir", os.path.abspath("rings"), "-o", "t.zst", "--", *program)


def short_threads(threads):
    """The recorder's peak, in KiB."""
    clear("rings", "t.zst", "ack")
    os.mkdir("rings")
    begun = subprocess.Popen([paths.record, "-q", "--sample-interval", "0", "--ring-dir", os.path.abspath("rings"), "-o", "t.zst", "--", paths.short_threads,
                              str(threads), str(AT_ONCE), str(EVENTS), "ack"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(begun.pid, 0)
    expect(status == 0, f"{threads} threads: ends with {status}")
    status, _, err = run(paths.ingest, "--quiet", "--force", "-o", "t.db", "t.zst")
    expect(status == 0, f"{threads} threads: npumem-ingest ends with {status}: {err}")
    lost = check_recorded(f"{threads} threads", "t.db", told("ack"), may_be_open=False)
    expect(lost == 0, f"{threads} threads: {lost} events are lost")
    expect(len(told("ack")) == threads and all(one == (EVENTS, EVENTS) for one in told("ack")), f"{threads} threads: {told('ack')[:3]} ...")
    expect(not os.listdir("rings"), f"left: {os.listdir('rings')}")
    return usage.ru_maxrss


def many_threads():
    """Rings go from thread to thread, so the recorder's memory is of those that live at once, not of all: beside a name and a few
    hundred bytes for each."""
    few, many = short_threads(AT_ONCE), short_threads(THREADS)
    expect(many < few + THREADS * 2048 // 1024, f"{AT_ONCE} threads: {few} KiB; {THREADS}: {many} KiB")
    print(f"{THREADS} threads, {AT_ONCE} at once: 0 lost; peak {many} KiB, with {AT_ONCE} in all {few} KiB")


def descriptors(action, at):
    what = f"{action} at event {at}"
    own = os.path.abspath("own")
    clear(own)
    os.mkdir(own)
    plain = run(paths.descriptors, action, at, own, "ack")
    clear(own)
    os.mkdir(own)
    recorded = record(paths.descriptors, action, at, own, "ack")
    expect(plain[0] == 5 and recorded == plain, f"{what}: plain {plain}, recorded {recorded}")
    words = plain[1].split()
    expect(words and words[1] == words[3], f"{what}: its files: {plain[1]}")
    status, _, err = run(paths.ingest, "--quiet", "--force", "-o", "t.db", "t.zst")
    lost = check_recorded(what, "t.db", told("ack"), may_be_open=False)
    limited = action in ("nofile", "fsize", "mask")
    expect(status == (3 if lost else 0) and (lost == 0 or limited), f"{what}: npumem-ingest ends with {status}, {lost} lost: {err}")
    return lost


begin()
leave_out("each of forty events is for the whole; here one in ten")
many_threads()
for done in ("none", "close", "reuse", "dup2", "nofile", "fsize", "chdir", "mask"):
    points = range(1, EVENT_COUNT + 1, 1 if IS_WHOLE else 10)
    counts = [descriptors(done, point) for point in points]
    print(f"{done}: at {len(counts)} events, {sum(counts)} lost and counted")
finish()
