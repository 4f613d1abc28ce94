# SPDX-License-Identifier: Apache-2.0
"""A small model of torch's caching allocator, so that a snapshot does not contradict itself.

Sizes are rounded to 512 bytes; up to 1 MiB comes from segments of 2 MiB, less than 10 MiB from segments of 20 MiB, more
from its own, rounded to 2 MiB. The smallest free block that fits is taken, split where enough is left, and joined with
its free neighbours when it comes back. What it did is a list of entries, as torch writes them.
"""
import bisect
import contextlib
import itertools

SMALL_MAX, SMALL_SEGMENT, LARGE_SEGMENT, LARGE_MIN = 1 << 20, 2 << 20, 20 << 20, 10 << 20


class Block:
    __slots__ = ("segment", "address", "size", "requested", "frames", "before", "after", "is_live", "entry")

    def __init__(self, segment, address, size):
        self.segment, self.address, self.size = segment, address, size
        self.before = self.after = None
        self.requested, self.frames, self.is_live = 0, [], False


class Segment:
    def __init__(self, address, size, kind, frames):
        self.address, self.size, self.frames = address, size, frames
        self.kind = self.is_small, self.stream = kind
        self.first = Block(self, address, size)


class Pool:
    def __init__(self, base=0x7F0000000000):
        self.next_address = base
        self.segments = []
        self.free_lists = {}  # by (is small, stream): of (size, address, tie, block), in order
        self.stream = 0
        self.entries = []
        self.ties = itertools.count()
        self.time_us = 1_700_000_000_000_000
        self.tick_us = 7

    @contextlib.contextmanager
    def on_stream(self, stream):
        held, self.stream = self.stream, stream
        yield
        self.stream = held

    def say(self, action, address, size, frames, stream=0):
        self.time_us += self.tick_us
        self.entries.append({"action": action, "addr": address, "size": size, "stream": stream, "time_us": self.time_us,
                             "frames": frames})

    def free_list(self, kind):
        return self.free_lists.setdefault(kind, [])

    def put(self, block):
        bisect.insort(self.free_list(block.segment.kind), (block.size, block.address, next(self.ties), block))

    def take(self, block):
        items = self.free_list(block.segment.kind)
        at = bisect.bisect_left(items, (block.size, block.address))
        del items[at]

    def grow(self, size, is_small, frames):
        total = SMALL_SEGMENT if is_small else LARGE_SEGMENT if size < LARGE_MIN else (size + (2 << 20) - 1) >> 21 << 21
        segment = Segment(self.next_address, total, (is_small, self.stream), frames)
        self.next_address += total + (2 << 20)
        self.segments.append(segment)
        self.say("segment_alloc", segment.address, total, frames, self.stream)
        return segment.first

    def alloc(self, requested, frames):
        size = max(512, (requested + 511) // 512 * 512)
        is_small = size <= SMALL_MAX
        items = self.free_list((is_small, self.stream))
        at = bisect.bisect_left(items, (size,))
        if at < len(items):
            block = items[at][3]
            del items[at]
        else:
            block = self.grow(size, is_small, frames)
        rest = block.size - size
        if rest >= 512 if is_small else rest > SMALL_MAX:
            other = Block(block.segment, block.address + size, rest)
            other.before, other.after = block, block.after
            if block.after is not None:
                block.after.before = other
            block.after, block.size = other, size
            self.put(other)
        block.requested, block.frames, block.is_live = requested, frames, True
        self.say("alloc", block.address, requested, frames, self.stream)
        return block

    def free(self, block, frames):
        self.say("free_requested", block.address, block.requested, frames, block.segment.stream)
        self.say("free_completed", block.address, block.requested, frames, block.segment.stream)
        block.is_live = False
        for other in (block.before, block.after):
            if other is None or other.is_live:
                continue
            self.take(other)
            low, high = (other, block) if other is block.before else (block, other)
            low.size += high.size
            low.after = high.after
            if high.after is not None:
                high.after.before = low
            if low.segment.first is high:
                low.segment.first = low
            block = low
        block.is_live = False
        self.put(block)

    def empty_cache(self, frames):
        for segment in [s for s in self.segments if not s.first.is_live and s.first.after is None]:
            self.take(segment.first)
            self.segments.remove(segment)
            self.say("segment_free", segment.address, segment.size, frames, segment.stream)

    def state(self):
        out = []
        for segment in self.segments:
            blocks, block = [], segment.first
            while block is not None:
                blocks.append({"address": block.address, "size": block.size, "requested_size": block.requested,
                               "state": "active_allocated" if block.is_live else "inactive",
                               "frames": block.frames if block.is_live else []})
                block = block.after
            live = [b for b in blocks if b["state"] != "inactive"]
            out.append({"device": 0, "address": segment.address, "total_size": segment.size,
                        "allocated_size": sum(b["size"] for b in live), "active_size": sum(b["size"] for b in live),
                        "requested_size": sum(b["requested_size"] for b in live), "stream": segment.stream,
                        "segment_type": "small" if segment.is_small else "large", "segment_pool_id": (0, 0),
                        "is_expandable": False, "frames": segment.frames, "blocks": blocks})
        return out
