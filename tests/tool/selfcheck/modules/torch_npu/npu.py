# SPDX-License-Identifier: Apache-2.0
"""As much of torch_npu.npu as npumem-record --selfcheck needs. Figures are the client's own books."""
import os
import tempfile

from torch import FAULT, library


def is_available():
    return FAULT != "no device"


def set_device(number):
    if library.torch_like_open(b"handle", 0, 0, 0) != 0:
        raise RuntimeError("no client")


def synchronize():
    library.torch_like_synchronize()


def empty_cache():
    library.torch_like_empty_cache()


def get_device_name(number):
    return "a fake NPU"


def book(key):
    with tempfile.NamedTemporaryFile("r") as file:
        library.torch_like_report(file.name.encode(), b"")
        values = dict(line.split() for line in file if len(line.split()) == 2)
    return int(values[key])


def max_memory_allocated():
    return book("pool.peak_block_bytes") + (512 if FAULT == "lie" else 0)


def max_memory_reserved():
    held = book("pool.peak_reserved_bytes")
    return held + 1 if FAULT == "other when recorded" and "npumem" in os.environ.get("LD_PRELOAD", "") else held


def memory_stats():
    return {} if FAULT == "no stats" else {"allocation.all.allocated": book("pool.allocation_count")}
