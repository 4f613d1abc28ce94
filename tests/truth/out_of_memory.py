#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""out_of_memory.py INGEST WORK_DIR [--record RECORD --programs FOLDER] [--seeds N] [--first N] [--only NAME] [--keep]
[--floors]: how true the causes of out of memory are.

Snapshots as torch's observer of out of memory takes them, of a pool on a device that is full for a planted reason, and
programs on the stand-in for CANN that are recorded. The books of the pool say whether the plant worked: a scenario whose
truth does not hold in them is an error. Prints a table by cause; with --floors the exit status says whether no cause was
false and enough were given.
"""
import argparse
import collections
import os
import random
import subprocess
import sys

from database import forget, rows as ask
from parts import MB, Loop, Net
from pool import LARGE_MIN, LARGE_SEGMENT, SMALL_SEGMENT, Pool
from program import Program

GB = 1 << 30
GIVEN_FLOOR = 0.85
HERE = os.path.dirname(os.path.abspath(__file__))


class OutOfMemory(Exception):
    pass


class Device(Pool):
    """The pool on a device of which others hold something, with a limit of its own (memory fraction) or none. What it cannot
    serve it asks the device for, then empties its cache, asks again, and tells of the failure, as torch does."""

    def __init__(self, capacity=1 << 60):
        super().__init__()
        self.capacity, self.others, self.limit = capacity, 0, None
        self.failed = None  # the last request that failed: what the books said then

    def reserved(self):
        return sum(segment.size for segment in self.segments)

    def fits(self, total):
        return self.reserved() + self.others + total <= self.capacity and \
            (self.limit is None or self.reserved() + total <= self.limit)

    def grow(self, size, is_small, frames):
        total = SMALL_SEGMENT if is_small else LARGE_SEGMENT if size < LARGE_MIN else (size + (2 << 20) - 1) >> 21 << 21
        if not self.fits(total):
            self.empty_cache(frames)
        if not self.fits(total):
            self.fail(size, total, is_small, frames)
        return super().grow(size, is_small, frames)

    def fail(self, size, total, is_small, frames):
        free = [(s.stream, b) for s in self.segments if s.is_small == is_small for b in blocks_of(s)
                if not b.is_live]
        own = [b.size for stream, b in free if stream == self.stream]
        other = [b.size for stream, b in free if stream != self.stream]
        device_free = self.capacity - self.others - self.reserved()
        self.failed = {"size": size, "segment": total, "device_free": device_free, "free": sum(own),
                       "largest": max(own, default=0), "other_largest": max(other, default=0),
                       "live": sum(b.size for s in self.segments for b in blocks_of(s) if b.is_live)}
        self.time_us += 7
        self.entries.append({"action": "oom", "device_free": device_free, "size": size, "stream": self.stream,
                             "time_us": self.time_us, "frames": frames})
        raise OutOfMemory


def blocks_of(segment):
    block = segment.first
    while block is not None:
        yield block
        block = block.after


SNAPSHOTS, PROGRAMS = {}, {}


def snapshot(*truth, given=True, outcome="fatal"):
    """The causes that are true; `given`: that a snapshot can show it."""
    def add(function):
        SNAPSHOTS[function.__name__] = (function, truth, given, outcome)
        return function
    return add


def program(*truth, outcome="fatal", settings):
    """The causes that are true, and the stand-in's settings by seed."""
    def add(function):
        PROGRAMS[function.__name__] = (function, truth, outcome, settings)
        return function
    return add


def must(is_true, what):
    if not is_true:
        raise AssertionError(f"the plant did not work: {what}")


# ---- Snapshots ------------------------------------------------------------------------------------------------------


def fill(p, size_of, count=1 << 30):
    """Allocates until it fails, or so many."""
    held = []
    with p.call("/w/model.py", "__init__", 12):
        for i in range(count):
            held.append(p.new(size_of(i)))
    return held


def until_it_fails(function, *arguments):
    try:
        function(*arguments)
    except OutOfMemory:
        return
    raise AssertionError("it did not run out of memory")


@snapshot("capacity", given=False)
def the_model_does_not_fit(p):
    p.pool.capacity = p.random.choice((16, 24, 40)) * GB
    until_it_fails(fill, p, lambda i: p.random.randint(40, 400) * MB)
    must(p.pool.failed["live"] + p.pool.failed["size"] > p.pool.capacity - p.pool.others, "it would have fitted")


@snapshot("capacity", given=False)
def a_small_request_that_needs_a_segment(p):
    """20 MiB for 2: the device has more than 2 free, and still there is no limit."""
    p.pool.capacity = p.random.randint(100, 200) * 20 * MB + p.random.randint(3, 17) * MB
    until_it_fails(fill, p, lambda i: 5 * MB)
    must(2 * MB < p.pool.failed["device_free"] < 20 * MB, "the device is full")
    until_it_fails(p.new, 2 * MB)
    must(p.pool.failed["free"] == 0, "the pool has room")


@snapshot("other-process-or-module", given=False)
def others_hold_the_device(p):
    p.pool.capacity = 32 * GB
    p.pool.others = p.random.randint(20, 28) * GB
    until_it_fails(fill, p, lambda i: p.random.randint(20, 100) * MB)


@snapshot("fragmentation")
def many_small_holes(p):
    """Three blocks in a segment of 20 MiB, and every second one goes."""
    p.pool.capacity = p.random.randint(80, 300) * 20 * MB + 7 * MB
    held = []
    with p.call("/w/cache.py", "build", 30):
        while p.pool.fits(20 * MB):
            held.append(p.new(6 * MB))
    p.drop(*held[::2])
    until_it_fails(p.new, p.random.randint(30, 200) * MB)
    must(p.pool.failed["free"] >= p.pool.failed["size"] > p.pool.failed["largest"], "there are no holes")


@snapshot("fragmentation")
def holes_in_large_segments(p):
    """Segments of 512 MiB were used whole once; blocks of all sizes are in them now."""
    count = p.random.randint(10, 40)
    p.pool.capacity = count * 512 * MB + 100 * MB
    with p.call("/w/train.py", "warm_up", 9):
        large = [p.new(512 * MB) for _ in range(count)]
        p.drop(*large)
    with p.call("/w/train.py", "load", 19):
        held = []
        while p.pool.free_list((False, 0)) and p.pool.free_list((False, 0))[-1][0] >= 90 * MB:
            held.append(p.new(p.random.randint(12, 90) * MB))
    p.drop(*[block for i, block in enumerate(held) if i % 3 != 0])
    until_it_fails(p.new, 511 * MB)
    must(p.pool.failed["free"] >= p.pool.failed["size"] > p.pool.failed["largest"], "there are no holes")


@snapshot("limit")
def the_fraction_is_used_up(p):
    p.pool.capacity = 80 * GB
    p.pool.limit = int(80 * GB * p.random.uniform(0.1, 0.5))
    until_it_fails(fill, p, lambda i: p.random.randint(100, 900) * MB)
    must(p.pool.failed["device_free"] > p.pool.failed["segment"] + 4 * MB, "the device is full")


@snapshot("limit")
def the_fraction_is_used_up_by_small_blocks(p):
    p.pool.capacity = 32 * GB
    p.pool.limit = p.random.randint(50, 100) * 20 * MB + 11 * MB
    until_it_fails(fill, p, lambda i: 5 * MB)


@snapshot("capacity")
def a_request_larger_than_any_device(p):
    p.pool.capacity = 64 * GB
    fill(p, lambda i: p.random.randint(10, 50) * MB, 40)
    until_it_fails(p.new, p.random.randint(1500, 40000) * GB, "matmul")


@snapshot("other-stream")
def the_memory_belongs_to_another_stream(p):
    p.pool.capacity = p.random.randint(12, 20) * GB
    p.pool.stream = 7
    with p.call("/w/prefetch.py", "load", 21):
        large = p.new(p.random.randint(2, 6) * GB)
        p.drop(large)
        kept = p.new(100 * MB)  # of the same segment: so it stays
    p.pool.stream = 0
    until_it_fails(fill, p, lambda i: 400 * MB)
    must(p.pool.failed["free"] < p.pool.failed["size"] <= p.pool.failed["other_largest"], f"{p.pool.failed} {kept}")


def leak_until_it_fails(p, line, size, factor):
    def leak(step):
        with p.call("/w/metrics.py", "log", line):
            p.leaks_here()
            p.new(size, "detach")
        if step == 3:  # there is room for so many more
            p.pool.capacity = p.pool.reserved() + int(factor * size)
    loop = Loop(p, 500, Net(p, 4, 2 * MB))
    loop.at["end"] = leak
    until_it_fails(loop.run)
    p.end_steps()


@snapshot("leak")
def a_leak_fills_the_device(p):
    leak_until_it_fails(p, p.random.randint(10, 40), p.random.randint(20, 40) * MB, p.random.randint(15, 30))


@snapshot("leak")
def a_leak_of_small_blocks(p):
    leak_until_it_fails(p, p.random.randint(10, 40), p.random.randint(3, 8) * MB, p.random.randint(40, 60))


@snapshot("fragmentation", outcome="recovered")
def a_smaller_batch_is_tried(p):
    """The program goes on: with a half, and a quarter, of what it had asked for."""
    many_small_holes(p)
    size = p.pool.failed["size"]
    with p.call("/w/train.py", "retry", 70):
        p.pool.capacity += 2 * size + 80 * MB
        p.drop(*[p.new(size // 2), p.new(size // 4), p.new(size // 4), p.new(size // 2)])


@snapshot("capacity", given=False)
def a_small_leak_beside_a_large_request(p):
    """Without what leaked it would not have fitted either."""
    size = p.random.randint(1, 3) * MB
    loop = Loop(p, p.random.randint(20, 40), Net(p, 4, 2 * MB))

    def leak(step):
        with p.call("/w/metrics.py", "log", 17):
            p.leaks_here()
            p.new(size, "detach")
    loop.at["end"] = leak
    with p.call("/w/train.py", "main", 80):
        loop.make()
        loop.fit()
    p.pool.capacity = p.pool.reserved() + 500 * MB
    until_it_fails(p.new, 2 * GB)


@snapshot(given=None)
def random_work(p):
    """Sizes, streams, limits and neighbours at random: the books say which causes are true."""
    pool, random = p.pool, p.random
    pool.capacity = random.randint(600, 8000) * MB
    pool.others = random.choice((0, 0, random.randint(0, pool.capacity // 2)))
    if random.random() < 0.4:
        pool.limit = int((pool.capacity - pool.others) * random.uniform(0.2, 1.0))
    sizes = random.choice(((1 << 10, 1 << 20), (1 << 19, 30 << 20), (5 << 20, 6 << 20), (1 << 20, 200 << 20)))
    streams = random.choice(((0,), (0,), (0, 3)))
    chance, held = random.uniform(0.05, 0.48), []
    try:
        while len(pool.entries) < 20000:
            if held and random.random() < chance:
                p.drop(held.pop(random.randrange(len(held))))
            else:
                pool.stream = random.choice(streams)
                with p.call("/w/work.py", "step", random.randint(1, 9)):
                    held.append(p.new(random.randint(*sizes)))
        p.new(pool.capacity + GB)
    except OutOfMemory:
        pass
    books = pool.failed
    p.truth = ["fragmentation"] if books["free"] >= books["size"] > books["largest"] else []
    p.truth += ["other-stream"] if books["other_largest"] >= books["size"] else []
    p.truth += ["limit"] if pool.limit is not None and books["device_free"] >= books["segment"] else []
    p.truth += ["capacity"] if books["live"] + books["size"] > pool.capacity else []
    p.truth += ["other-process-or-module"] if pool.others * 10 >= pool.capacity and \
        books["live"] + books["segment"] <= pool.capacity else []


# ---- Programs that are recorded -------------------------------------------------------------------------------------


class Client:
    """libtorch_like.so: torch_npu's pool on the stand-in; and the library of CANN beside it."""

    def __init__(self, folder, has_hccl=False):
        import ctypes
        self.c = ctypes
        self.library = ctypes.CDLL(os.path.join(folder, "libtorch_like.so"))
        self.library.torch_like_alloc.restype = ctypes.c_void_p
        self.library.torch_like_alloc.argtypes = [ctypes.c_size_t]
        self.library.torch_like_free.argtypes = [ctypes.c_void_p]
        self.library.torch_like_step_begin.restype = ctypes.c_uint64
        self.library.torch_like_step_end.argtypes = [ctypes.c_uint64]
        if self.library.torch_like_open(b"handle", 0, 0, int(has_hccl)) != 0:
            raise AssertionError("cannot open the client")

    def new(self, size):
        address = self.library.torch_like_alloc(size)
        if not address:
            raise OutOfMemory
        return address

    def drop(self, addresses):
        for address in addresses:
            self.library.torch_like_free(address)

    def cann(self):
        library = self.c.CDLL("libascendcl.so")
        library.aclrtMalloc.argtypes = [self.c.POINTER(self.c.c_void_p), self.c.c_size_t, self.c.c_int]
        library.aclrtMallocHost.argtypes = [self.c.POINTER(self.c.c_void_p), self.c.c_size_t]
        return library

    def driver(self, size, policy=0):
        """The address, and the error."""
        address = self.c.c_void_p()
        return address.value or 0, self.cann().aclrtMalloc(self.c.byref(address), size, policy), address.value


def fill_device(client, low, high, random):
    held = []
    while True:
        held.append(client.new(random.randint(low, high) * MB))


def capacity_of(gib, **more):
    return lambda random: dict({"NPUMEM_CANN_CAPACITY_BYTES": f"{gib}G"}, **{k: v(random) for k, v in more.items()})


@program("capacity", settings=capacity_of(4))
def recorded_model_does_not_fit(client, random):
    until_it_fails(fill_device, client, 40, 400, random)


@program("other-process-or-module", settings=capacity_of(8, NPUMEM_CANN_FOREIGN_BYTES=lambda r: f"{r.randint(5, 7)}G"))
def recorded_others_hold_the_device(client, random):
    until_it_fails(fill_device, client, 40, 200, random)


@program("other-process-or-module", settings=capacity_of(8, NPUMEM_CANN_RUNTIME_MIB=lambda r: str(r.randint(2, 4) << 10)))
def recorded_runtime_holds_the_device(client, random):
    until_it_fails(fill_device, client, 40, 200, random)


@program("other-process-or-module", settings=capacity_of(8, HCCL_BUFFSIZE=lambda r: str(r.randint(1200, 2500))))
def recorded_hccl_holds_the_device(client, random):
    until_it_fails(fill_device, client, 40, 200, random)


@program("fragmentation", settings=capacity_of(4))
def recorded_holes(client, random):
    held = []
    with_room = (4 << 10) // 20 - 10
    for _ in range(3 * with_room):
        held.append(client.new(6 * MB))
    client.drop(held[::2])
    until_it_fails(lambda: client.new(random.randint(300, 900) * MB))


@program("fragmentation", settings=capacity_of(4), outcome="recovered")
def recorded_cache_of_the_wrong_size(client, random):
    """What is cached does not serve; emptied, it does."""
    client.drop([client.new(100 * MB) for _ in range(38)])
    client.new(random.randint(500, 2000) * MB)


def keep_one_more(client, size):
    if not client.library.torch_like_alloc(size):
        raise OutOfMemory


@program("leak", settings=capacity_of(4))
def recorded_leak(client, random):
    weights = [client.new(200 * MB) for _ in range(3)]
    size = random.randint(30, 70) * MB
    try:
        while weights:
            step = client.library.torch_like_step_begin()
            work = [client.new(100 * MB), client.new(150 * MB)]
            keep_one_more(client, size)
            client.drop(work)
            client.library.torch_like_step_end(step)
    except OutOfMemory:
        pass


@program("capacity", settings=capacity_of(8))
def recorded_request_larger_than_the_device(client, random):
    weights = [client.new(200 * MB) for _ in range(3)]
    until_it_fails(lambda: client.new(random.randint(9, 900) * GB))
    client.drop(weights)


@program("driver", settings=capacity_of(4))
def recorded_no_huge_page(client, random):
    """Pages of 1 GiB: there is none left, though half of one is free."""
    client.new(3 * GB + random.randint(50, 200) * MB)
    for _ in range(2):
        must(client.driver(600 * MB, 6)[1] == 207001, "it was served")


@program("host", settings=capacity_of(4))
def recorded_host_memory(client, random):
    address = client.c.c_void_p()
    must(client.cann().aclrtMallocHost(client.c.byref(address), random.randint(1, 9) << 50) != 0, "it was served")


def make_many(client, name):
    handles = []
    while True:
        handle = client.c.c_void_p()
        error = getattr(client.cann(), name)(client.c.byref(handle))
        if error != 0:
            must(error == 207005, f"{name} returned {error}")
            return handles
        handles.append(handle)


@program("resources", settings=capacity_of(4, NPUMEM_CANN_STREAMS=lambda r: str(r.randint(20, 60))))
def recorded_streams_run_out(client, random):
    make_many(client, "aclrtCreateStream")


@program("resources", settings=capacity_of(4, NPUMEM_CANN_EVENTS=lambda r: str(r.randint(20, 60))))
def recorded_events_run_out(client, random):
    make_many(client, "aclrtCreateEvent")


@program(settings=capacity_of(2, NPUMEM_CANN_FOREIGN_BYTES=lambda r: f"{r.choice((0, 0, r.randint(0, 1500)))}M"))
def recorded_random_work(client, random):
    """Tells which causes are true of what it holds when it fails: packed as well as can be, it fits, or it does not."""
    sizes = random.choice(((1 << 19, 30 << 20), (5 << 20, 6 << 20), (1 << 20, 200 << 20)))
    chance, held, size = random.uniform(0.05, 0.48), [], 0
    try:
        for _ in range(4000):
            if held and random.random() < chance:
                client.drop([held.pop(random.randrange(len(held)))[0]])
            else:
                size = random.randint(*sizes)
                held.append((client.new(size), size))
        size = 3 * GB
        client.new(size)
    except OutOfMemory:
        pass
    foreign = int(os.environ["NPUMEM_CANN_FOREIGN_BYTES"][:-1]) * MB
    need = sum(block for _, block in held) + size
    truth = ["capacity"] if need > 2 * GB - foreign - 30 * MB else []  # segments and whole pages are not counted
    truth += ["fragmentation"] if need <= 2 * GB - foreign else []
    truth += ["other-process-or-module"] if foreign * 10 >= 2 * GB and need <= 2 * GB else []
    print("truth", *truth, flush=True)


class OwnPool:
    """A pool of the program's own, told through the SDK, that cuts segments of 64 MiB from the driver's memory."""

    def __init__(self, client, limit=None):
        import npumem
        self.client, self.limit, self.reserved = client, limit, 0
        self.heap = npumem.heap("own pool", device=0, uses_block_bytes=True)

    def grow(self, size):
        if self.limit is not None and self.reserved + size > self.limit:
            return None
        _, error, address = self.client.driver(size)
        self.reserved += size if error == 0 else 0
        return address if error == 0 else None

    def new(self, size):
        address = self.grow(size)
        if address is None:
            self.heap.alloc_failed(size, 207001)
            raise OutOfMemory
        self.heap.alloc(address, size, size)
        return address


@program("limit", settings=capacity_of(8))
def recorded_limit(client, random):
    pool = OwnPool(client, random.randint(5, 40) * 64 * MB)
    until_it_fails(lambda: [pool.new(64 * MB) for _ in range(200)])


@program("other-stream", settings=capacity_of(4))
def recorded_frees_that_wait(client, random):
    """The program has given up a third; other streams still use it."""
    pool, held = OwnPool(client), []
    try:
        while True:
            if len(held) == 40:
                for address in held[:random.randint(18, 30)]:
                    pool.heap.free(address, is_request=True)
            held.append(pool.new(64 * MB))
    except OutOfMemory:
        pass


@program("capacity", settings=capacity_of(4), outcome="recovered")
def recorded_smaller_requests_later(client, random):
    weights = [client.new(512 * MB) for _ in range(7)]
    until_it_fails(lambda: client.new(random.randint(700, 900) * MB))
    client.drop(weights[:3])
    [client.new(400 * MB) for _ in range(3)]


def run_program(name, seed, folder):
    client = Client(folder, has_hccl="hccl" in name)
    PROGRAMS[name][0](client, random.Random(f"{name} {seed}"))
    os._exit(0)  # torch_npu's own end is another test's


# ---- Judging --------------------------------------------------------------------------------------------------------


def judge(database, truth, outcome, leaks, figures, is_program):
    """What is wrong, in words; counts under the first true cause."""
    rows = ask(database, "SELECT verdict, outcome, explanation, leaked_site, free_bytes, tried_bytes, out_of_memory_id"
                         " FROM out_of_memory ORDER BY out_of_memory_id DESC LIMIT 1")
    figures["runs"] += 1
    if not rows:
        figures["false"] += 1
        return ["no out of memory is told"]
    verdict, seen, text, site = rows[0][:4]
    figures["right"] += verdict in truth
    figures["unknown"] += verdict == "unknown"
    figures["false"] += verdict not in truth and verdict != "unknown"
    wrong = [] if verdict in truth or verdict == "unknown" else [f"{verdict}: {text}"]
    if seen != outcome:
        wrong.append(f"{seen}, not {outcome}")
    if seen == "recovered" and "does not fit" in text:
        wrong.append(f"recovered, and yet: {text}")
    if verdict == "leak" and (site not in leaks or f" had leaked by then, most of it at {site}: without it " not in text):
        wrong.append(f"not the leak: {text}")
    if verdict == "resources":
        counts = [int(word) for word in text.replace(".", " ").split() if word.isdigit()]
        if max(counts[1:]) < 20:
            wrong.append(f"not so many: {text}")
    held = ask(database, f"SELECT count(*) FROM z_out_of_memory_component WHERE out_of_memory_id = {rows[0][6]}")[0][0]
    if held == 0 and "host" not in truth and verdict != "resources":
        wrong.append("nothing is said of what the device held")
    if is_program and held > 0 and "host" not in truth:
        sums = ask(database, "SELECT sum(CASE WHEN component <> 'DEVICE USED' THEN bytes END),"
                             " max(CASE WHEN component = 'DEVICE USED' THEN bytes END) FROM z_out_of_memory_component"
                             f" WHERE out_of_memory_id = {rows[0][6]}")[0]
        if sums[0] != sums[1]:
            wrong.append(f"the components are {sums[0]}, the device {sums[1]}")
    figures["wrong"] += len(wrong)
    return wrong


def ingest(options, path, database):
    forget()
    done = subprocess.run([options.ingest, "--quiet", "--force", "-o", database, path], capture_output=True, text=True)
    return None if done.returncode in (0, 3) else f"exit {done.returncode}: {done.stderr.strip()}"


def judge_snapshot(options, name, style, seed, figures):
    function, truth, _, outcome = SNAPSHOTS[name]
    path, database = f"{options.work}/{name}-{style}-{seed}.pickle", f"{options.work}/{name}-{style}-{seed}.db"
    made = Program(random.Random(f"{name} {seed}"), style)
    made.pool = Device()
    made.calls = [["/w/main.py", 90, "<module>"], ["/w/main.py", 80, "main"]]
    function(made)
    made.write(path)
    error = ingest(options, path, database)
    if error is not None:
        figures["false"] += 1
        return [error]
    leaks = {label for wanted in made.leaks for label in wanted}
    return judge(database, getattr(made, "truth", truth), outcome, leaks, figures, False)


def judge_program(options, name, seed, figures):
    _, truth, outcome, settings = PROGRAMS[name]
    path, database = f"{options.work}/{name}-{seed}.zst", f"{options.work}/{name}-{seed}.db"
    environment = dict(os.environ, **settings(random.Random(f"{name} {seed}")))
    environment["PYTHONPATH"] = options.python
    environment["LD_LIBRARY_PATH"] = options.cann + ":" + environment.get("LD_LIBRARY_PATH", "")
    done = subprocess.run([options.record, "--force", "-o", path, "--", sys.executable, os.path.abspath(__file__), "--program",
                           name, "--seed", str(seed), "--programs", options.programs], env=environment,
                          capture_output=True, text=True)
    error = f"exit {done.returncode}: {done.stderr[-600:]}" if done.returncode != 0 else ingest(options, path, database)
    if error is not None:
        figures["false"] += 1
        return [error]
    leaks = {row[0] for row in ask(database, "SELECT site FROM leak_by_site") if row[0].endswith(" keep_one_more")}
    told = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("truth")]
    return judge(database, told[0] if told else truth, outcome, leaks, figures, True)


def all_runs(options):
    """Cause, what it is called, and how to judge it."""
    for name in SNAPSHOTS if options.only is None else [n for n in options.only.split(",") if n in SNAPSHOTS]:
        for style in ("python", "all") if "leak" in name else ("python",):  # stacks matter for sites alone
            count = options.seeds * (4 if SNAPSHOTS[name][2] is None else 1)
            for seed in range(options.first, options.first + count):
                yield (SNAPSHOTS[name][1] or ("by its books",))[0], SNAPSHOTS[name][2], f"{name}, {style}, seed {seed}", \
                    lambda figures, n=name, t=style, s=seed: judge_snapshot(options, n, t, s, figures)
    for name in PROGRAMS if options.only is None else [n for n in options.only.split(",") if n in PROGRAMS]:
        for seed in range(options.first, options.first + options.seeds if options.record else options.first):
            yield (PROGRAMS[name][1] or ("by its books",))[0], True if PROGRAMS[name][1] else None, f"{name}, seed {seed}", \
                lambda figures, n=name, s=seed: judge_program(options, n, s, figures)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ingest", nargs="?")
    parser.add_argument("work", nargs="?")
    parser.add_argument("--record")
    parser.add_argument("--programs")
    parser.add_argument("--cann", default="")
    parser.add_argument("--python", default=os.path.join(HERE, "..", "..", "python"))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--floors", action="store_true")
    parser.add_argument("--program")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.program is not None:
        return run_program(options.program, options.seed, options.programs)
    os.makedirs(options.work, exist_ok=True)
    by_cause = collections.defaultdict(collections.Counter)
    for cause, can_be_given, what, run in all_runs(options):
        key = cause + {True: "", False: " (a snapshot cannot show it)", None: " (at random)"}[can_be_given]
        for text in run(by_cause[key]):
            print(f"  {what}: {text}")
    total = sum(by_cause.values(), collections.Counter())
    print(f"{'cause':50} {'runs':>5} {'right':>6} {'unknown':>8} {'false':>6}")
    for cause, figures in sorted(by_cause.items()) + [("all", total)]:
        print(f"{cause:50} {figures['runs']:5} {figures['right']:6} {figures['unknown']:8} {figures['false']:6}")
    showable = [figures for cause, figures in by_cause.items() if not cause.endswith(")")]
    given = sum(f["right"] for f in showable) / max(1, sum(f["runs"] for f in showable))
    print(f"given where it can be: {given:.3f}; of all: {total['right'] / max(1, total['runs']):.3f}")
    is_good = total["false"] == 0 and total["wrong"] == 0 and given >= GIVEN_FLOOR
    return 0 if is_good or not options.floors else 1


if __name__ == "__main__":
    sys.exit(main())
