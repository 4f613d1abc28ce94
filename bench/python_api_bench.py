#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call of npumem.py costs: nanoseconds, the best of some rounds, while nothing records and while something does.

    PYTHONPATH=python NPUMEM_LIBRARY_DIR=build/release/lib python3 bench/python_api_bench.py
    PYTHONPATH=python build/release/bin/npumem-record -o x.zst -- python3 bench/python_api_bench.py

`held` and `let go`: the bare call of npumem_mark through ctypes, with the interpreter's lock held as npumem.py does it, and
let go; alone, and while another thread of the interpreter computes.
"""
import ctypes
import sys
import threading
import time

import npumem

CALLS, ROUNDS = 2000, 100
pool = npumem.heap("bench", level="host")
held, let_go = npumem._held.npumem_mark, npumem._library.npumem_mark
for function in (held, let_go):
    function.argtypes, function.restype = [ctypes.c_char_p], None


def best_ns(call, rounds=ROUNDS, calls=CALLS):
    results = []
    for _ in range(rounds):
        begin = time.perf_counter_ns()
        for _ in range(calls):
            call()
        results.append((time.perf_counter_ns() - begin) / calls)
        time.sleep(0.002)  # for the drain
    return min(results)


def pair():
    pool.alloc(0x1000, 64)
    pool.free(0x1000)


def full_pair():
    pool.alloc(0x1000, 64, block_bytes=64, stream=1, hit=True)
    pool.free(0x1000, stream=1)


def ranged():
    with npumem.range("forward"):
        pass


@npumem.range("forward")
def decorated():
    pass


def nothing():
    pass


def main():
    print("CPython %s, %s" % (sys.version.split()[0], "recording" if npumem.is_recording() else "not recording"))
    empty = best_ns(nothing)
    for name, call, events in (("mark", lambda: npumem.mark("a mark"), 1), ("step", npumem.step, 1),
                               ("step(7)", lambda: npumem.step(7), 1), ("heap.alloc + free", pair, 2),
                               ("the same, all options", full_pair, 2), ("with range", ranged, 1),
                               ("@range", decorated, 1), ("npumem_mark, held", lambda: held(b"a mark"), 1),
                               ("npumem_mark, let go", lambda: let_go(b"a mark"), 1)):
        print("%-24s %6.0f" % (name, (best_ns(call) - empty) / events))

    stop = threading.Event()

    def compute():
        while not stop.is_set():
            sum(range(1000))

    other = threading.Thread(target=compute)
    other.start()
    for name, call in (("held, beside a thread", lambda: held(b"a mark")), ("let go, beside a thread", lambda: let_go(b"a mark"))):
        print("%-24s %6.0f" % (name, best_ns(call, 3, 200)))
    stop.set()
    other.join()


main()
