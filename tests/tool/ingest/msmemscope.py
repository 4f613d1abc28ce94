#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""msmemscope.py BIN_DIR WORK_DIR SAMPLES_DIR [RUNS]: programs of which everything is known run here, slowly and in lists; what a tracer that comes in the
middle would have written of them is given to npumem ingest as CSV and as database, in each dialect. Both must say what happened. Then the real dumps, where they are, with the values that another replay found in them."""
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys

COLUMNS = ["ID", "Event", "Event Type", "Name", "Timestamp(ns)", "Process Id", "Thread Id", "Device Id", "Ptr", "Attr",
           "Call Stack(Python)", "Call Stack(C)"]
MIB = 1 << 20
EPOCH_NS = 1764753365728889000


class Process:
    """One process with one device and one pool: what it has, and what a tracer sees of it."""

    def __init__(self, rng, pid, device, traced_from):
        self.rng, self.pid, self.device, self.traced_from = rng, pid, device, traced_from
        self.base = 0x12c000000000 + device * (1 << 36)
        self.top = self.base
        self.segments = []  # [address, size, is_pool]
        self.blocks = []  # [address, size]
        self.hosts = []
        self.now, self.next_id = EPOCH_NS + 1000 * pid, 1
        self.rows, self.lives, self.reserved, self.used, self.misses = [], {}, [], [], {}
        self.ranges, self.open, self.steps, self.samples, self.failures = [], [], [], [], []
        self.first_pool_row = True

    def traced(self):
        return self.traced_from <= 0

    def tick(self):
        self.now += 1000 * self.rng.randint(1, 5000)  # whole microseconds: one dialect holds no more
        self.traced_from -= 1

    def row(self, event, kind, name="N/A", device=None, ptr=None, attr=None, python="", native=""):
        if self.traced():
            self.rows.append({"id": self.next_id, "event": event, "type": kind, "name": name, "time": self.now,
                              "pid": self.pid, "tid": self.pid + self.rng.randint(0, 1) * 0, "ptr": ptr,
                              "device": self.device if device is None else device, "attr": attr, "python": python,
                              "native": native})
            self.next_id += self.rng.choice([1, 1, 1, 2])

    def total(self):
        return sum(size for _, size, is_pool in self.segments if is_pool)

    def note(self):
        if self.traced():
            self.used.append(sum(size for _, size in self.blocks))
            self.reserved.append(self.total())

    def begin_life(self, store, address, size):
        if self.traced():
            self.lives[(store, address, self.now)] = [size, None]

    def end_life(self, store, address):
        for (kind, at, _), life in self.lives.items():
            if kind == store and at == address and life[1] is None:
                life[1] = self.now

    def map_segment(self, size, is_pool, module):
        self.top += -self.top % (2 * MIB)
        address, self.top = self.top, self.top + size
        self.segments.append([address, size, is_pool])
        self.begin_life("HAL", address, size)
        self.row("MALLOC", "HAL", ptr=address, attr={"size": size, "module": module})
        return address

    def unmap_segment(self, segment):
        self.segments.remove(segment)
        self.row("FREE", "HAL", ptr=segment[0], attr={"size": segment[1]})
        if self.traced():
            self.end_life("HAL", segment[0])

    def find_room(self, size):
        for address, length, is_pool in self.segments:
            at = address
            for begin, taken in sorted(self.blocks):
                if is_pool and at <= begin < address + length:
                    if begin - at >= size:
                        break
                    at = begin + taken
            if is_pool and address + length - at >= size:
                return at
        return None

    def allocate(self):
        size = 512 * self.rng.choice([1, 1, 3, 14, 100, 1000, 6000])
        place, is_miss = self.find_room(size), False
        if place is None:
            self.map_segment(max(2 * MIB, size + -size % (2 * MIB)), True, 33)
            self.tick()
            place, is_miss = self.find_room(size), True
        self.blocks.append([place, size])
        self.begin_life("PTA", place, size)
        if self.traced():
            self.misses[(place, self.now)] = None if self.first_pool_row else is_miss
            self.first_pool_row = False
        self.note()
        self.row("MALLOC", "PTA", ptr=place, python="/a b/train.py(%d): step\n/a b/train.py(9): <module>\n" % (size // 512 + 1),
                 native="libx.so(f+0x1) [0x5]\npython3(_PyEval+0x2) [0x6]\n",
                 attr={"size": size, "total": self.total(), "used": sum(s for _, s in self.blocks), "owner": "PTA@model@weight"})

    def free(self):
        if not self.blocks:
            return
        block = self.rng.choice(self.blocks)
        if self.traced() and self.first_pool_row:
            self.note()  # as it was before its first row
            self.first_pool_row = False
        self.blocks.remove(block)
        if self.traced():
            self.end_life("PTA", block[0])
        self.note()
        self.row("FREE", "PTA", ptr=block[0],
                 attr={"size": block[1], "total": self.total(), "used": sum(s for _, s in self.blocks)})

    def empty_cache(self):
        for segment in list(self.segments):
            if segment[2] and not any(segment[0] <= at < segment[0] + segment[1] for at, _ in self.blocks):
                self.tick()
                self.unmap_segment(segment)

    def host(self):
        address = 0x7f0000000000 + len(self.lives) * 4096 + self.pid * (1 << 24)
        if self.hosts and self.rng.random() < 0.5:
            address = self.hosts.pop()
            if self.traced():
                self.end_life("PINNED", address)
            self.row("FREE", "HAL", device="host", ptr=address, attr={"size": 480})
        else:
            self.hosts.append(address)
            self.begin_life("PINNED", address, 64)
            self.row("MALLOC", "HAL", device="host", ptr=address, attr={"size": 64, "module": 7})

    def range(self):
        if self.open and self.rng.random() < 0.5:
            name, begin = self.open.pop()
            if begin is not None and self.traced():
                self.ranges.append((name, begin, self.now))
            self.row("OP_LAUNCH", "ATEN_END", name)
        else:
            name = self.rng.choice(["aten.mm", "aten.add", "aten::t"])
            self.open.append((name, self.now if self.traced() else None))
            self.row("OP_LAUNCH", "ATEN_START", name)

    def step(self):
        if self.traced():
            self.steps.append(self.now)
        self.row("MSTX", "Range_start", "step start 1")
        self.tick()
        self.row("MSTX", "Range_end", "Range end from id %d" % len(self.steps))

    def sample(self):
        free = self.rng.randint(1, 60) * MIB
        known = free if self.traced() else None  # of what a failure right behind it can say
        if self.traced():
            self.samples.append((self.now, 64 * MIB - free))
        self.row("SNAPSHOT", "SNAPSHOT", "Memory", attr={"total_mem": 64 * MIB, "free_mem": free, "reserved": 5})
        self.tick()
        if self.rng.random() < 0.3:
            if self.traced():
                self.failures.append((self.now, 77 * MIB, known))
            self.row("OOM_DETAIL", "OOM_TRIGGER", "OOM_Trigger",
                     attr={"func": "halMemAlloc", "req_size": 77 * MIB, "flag": 1, "ret": 6})
            for kind in ("OOM_RECENT_ALLOC", "OOM_TOP_ALLOC"):
                for at, size in self.blocks[:3]:
                    self.row("OOM_DETAIL", kind, "OOM_TopAlloc", ptr=at, attr={"pool": "PTA", "ptr": at, "size": size})

    def run(self, count):
        for _ in range(count):
            self.tick()
            self.rng.choices([self.allocate, self.free, self.empty_cache, self.host, self.range, self.step, self.sample,
                              lambda: self.map_segment(65536, False, 3)], [40, 30, 2, 4, 20, 2, 2, 2])[0]()


class Dialect:
    """How a version writes; `keeps` microseconds, or so many digits."""

    def __init__(self, name):
        self.name = name
        self.is_april = name in ("april", "spreadsheet")

    def time(self, ns):
        if self.name == "spreadsheet":
            return "%.5E" % (ns // 1000)
        return str(ns // 1000 if self.is_april else ns)

    def address(self, value):
        return str(value) if self.is_april else "0x%016x" % value

    def attr(self, row):
        if row["attr"] is None:
            return ""
        figures = dict(row["attr"])
        module = figures.pop("module", None)
        if self.is_april:
            if row["event"] == "FREE" and row["type"] == "PTA":
                figures["size"] = -figures["size"]
            if row["event"] == "FREE" and row["type"] == "HAL":
                figures["size"], module = 480, -1
            figures.setdefault("owner", "")
        if module is not None and self.is_april:
            figures["MID"] = module
        elif module is not None:
            figures["owner"] = {3: "CANN@HCCL", 7: "CANN@RUNTIME", 33: "CANN@APP"}[module]
        if row["ptr"] is not None:
            figures = {"allocation_id": 7, "addr": self.address(row["ptr"]), **figures}
        return figures

    def cells(self, row):
        device = row["device"]
        if self.is_april and row["event"] == "FREE" and row["type"] == "HAL":
            device = "N/A"
        return [row["id"], row["event"], row["type"], row["name"], self.time(row["time"]), row["pid"], row["tid"], device,
                "N/A" if row["ptr"] is None else self.address(row["ptr"]), self.attr(row), row["python"], row["native"]]

    def write_csv(self, path, rows):
        with open(path, "w", newline="") as out:
            end = ",\r\n" if self.name == "spreadsheet" else "\n"
            out.write(("\ufeff" if self.name == "spreadsheet" else "") + ",".join(COLUMNS) + end)
            for row in rows:
                cells = self.cells(row)
                figures = cells[9] if cells[9] == "" else '"{%s}"' % ",".join("%s:%s" % pair for pair in cells[9].items())
                out.write(",".join([str(cell) for cell in cells[:9]] + [figures] +
                                   ['"%s"' % text if text else "" for text in cells[10:]]) + end)

    def write_db(self, path, rows, table):
        db = sqlite3.connect(path)
        db.execute("CREATE TABLE %s (%s)" % (table, ", ".join('"%s" %s' % (name, "INTEGER" if i in (0, 4, 5, 6) else "TEXT")
                                                              for i, name in enumerate(COLUMNS))))
        for row in rows:
            cells = self.cells(row)
            figures = cells[9] if cells[9] == "" else "{%s}" % ",".join('"%s":"%s"' % pair for pair in cells[9].items())
            texts = ['"%s"' % text if text else "" for text in cells[10:]]
            db.execute("INSERT INTO %s VALUES (?,?,?,?,?,?,?,?,?,?,?,?)" % table,
                       [float(cells[4]) if i == 4 and self.name == "spreadsheet" else cell
                        for i, cell in enumerate(cells[:9])] + [figures] + texts)
        db.commit()
        db.close()


def ingest(binaries, source, output):
    if os.path.exists(output):
        os.remove(output)
    got = subprocess.run([binaries + "/npumem-ingest", "--quiet", source, "-o", output], capture_output=True, text=True)
    if got.returncode != 0:
        raise SystemExit("FAIL: %s: status %d: %s" % (source, got.returncode, got.stderr))
    return sqlite3.connect(output)


def expect(what, got, expected):
    if got != expected:
        raise SystemExit("FAIL: %s:\n got %s\n expected %s" % (what, str(got)[:1500], str(expected)[:1500]))


def check_lives(db, dialect, start, processes):
    names = {"device memory": "HAL", "caching pool": "PTA", "pinned memory": "PINNED"}
    rows = db.execute("SELECT p.pid, h.name, CAST(a.address AS INTEGER), a.size_bytes, a.alloc_ns, a.free_ns FROM allocation AS a"
                      " JOIN heap AS h USING (heap_id) JOIN process AS p USING (process_id) WHERE a.alloc_seq IS NOT NULL").fetchall()
    got = sorted((pid, names[name], at, size, begin + start, end + start if end is not None else 0)
                 for pid, name, at, size, begin, end in rows)
    expected = sorted((p.pid, store, at, size, dialect.read(begin), dialect.read(end) if end else 0)
                      for p in processes for (store, at, begin), (size, end) in p.lives.items())
    expect("allocations", [row for row in got if row not in expected], [row for row in expected if row not in got])
    expect("number of allocations", len(got), len(expected))


def check_pools(db, dialect, start, processes, basis):
    for p in processes:
        if not p.used:
            continue
        row = db.execute("SELECT p.peak_bytes, p.peak_reserved_bytes, t.live_bytes, t.reserved_bytes FROM peak AS p JOIN heap_total AS t"
                         " ON t.pid = p.pid AND t.heap = p.heap AND t.level = p.level WHERE p.pid = ? AND p.level = 'pool'",
                         [p.pid]).fetchone()
        expect("%d: peak and end" % p.pid, (row[0], row[2]), (max(p.used), p.used[-1]))
        if basis == "exact":
            expect("%d: reserved" % p.pid, row[1], max(p.reserved))
        if dialect.name == "spreadsheet":
            continue  # which is which its times do not say
        got = db.execute("SELECT CAST(a.address AS INTEGER), a.alloc_ns, a.is_miss FROM allocation AS a JOIN heap AS h USING (heap_id)"
                         " JOIN process USING (process_id) WHERE pid = ? AND h.name = 'caching pool' AND a.alloc_seq IS NOT NULL",
                         [p.pid]).fetchall()
        misses = {(at, dialect.read(ns)): miss for (at, ns), miss in p.misses.items()}
        for at, ns, miss in got:
            known = misses[(at, ns + start)]
            # None: the first row, or segments went and came in between
            if known is not None and miss is not None and bool(miss) != known:
                raise SystemExit("FAIL: %d: miss of %x at %d is %s" % (p.pid, at, ns + start, miss))


def check_others(db, dialect, start, processes):
    def told(sql):
        return sorted(db.execute(sql).fetchall(), key=repr)

    expect("misuse", told("SELECT kind FROM misuse"), [])
    expect("steps", told("SELECT pid, s.begin_ns + %d FROM step AS s JOIN process USING (process_id)" % start),
           sorted(((p.pid, dialect.read(ns)) for p in processes for ns in p.steps), key=repr))
    expect("samples", told("SELECT pid, ns + %d, used_bytes FROM memory_sample JOIN process USING (process_id)" % start),
           sorted(((p.pid, dialect.read(ns), used) for p in processes for ns, used in p.samples), key=repr))
    expect("failures", told("SELECT pid, f.ns + %d, f.requested_bytes, f.device_free_bytes FROM failure AS f JOIN heap USING (heap_id)"
                            " JOIN process USING (process_id)" % start),
           sorted(((p.pid, dialect.read(ns), size, free) for p in processes for ns, size, free in p.failures), key=repr))
    expect("operators", told("SELECT pid, o.name, o.begin_ns + %d, o.end_ns + %d FROM operation AS o JOIN process USING (process_id)"
                             " WHERE o.name LIKE 'aten%%' AND o.end_seq IS NOT NULL" % (start, start)),
           sorted(((p.pid, name, dialect.read(begin), dialect.read(end)) for p in processes for name, begin, end in p.ranges), key=repr))
    frames = told("SELECT DISTINCT function FROM frame")
    functions = {row[0] for row in frames}
    expect("frames", functions, {"step", "<module>", "f"} if any(p.misses for p in processes) else functions)


def answers(db):
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('input', 'meta')"
                                             " AND name NOT LIKE 'sqlite%' ORDER BY name")]
    return {table: sorted(map(repr, db.execute('SELECT * FROM "%s"' % table))) for table in tables}


def run(binaries, work, seed, dialect):
    rng = random.Random(seed)
    processes = [Process(rng, 4000 + i, i, rng.choice([0, 0, 30, 200])) for i in range(rng.choice([1, 1, 2]))]
    for p in processes:
        p.run(rng.choice([60, 250, 600]) + max(0, p.traced_from))
    rows = [row for p in processes for row in p.rows]
    if not rows:
        return
    if dialect.name == "spreadsheet":  # its times say little, its rows stay in order
        dialect.read = lambda ns: int(float(dialect.time(ns))) * 1000
    else:
        dialect.read = lambda ns: ns
        rng.shuffle(rows)
    os.makedirs(work, exist_ok=True)
    table = "leaks_dump" if dialect.is_april else "memscope_dump"
    for name in ("dump.db",):
        if os.path.exists(work + "/" + name):
            os.remove(work + "/" + name)
    dialect.write_csv(work + "/dump.csv", rows)
    dialect.write_db(work + "/dump.db", rows, table)
    of_csv = ingest(binaries, work + "/dump.csv", work + "/csv.db")
    of_db = ingest(binaries, work + "/dump.db", work + "/db.db")
    one, other = answers(of_csv), answers(of_db)
    for table in one:
        expect("table %s of csv and db" % table, one[table], other[table])
    start, basis, kind, whole = of_csv.execute(
        "SELECT start_realtime_ns, fragmentation_basis, kind, is_complete FROM input").fetchone()
    expect("kind", (kind, whole), ("msMemScope dump", 1))
    if dialect.name != "spreadsheet":
        check_lives(of_csv, dialect, start, processes)
        check_others(of_csv, dialect, start, processes)
    check_pools(of_csv, dialect, start, processes, basis if dialect.name != "spreadsheet" else "")
    for db in (of_csv, of_db):
        db.close()
    return basis


def check_samples(binaries, work, samples):
    """The pools' peaks are what the dumps state; of the dump of April 2025 rows were left out, so that only its allocations are as found."""
    if not os.path.exists(samples + "/imports/golden.json"):
        print("skipped: no samples here: real dumps of msMemScope")
        return
    golden = json.load(open(samples + "/imports/golden.json"))
    for name in ("baseline.csv", "leaks.csv", "memscope_dump_20250428113810.csv"):
        known = golden["msmemscope/" + name]
        db = ingest(binaries, samples + "/msmemscope/" + name, work + "/golden.db")
        is_whole = name != "memscope_dump_20250428113810.csv"
        expect(name + ": misuse", db.execute("SELECT count(*) FROM misuse").fetchone(), (0,))
        for pool, stated in known["pool_columns"].items():
            pid, _, device = pool.split("/")
            found = known["pools"]["%s/PTA/dev %s" % (pid, device)]
            got = db.execute("SELECT t.allocation_count, t.allocated_bytes, p.peak_bytes, t.free_count, t.outstanding_count,"
                             " t.outstanding_bytes FROM heap_total AS t JOIN peak AS p ON p.pid = t.pid AND p.device = t.device"
                             " AND p.heap = t.heap AND p.level = t.level WHERE t.pid = ? AND t.level = 'pool'", [pid]).fetchone()
            expect("%s: %s" % (name, pool), got[:3], (found["allocations"], found["allocated_bytes"], stated["max_used"]))
            if is_whole:
                expect("%s: %s" % (name, pool), got[3:], (found["frees"], found["outstanding_count"], found["outstanding_bytes"]))
                expect(name + ": misses", db.execute("SELECT miss_count FROM pool_hit_rate WHERE bucket = 'all'").fetchone(),
                       (stated["total_grew"] - 1,))  # the first that is stated was there before
                expect(name + ": bases", db.execute("SELECT leak_basis, peak_basis, fragmentation_basis, hit_basis FROM input").fetchone(),
                       ("exact",) * 4)
        hal = [pool for name, pool in known["pools"].items() if "/HAL/dev" in name and "N/A" not in name]
        got = db.execute("SELECT sum(allocation_count), sum(allocated_bytes) FROM heap_total WHERE level IN ('driver', 'pinned')").fetchone()
        expect(name + ": HAL", got, (sum(pool["allocations"] for pool in hal), sum(pool["allocated_bytes"] for pool in hal)))
        db.close()


def main():
    binaries, work = sys.argv[1], sys.argv[2]
    runs = int(sys.argv[4]) if len(sys.argv) > 4 else 24
    first = int(os.environ.get("NPUMEM_SEED", "1"))
    bases = []
    shutil.rmtree(work, ignore_errors=True)
    for seed in range(first, first + runs):
        dialect = Dialect(("december", "april", "spreadsheet")[seed % 3])
        try:
            bases.append(run(binaries, work, seed, dialect))
        except SystemExit as failure:
            raise SystemExit("%s\nNPUMEM_SEED=%d, %s" % (failure, seed, dialect.name))
    if runs >= 24 and "exact" not in bases:
        raise SystemExit("FAIL: of no run all segments were known")
    check_samples(binaries, work, sys.argv[3])
    print("%d programs in CSV and database, %d with all segments known" % (runs, bases.count("exact")))


main()
