#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training loop that has work to do: the steps of fixtures/programs/torch_like.py with a model of 24 blocks, and between them so much
arithmetic, always the same, that a step takes some 50 ms. Prints what the calls of a step took of processors and what the arithmetic took, medians in
microseconds: how long the arithmetic takes varies more from run to run than all calls together.

    [npumem-record -o x.zst --] training_bench.py FOLDER_OF_TORCH_LIKE [STEPS]
"""
import argparse
import hashlib
import statistics
import sys
import time

BLOCKS = 24
WORK = 200000  # rounds of a hash


def main():
    folder, steps = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40
    sys.path.insert(0, folder)
    import torch_like
    options = argparse.Namespace(library=folder + "/libtorch_like.so", loader="handle", expandable=False, task_queue=1, hccl=False)
    client = torch_like.Client(options)
    weights = [client.alloc("train", torch_like.TENSOR_BYTES + 4096 * i) for i in range(BLOCKS)]
    torch_like.train_step(client, weights)
    calls, work = [], []
    for _ in range(steps):
        begin = time.process_time_ns()
        torch_like.train_step(client, weights)
        called = time.process_time_ns()
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", WORK)
        calls.append(called - begin)
        work.append(time.process_time_ns() - called)
    print("%.1f %.1f" % (statistics.median(calls) / 1000, statistics.median(work) / 1000))


if __name__ == "__main__":
    main()
