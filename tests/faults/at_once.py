# SPDX-License-Identifier: Apache-2.0
"""Who reads a database while a new one takes its place again and again finds one of them, whole, each time; who has it open keeps
what they had. Two that write to one name leave one of theirs, whole. Inputs in any order, and one given twice, give the same."""
import multiprocessing
import os
import sqlite3
import subprocess

from trial import IS_WHOLE, begin, clear, dump, expect, finish, leave_out, paths, run

READERS = 4
READS = 20000 if IS_WHOLE else 1000
ROUNDS = 200 if IS_WHOLE else 12
ORDERS = 40 if IS_WHOLE else 5
ASKED = ("SELECT count(*), sum(size_bytes), max(alloc_seq), max(free_seq) FROM allocation", "SELECT events_seen, is_complete FROM input",
         "SELECT * FROM leak_by_site ORDER BY 1, 2, 3, 4, 5, 6, 7", "SELECT count(*) FROM frame", "SELECT * FROM peak ORDER BY 1, 2, 3, 4, 5, 6")


def answers(database):
    return [database.execute(sql).fetchall() for sql in ASKED]


def opened(path):
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


def read_on(path, generations, has_ended, said):
    """In a process of its own: how many reads, and what was wrong with them."""
    reads, seen, wrong = 0, set(), []
    while not has_ended.is_set() and not wrong:
        try:
            with opened(path) as database:
                found = answers(database)
                if reads % 20 == 0 and database.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                    wrong.append("integrity_check is not ok")
        except sqlite3.Error as error:
            wrong.append(f"{type(error).__name__}: {error}")
            break
        finally:
            database.close()
        if found in generations:
            seen.add(generations.index(found))
        else:
            wrong.append(f"what no database holds: {found}")
        reads += 1
        with said[0].get_lock():
            said[0].value += 1
    said[1].put((reads, sorted(seen), wrong))


def look_on(path, has_ended, said):
    """In a process of its own, without a rest: the name is always there."""
    looks, missing = 0, 0
    while not has_ended.is_set():
        for _ in range(1000):
            try:
                os.close(os.open(path, os.O_RDONLY))
            except FileNotFoundError:
                missing += 1
        looks += 1000
    said.put((looks, missing))


def readers_beside_a_writer():
    generations = []
    for name in ("a", "b"):
        with opened(f"{name}.db") as database:
            generations.append(answers(database))
    expect(generations[0] != generations[1], "both databases give the same answers")
    run(paths.ingest, "--quiet", "--force", "-o", "place.db", "a.zst")
    has_ended, said = multiprocessing.Event(), (multiprocessing.Value("l", 0), multiprocessing.Queue())
    readers = [multiprocessing.Process(target=read_on, args=("place.db", generations, has_ended, said)) for _ in range(READERS)]
    looked = multiprocessing.Queue()
    looker = multiprocessing.Process(target=look_on, args=("place.db", has_ended, looked))
    looker.start()
    long_reader = opened("place.db")
    first, published = answers(long_reader), 0
    for reader in readers:
        reader.start()
    while said[0].value < READS and any(reader.is_alive() for reader in readers):
        published += 1
        ended = run(paths.ingest, "--quiet", "--force", "-o", "place.db", "ba"[published % 2] + ".zst")
        expect(ended[0] == 0, f"publication {published} ends with {ended}")
    has_ended.set()
    told = [said[1].get(timeout=60) for _ in readers]
    looks, missing = looked.get(timeout=60)
    looker.join()
    expect(missing == 0, f"the name was not there {missing} of {looks} times")
    for reader in readers:
        reader.join()
    expect(first == answers(long_reader), "who has it open finds something else than before")
    for reads, seen, wrong in told:
        expect(not wrong, f"a reader found, after {reads} reads: {wrong}")
        expect(seen == [0, 1], f"a reader of {reads} saw {seen}, not both")
    print(f"{said[0].value} reads by {READERS} processes and {looks} looks at the name during {published} publications")


def two_at_once():
    """They begin together; the name is free, or is taken over by --force."""
    whole = [dump("a.db"), dump("b.db")]
    won = [0, 0]
    for number in range(ROUNDS):
        clear("place.db")
        force = ["--force"] if number % 2 else []
        both = [subprocess.Popen([paths.ingest, "--quiet", *force, "-o", "place.db", name], stderr=subprocess.PIPE)
                for name in ("a.zst", "b.zst")]
        said = [one.communicate()[1].decode() for one in both]
        statuses = [one.returncode for one in both]
        found = dump("place.db")
        expect(statuses.count(0) == (2 if force else 1) and found in whole, f"two at once {force} end with {statuses}: {said}")
        if found in whole:
            won[whole.index(found)] += 1
            expect(statuses[whole.index(found)] == 0, f"the winner ends with {statuses}: {said}")
    left = [name for name in os.listdir() if "place" in name and name != "place.db"]
    expect(not left, f"left: {left}")
    print(f"two at once: {ROUNDS} times, {won} won")


# Every row of every view, without numbers of rows and what the files are called.
FIGURES = """SELECT printf('SELECT %Q, %s FROM %s', name, columns, name) FROM (SELECT m.name AS name, group_concat('quote(' || c.name
    || ')', ', ') AS columns FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c WHERE m.type = 'view' AND c.name NOT LIKE
    '%\\_id' ESCAPE '\\' AND c.name NOT IN ('site_key', 'path', 'job') GROUP BY m.name)"""


def figures(path):
    with opened(path) as database:
        return sorted(repr(row) for sql, in database.execute(FIGURES).fetchall() for row in database.execute(sql))


def any_order(random):
    names = []
    with open(paths.trace, encoding="utf-8") as file:
        text = file.read()
    for rank in range(8):
        with open("rank.txt", "w", encoding="utf-8") as file:
            file.write(text.replace("rank=0", f"rank={rank}").replace("world_size=1", "world_size=8"))
        run(paths.text2trace, "rank.txt", f"rank{rank}.zst", "3", "0", 1000 + rank)
        names.append(f"rank{rank}.zst")
    expected = None
    for number in range(ORDERS):
        given = random.sample(names, len(names)) + random.sample(names, number % 3)  # the last ones for a second time
        status, _, err = run(paths.ingest, "--force", "-o", "all.db", *(given if number else names))
        expect(status == 0, f"{given}: ends with {status}: {err}")
        found = figures("all.db")
        expected = expected or found
        expect(found == expected, lambda: f"{given}: other figures than in order: {sorted(set(found) ^ set(expected))[:4]}")
    expect(len(expected) > 150, f"only {len(expected)} figures")
    print(f"8 inputs in {ORDERS} orders: {len(expected)} figures")


seeded = begin()
leave_out(f"{READS} of 20,000 reads, {ROUNDS} of 200 races and {ORDERS} of 40 orders are done")
run(paths.text2trace, paths.trace, "a.zst")
run(paths.text2trace, paths.other_trace, "b.zst")
for made in ("a", "b"):
    run(paths.ingest, "--quiet", f"{made}.zst")
two_at_once()
any_order(seeded)
readers_beside_a_writer()
finish()
