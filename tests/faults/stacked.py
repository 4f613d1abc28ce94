# SPDX-License-Identifier: Apache-2.0
"""Two faults and more at once, drawn at random: a kill or a failing call while recording, a file that is cut or damaged, a ring that
is gone, and a fault of npumem-ingest. Then npumem-ingest, left alone, gives what is there, once, whole and in its order, and either
counts what is missing or says that it does not know; one that a fault ended has left the old database or a new one."""
import errno
import os
import shutil
import sqlite3

from trial import (IS_WHOLE, LEFT_OUT, begin, check_numbers, clear, content, events_of, expect, finish, leave_out, number_in, paths, run, skip,
                   told)

ROUNDS = 500 if IS_WHOLE else 40


def recording(random):
    """A kill of one of the two, or a call of the recorder that fails, at one of its calls."""
    kind = random.choice(("recorder", "program", "failure", "none"))
    call, does = random.randint(1, 160), "kill"
    if kind == "failure":
        does = str(random.choice((errno.EIO, errno.ENOSPC)))
    elif kind == "none":
        call = 10**6
    words = [paths.fail_calls, random.choice(("write", "fallocate")) if kind == "failure" else "any", call, does, "count"]
    words += ["-p", "spin_events"] if kind == "program" else []
    status, _, err = run(*words, paths.record, "-q", "--best-effort", "--sample-interval", "0", "--ring-dir", os.path.abspath("rings"), "-o", "t.zst", "--",
                         paths.spin_events, "--events", random.choice((40, 300, 3000)), "--threads", 2, "--ack", "ack", seconds=60)
    if status == LEFT_OUT:
        skip("nobody may be traced here")
    return f"{kind} {' '.join(map(str, words[1:4]))}" if kind != "none" and number_in("count") else ""


def damage(random):
    data = bytearray(content("t.zst"))
    kind = random.choice(("cut", "flip", "sector", "twice", "none"))
    at = random.randrange(max(1, len(data)))
    if kind == "cut":
        del data[at:]
    elif kind == "flip" and data:
        data[at] ^= 1 << random.randrange(8)
    elif kind == "sector":
        at -= at % 512
        data[at:at + 512] = random.choice((bytes, random.randbytes))(len(data[at:at + 512]))
    elif kind == "twice":
        data += data[at:]
    if kind != "none":
        with open("t.zst", "wb") as file:
            file.write(data)
    return f"{kind} at {at}" if kind != "none" else ""


def lose_ring(random):
    """Of those that a killed recorder left."""
    rings = sorted(os.path.join(folder, name) for folder, _, names in os.walk("rings") for name in names if name.startswith("r"))
    if not rings or random.random() < 0.6:
        return ""
    path = random.choice(rings)
    if random.random() < 0.5:
        os.unlink(path)
        return f"{os.path.basename(path)} is gone"
    with open(path, "r+b") as file:
        file.truncate(random.randrange(os.path.getsize(path) + 1))
    return f"{os.path.basename(path)} is cut"


def fault_of_ingest(random):
    kind = random.choice(("memory", "memory", "kill", "failure", "none"))
    number = random.choice((random.randint(1, 60), random.randint(1, 2000)))
    if kind == "none":
        return "", {}
    if kind == "memory":
        mode = random.choice(("", "+"))
        return f"allocation {number}{mode}", {"LD_PRELOAD": paths.failing_calls, "NO_MEMORY_AT": f"{number}{mode}"}
    does = "kill" if kind == "kill" else str(random.choice((errno.EIO, errno.ENOSPC)))
    return f"call {number % 150} {does}", {"LD_PRELOAD": paths.at_call, "AT_CALL": str(number % 150), "AT_CALL_DOES": does}


def check_faulty_ingest(what, fault):
    """It ends as it does, but leaves nothing half done."""
    if not fault:
        return
    shutil.copy("old.db", "t.db")
    status, _, err = run(paths.ingest, "--quiet", "--force", "-o", "t.db", "t.zst", **fault)
    expect(status in (0, 1, 3, 137), f"{what}: npumem-ingest ends with {status}: {err}")
    if status == 1:
        expect(content("t.db") == content("old.db") and len(err.splitlines()) == 1, f"{what}: it failed, and changed what stood there: {err}")
    try:
        with sqlite3.connect("file:t.db?mode=ro", uri=True) as database:
            expect(database.execute("PRAGMA integrity_check").fetchone() == ("ok",), f"{what}: a broken database")
    except sqlite3.Error as error:
        expect(False, f"{what}: a broken database: {error}")


def check(what, is_damaged):
    clear("t.db")
    status, _, err = run(paths.ingest, "--quiet", "-o", "t.db", "t.zst")
    acknowledged = sum(map(sum, told("ack")))
    if status == 1:
        expect(len(err.splitlines()) == 1 and (is_damaged or acknowledged == 0) and not os.path.exists("t.db"),
               f"{what}: npumem-ingest fails, {acknowledged} events were acknowledged: {err}")
        return
    if not expect(status in (0, 3), f"{what}: npumem-ingest ends with {status}: {err}"):
        return
    with sqlite3.connect("file:t.db?mode=ro", uri=True) as database:
        ingested, lost, is_complete, is_exact = database.execute(
            "SELECT events_ingested, events_dropped + events_damaged + events_unrecovered, is_complete, is_loss_exact FROM input").fetchone()
        found = events_of(database)
    expect(is_complete == (status == 0), f"{what}: complete is {is_complete}, and it ends with {status}")
    expect(acknowledged <= ingested + lost or not is_complete and (is_damaged or not is_exact),
           f"{what}: {acknowledged} acknowledged, {ingested} ingested, {lost} lost, complete {is_complete}, exact {is_exact}")
    for thread, kinds in found.items():
        for kind, numbers in zip(("allocations", "frees"), kinds):
            check_numbers(what, thread, kind, numbers, 0, False)


random_stream = begin()
leave_out(f"{ROUNDS} of 500 stacks of faults")
run(paths.text2trace, paths.trace, "old.zst")
run(paths.ingest, "--quiet", "old.zst")
counts = {}
for round_number in range(ROUNDS):
    clear("rings", "ack", "count", "t.db", "t.zst")
    os.mkdir("rings")
    said = [recording(random_stream)]
    if os.path.exists("t.zst"):
        damages = damage(random_stream)
        ring = lose_ring(random_stream)
        name, faulty = fault_of_ingest(random_stream)
        said = [one for one in said + [damages, ring, name] if one]
        counts[len(said)] = counts.get(len(said), 0) + 1
        title = f"round {round_number}: {'; '.join(said)}"
        check_faulty_ingest(title, faulty)
        check(title, bool(damages or ring))
expect(sum(count for faults, count in counts.items() if faults >= 2) > ROUNDS // 3, f"too few with two faults: {counts}")
print(f"{ROUNDS} recordings; so many had so many faults: {dict(sorted(counts.items()))}")
finish()
