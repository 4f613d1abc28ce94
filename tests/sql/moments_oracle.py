#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""moments_oracle.py TEXT2TRACE INGEST SOURCE WORK_DIR: queries that read few rows, against a walk over all events.

Traces of 60,000 events are made here, in which some blocks live shortly, some long and some for ever: enough for many parts
of table z_birth_part, and in one of them for more long lives than its list holds. What was live at a moment, born between two or
in a step, and which sizes came again, is counted from the events alone.
"""
import collections
import os
import random
import re
import sqlite3
import subprocess
import sys

HEAD = """process 1 pid=100
device 1 process=1 ordinal=0 kind=npu
heap 1 process=1 device=1 level=pool basis=block name=pool
heap 2 process=1 device=1 level=driver basis=block name=driver
thread 1 process=1 tid=100
"""
HEAPS = {1: "pool", 2: "driver"}
SITES = {n: f"model.py:{n} layer{n}" for n in range(1, 6)}
NS = 10  # from one event to the next


class Block:
    def __init__(self, heap, address, size, stack, born):
        self.heap, self.address, self.size, self.stack, self.born, self.ended = heap, address, size, stack, born, None

    def is_live_at(self, seq):
        return (self.born is None or self.born <= seq) and (self.ended is None or self.ended > seq)

    def site(self):
        return "(baseline)" if self.born is None else SITES[self.stack]


class Trace:
    def __init__(self, seed, event_count, lives):
        self.random = random.Random(seed)
        self.lines, self.blocks, self.due, self.steps = [], [], collections.defaultdict(list), []
        self.free, self.next_address = collections.defaultdict(list), {1: 1 << 32, 2: 1 << 40}
        self.seq = 20  # each line has its number, those of the baseline too
        for _ in range(self.seq):
            block = self.add(1, 4096, None)
            self.lines.append(f"- alloc baseline heap=1 address={block.address:#x} block=4096")
            self.end_after(block, self.random.choice([10, 3000, None]))
        while self.seq < event_count:
            if self.due[self.seq]:
                self.end(self.due[self.seq].pop())
            elif self.seq % 500 == 1:
                self.steps.append(self.seq)
                self.event(f"step number={len(self.steps)} thread=1")
            else:
                self.begin(lives)

    def event(self, text):
        self.lines.append(f"@{self.seq * NS} {text}")
        self.due[self.seq + 1] += self.due.pop(self.seq, [])  # what has not had its turn
        self.seq += 1

    def add(self, heap, size, born):
        places = self.free[heap, size]
        address = places.pop() if places and self.random.random() < 0.9 else self.next_address[heap]
        if address == self.next_address[heap]:
            self.next_address[heap] += size
        self.blocks.append(Block(heap, address, size, self.random.randint(1, 5), born))
        return self.blocks[-1]

    def end_after(self, block, life):
        if life is not None:
            self.due[self.seq + life].append(block)

    def begin(self, lives):
        heap = 2 if self.random.random() < 0.05 else 1
        block = self.add(heap, self.random.choice([512, 4096, 1 << 20]), self.seq)
        self.event(f"alloc heap={heap} address={block.address:#x} block={block.size} thread=1 stack={block.stack}")
        self.end_after(block, lives(self.random))

    def end(self, block):
        block.ended = self.seq
        self.free[block.heap, block.size].append(block.address)
        self.event(f"free heap={block.heap} address={block.address:#x} thread=1")

    def text(self):
        stacks = "".join(f"stack {n}: /src/model.py:{n}:layer{n}\n" for n in SITES)
        return HEAD + stacks + "\n".join(self.lines) + "\n"

    # What is expected.

    def live(self, seq):
        sums = collections.defaultdict(lambda: [0, 0])
        for block in self.blocks:
            if block.is_live_at(seq):
                sums[HEAPS[block.heap], block.site()][0] += 1
                sums[HEAPS[block.heap], block.site()][1] += block.size
        return sorted((*key, *value) for key, value in sums.items())

    def born(self, begin, end):
        sums = collections.defaultdict(lambda: [0] * 6)
        for block in self.blocks:
            if block.born is not None and begin < block.born <= end:
                for at, is_so in enumerate((True, block.is_live_at(end), block.ended is None)):
                    sums[HEAPS[block.heap], block.site()][2 * at] += is_so
                    sums[HEAPS[block.heap], block.site()][2 * at + 1] += is_so * block.size
        return sorted((*key, *value) for key, value in sums.items())

    def by_step(self):
        rows, ends = [], self.steps[1:] + [1 << 62]
        sums = collections.defaultdict(lambda: [0] * 4)
        for block in self.blocks:
            step = sum(begin <= block.born for begin in self.steps) if block.born is not None else 0
            if step > 0:
                is_left = block.ended is None or block.ended >= ends[step - 1]
                key = step, block.heap, block.site()
                sums[key] = [a + b for a, b in zip(sums[key], (1, block.size, is_left, is_left * block.size))]
        for (step, heap, site), value in sums.items():
            rows.append((step, heap, -value[1], site, value))
        return [(HEAPS[heap], step, site, *value) for step, heap, _, site, value in sorted(rows)]

    def sizes(self):
        requests, places = collections.Counter(), collections.defaultdict(set)
        for block in self.blocks:
            if block.born is not None:
                requests[block.heap, block.size] += 1
                places[block.heap, block.size].add(block.address)
        return sorted((HEAPS[heap], size, count, len(places[heap, size]))
                      for (heap, size), count in requests.items() if count > len(places[heap, size]))

    def again(self):
        first = {}
        for block in sorted(self.blocks, key=lambda b: b.ended or 1 << 62):
            if block.heap == 2 and block.ended is not None:
                first.setdefault(block.size, block.ended)
        counts = collections.Counter(b.size for b in self.blocks if b.heap == 2)
        again = collections.Counter(b.size for b in self.blocks if b.heap == 2 and b.born > first.get(b.size, 1 << 62))
        return sorted((size, counts[size], again[size]) for size in again)


class Database:
    def __init__(self, path, source):
        self.db, self.source = sqlite3.connect(f"file:{path}?mode=ro", uri=True), source

    def ask(self, name, **given):
        with open(f"{self.source}/queries/{name}.sql") as file:
            text = file.read()
        return self.db.execute(text, {key: given.get(key) for key in re.findall(r":(\w+)", text)}).fetchall()

    def count(self, sql):
        return self.db.execute(sql).fetchone()[0]


def same(what, answer, expected):
    if answer != expected:
        wrong = [(a, e) for a, e in zip(answer, expected) if a != e][:3]
        sys.exit(f"FAIL: {what}: {len(answer)} rows for {len(expected)}; {wrong}")


def check(trace, db):
    last = trace.seq - 1
    for seq in [-1, 20, last, last + 5] + [trace.random.randrange(last) for _ in range(20)]:
        same(f"live at seq:{seq}", sorted(db.ask("live_by_site", at=f"seq:{seq}", top=1000)), trace.live(seq))
        if seq >= 0:
            same(f"live at {seq * NS} ns", sorted(db.ask("live_by_site", at=str(seq * NS + 3), top=1000)), trace.live(seq))
    for begin, end in [("begin", "end")] + [(trace.random.randrange(last), trace.random.randrange(last)) for _ in range(12)]:
        given = {"from": begin, "to": end} if begin == "begin" else {"from": f"seq:{begin}", "to": f"seq:{end}"}
        expected = trace.born(-1, last) if begin == "begin" else trace.born(begin, end)
        same(f"born from {begin} to {end}", sorted(db.ask("allocated_between", top=1000, **given)), expected)
    for top in (1, 7, 300, 20000):
        same(f"{top} rows of steps", db.ask("allocated_by_step", top=top), trace.by_step()[:top])
    same("step 9", db.ask("allocated_by_step", step=9), [row for row in trace.by_step() if row[1] == 9])
    same("sizes", sorted((r[1], r[2], r[3], r[6]) for r in db.ask("block_sizes", top=1000)), trace.sizes())
    same("driver memory again", sorted((r[1], r[2], r[3]) for r in db.ask("reuse_candidates")), trace.again())


def some_live_long(chance):
    return chance.choices([chance.randint(1, 20), chance.randint(1000, 3000), chance.randint(17000, 40000), None],
                          [92, 5, 2, 1])[0]


def many_live_long(chance):
    return chance.choices([chance.randint(1, 20), chance.randint(17000, 20000), None], [72, 27, 1])[0]


def main():
    text2trace, ingest, source, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for name, lives, long_count in (("some", some_live_long, range(200, 4000)),
                                    ("many", many_live_long, range(1000, 4600))):
        trace, path = Trace(7, 60000, lives), f"{folder}/{name}"
        with open(f"{path}.txt", "w") as file:
            file.write(trace.text())
        subprocess.run([text2trace, f"{path}.txt", f"{path}.zst"], check=True)
        subprocess.run([ingest, "--quiet", "--force", "-o", f"{path}.db", f"{path}.zst"], check=True)
        db = Database(f"{path}.db", source)
        if db.count("SELECT count(*) FROM z_birth_part WHERE is_long = 0") < 6:
            sys.exit("FAIL: the trace is too short for several parts")
        if db.count("SELECT count(*) FROM z_birth_part WHERE is_long = 1") not in long_count:
            sys.exit("FAIL: another number of long lives than the list should hold")
        check(trace, db)


main()
