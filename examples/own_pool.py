# SPDX-License-Identifier: Apache-2.0
"""own_pool in Python, with npumem.py: a pool that cuts what it hands out from segments of the device and keeps what it
gets back. A loop of training steps uses it, forgets one block a step, and prints what npumem should find.

    export PYTHONPATH=PREFIX/share/npumem/python
    npumem record -o run.zst -- python3 own_pool.py
    npumem ingest --site-rules pool.rules run.zst

Host memory stands for that of the device, so that it runs anywhere. With CANN, _take_segment asks aclrtMalloc, which
npumem-record sees by itself: then there is no heap of the driver to tell of. Where npumem is not installed, the line that
imports it is the only one to leave out: its calls do nothing when no library is found.
"""
import ctypes

import npumem

SEGMENT_BYTES = 2 << 20
STEPS, LAYERS = 40, 6


class Pool:
    def __init__(self):
        self.requests = self.hits = self.live_bytes = self.peak_bytes = 0
        self._driver = npumem.heap("device memory", device=0, level="driver")  # npumem: once for each heap of a process
        self._heap = npumem.heap("my pool", device=0)
        self._segments, self._cut_bytes = [], SEGMENT_BYTES
        self._free, self._live = {}, {}

    def allocate(self, size_bytes):
        block_bytes = max(512, 1 << (size_bytes - 1).bit_length())
        idle = self._free.setdefault(block_bytes, [])
        address, is_hit = (idle.pop(), True) if idle else self._cut(block_bytes)
        self._live[address] = size_bytes, block_bytes
        self.requests += 1
        self.hits += is_hit
        self.live_bytes += size_bytes
        self.peak_bytes = max(self.peak_bytes, self.live_bytes)
        # npumem: before anybody else learns the address
        self._heap.alloc(address, size_bytes, block_bytes=block_bytes, hit=is_hit)
        return address

    def free(self, address):
        self._heap.free(address)  # npumem: before it can be handed out again
        size_bytes, block_bytes = self._live.pop(address)
        self.live_bytes -= size_bytes
        self._free[block_bytes].append(address)

    def _take_segment(self):
        segment = ctypes.create_string_buffer(SEGMENT_BYTES)
        self._segments.append(segment)
        self._driver.alloc(ctypes.addressof(segment), SEGMENT_BYTES)  # npumem: a segment came (not with aclrtMalloc)

    def _cut(self, block_bytes):
        is_hit = self._cut_bytes + block_bytes <= SEGMENT_BYTES
        if not is_hit:
            self._take_segment()
            self._cut_bytes = 0
        self._cut_bytes += block_bytes
        return ctypes.addressof(self._segments[-1]) + self._cut_bytes - block_bytes, is_hit


def load_weight(pool, layer):
    return pool.allocate(100000 + 1000 * layer)


def forget_block(pool):
    """The bug: nobody remembers the block."""
    pool.allocate(3000)


def run_step(pool):
    npumem.step()  # npumem: so that growth is told from warming up
    with npumem.range("forward"):  # npumem: and what of a step it was
        activations = [pool.allocate(20000 + 30000 * layer) for layer in range(LAYERS)]
    forget_block(pool)
    for activation in activations:
        pool.free(activation)


def main():
    pool = Pool()
    with npumem.category("weight"):  # npumem: what the memory is for
        weights = [load_weight(pool, layer) for layer in range(LAYERS)]
    npumem.mark("loaded")  # npumem: a moment to look at later
    for _ in range(STEPS):
        run_step(pool)
    for weight in weights:
        pool.free(weight)
    print("requests", pool.requests)
    print("hits", pool.hits)
    print("live_bytes", pool.live_bytes)
    print("peak_bytes", pool.peak_bytes)
    print("leaked_blocks", STEPS)
    print("leaked_bytes", STEPS * 3000)


if __name__ == "__main__":
    main()
