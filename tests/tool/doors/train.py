#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The train.py that the doors of README.md record: a training script on the torch_npu-like client, which keeps a batch a
step and forgets it. TRAIN_LIBRARY names libtorch_like.so, TRAIN_STEPS how many steps it trains (20), TRAIN_KEPT how many
bytes of each batch stay (0: nothing leaks). On a device that is too small for that it ends as a job does that dies of 207001.
"""
import ctypes
import os
import sys

LAYER_BYTES = 2 << 20
KEPT_BYTES = int(os.environ.get("TRAIN_KEPT", "0"))
STEPS = int(os.environ.get("TRAIN_STEPS", "20"))

client = ctypes.CDLL(os.environ["TRAIN_LIBRARY"])
client.torch_like_alloc.restype = ctypes.c_void_p
client.torch_like_alloc.argtypes = [ctypes.c_size_t]
client.torch_like_free.argtypes = [ctypes.c_void_p]
client.torch_like_step_begin.restype = ctypes.c_uint64
client.torch_like_step_end.argtypes = [ctypes.c_uint64]
kept = []


def served(address):
    if not address:
        sys.exit("RuntimeError: NPU out of memory. error code is 207001")
    return address


def collate():
    if KEPT_BYTES:
        kept.append(served(client.torch_like_alloc(KEPT_BYTES)))


def forward():
    return [served(client.torch_like_alloc(LAYER_BYTES + 4096 * layer)) for layer in range(3)]


def train():
    if client.torch_like_open(b"handle", 0, 1, 0) != 0:
        sys.exit("train.py: no device")
    weights = [served(client.torch_like_alloc(LAYER_BYTES)) for _ in range(4)]
    for _ in range(STEPS):
        step = client.torch_like_step_begin()
        collate()
        for activation in reversed(forward()):
            client.torch_like_free(activation)
        client.torch_like_step_end(step)
    return weights


if __name__ == "__main__":
    train()
