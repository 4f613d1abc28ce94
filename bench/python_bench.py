#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one recorded event costs a Python program: the median over bursts that fit into a ring, with pauses in which the
drain empties it, for calls at several depths of Python frames.

    npumem-record --stacks MODE -o x.zst -- python3 python_bench.py FOLDER_OF_LIBRARY
"""
import ctypes
import os
import statistics
import sys
import time

BURST_EVENTS = 4000
BURSTS = 61


def at_depth(depth, function):
    return function() if depth <= 3 else at_depth(depth - 1, function)


def main():
    library = ctypes.CDLL(os.path.join(sys.argv[1], "libpython_bench.so"))
    library.python_bench_burst.restype = ctypes.c_double

    def burst():
        return library.python_bench_burst(BURST_EVENTS)

    for depth in (3, 10, 30, 60):  # <module>, main, at_depth..., burst
        samples = []
        for _ in range(BURSTS):
            samples.append(at_depth(depth - 1, burst))
            time.sleep(0.02)
        print("depth %2d %8.1f ns an event" % (depth, statistics.median(samples)))


if __name__ == "__main__":
    main()
