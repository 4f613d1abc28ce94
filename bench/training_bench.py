#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training loop that has work to do: the steps of fixtures/programs/torch_like.py with a model of 24 blocks, and between them some
50 ms of arithmetic, always as much. Prints the seconds that the steps took, elapsed and of processors.

    [npumem-record -o x.zst --] training_bench.py FOLDER_OF_TORCH_LIKE [STEPS]
"""
import argparse
import hashlib
import sys
import time

BLOCKS = 24
WORK = 125000  # rounds of a hash


def main():
    folder, steps = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40
    sys.path.insert(0, folder)
    import torch_like
    options = argparse.Namespace(library=folder + "/libtorch_like.so", loader="handle", expandable=False, task_queue=1, hccl=False)
    client = torch_like.Client(options)
    weights = [client.alloc("train", torch_like.TENSOR_BYTES + 4096 * i) for i in range(BLOCKS)]
    torch_like.train_step(client, weights)
    elapsed, used = time.monotonic(), time.process_time()
    for _ in range(steps):
        torch_like.train_step(client, weights)
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", WORK)
    print("%.4f %.4f" % (time.monotonic() - elapsed, time.process_time() - used))


if __name__ == "__main__":
    main()
