#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a snapshot of torch's allocator of about so many megabytes, as torch writes it (pickle, protocol 2), entry by entry, so
that one of any size needs little memory: blocks that come and go, each with a stack of 20 frames out of 500.

    snapshot.py MEGABYTES FILE       prints how many entries it has

The pickle is put together by hand. Frames, stacks and strings are written once and then fetched from the pickler's memo, as
Python's own pickler does with objects that occur again.
"""
import struct
import sys

STACKS, FRAMES, LIVE = 500, 20, 1000
PLACES = 8 * LIVE  # addresses, which come again as those of a pool do
BATCH = 1000  # entries between MARK and APPENDS: what Python's pickler takes


class Pickle:
    def __init__(self, file):
        self.file, self.count, self.memo = file, 0, {}

    def put(self):
        """Numbers what was written last, and is on top of the stack."""
        number, self.count = self.count, self.count + 1
        self.file.write(b"q" + bytes([number]) if number < 256 else b"r" + struct.pack("<I", number))
        return number

    def get(self, number):
        return b"h" + bytes([number]) if number < 256 else b"j" + struct.pack("<I", number)

    def string(self, text):
        if text in self.memo:
            self.file.write(self.get(self.memo[text]))
            return
        data = text.encode()
        self.file.write(b"X" + struct.pack("<I", len(data)) + data)
        self.memo[text] = self.put()

    def number(self, value):
        self.file.write(number(value))

    def begin(self, opcode):
        self.file.write(opcode)
        self.put()


def number(value):
    if 0 <= value < 256:
        return b"K" + bytes([value])
    if 0 <= value < 65536:
        return b"M" + struct.pack("<H", value)
    if value < 1 << 31:
        return b"J" + struct.pack("<i", value)
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes([len(data)]) + data


def write_stack(out, index):
    """A list of dictionaries; returns its number in the memo."""
    out.begin(b"]")
    stack = out.count - 1
    out.file.write(b"(")
    for frame in range(FRAMES):
        out.begin(b"}")
        out.file.write(b"(")
        out.string("filename")
        out.string(f"/m/layer{index % 50}.py")
        out.string("line")
        out.number(10 + frame)
        out.string("name")
        out.string(f"forward_{index}_{frame}")
        out.file.write(b"u")
    out.file.write(b"e")
    return stack


def write_entry(out, action, addr, size, time_us, stacks, index):
    out.begin(b"}")
    out.file.write(b"(")
    for key, value in (("action", action), ("addr", addr), ("size", size), ("stream", 0), ("time_us", time_us)):
        out.string(key)
        if isinstance(value, str):
            out.string(value)
        else:
            out.number(value)
    out.string("frames")
    if index in stacks:
        out.file.write(out.get(stacks[index]))
    else:
        stacks[index] = write_stack(out, index)
    out.file.write(b"u")


def write_entry_again(out, action, addr, size, time_us, stacks, index):
    """The same where all its strings and its stack were written before."""
    memo, get = out.memo, out.get
    entry = b"".join((
        b"}r", struct.pack("<I", out.count), b"(", get(memo["action"]), get(memo[action]), get(memo["addr"]), number(addr),
        get(memo["size"]), number(size), get(memo["stream"]), b"K\0", get(memo["time_us"]), number(time_us),
        get(memo["frames"]), get(stacks[index]), b"u"))
    out.count += 1
    out.file.write(entry)


def entries():
    live = []
    i = 0
    while True:
        addr, size = 0x7F0000000000 + i % PLACES * 0x300000, 512 * (1 + i * 7919 % 4096)
        yield "alloc", addr, size, i
        live.append((addr, size))
        if len(live) > LIVE:
            addr, size = live.pop(0)
            yield "free_requested", addr, size, i
            yield "free_completed", addr, size, i
        i += 1


def write(file, most_bytes):
    out, stacks, count = Pickle(file), {}, 0
    file.write(b"\x80\x02")
    out.begin(b"}")
    file.write(b"(")
    out.string("segments")
    out.begin(b"]")
    out.string("device_traces")
    out.begin(b"]")
    out.begin(b"]")  # of the one device
    for action, addr, size, i in entries():
        if count % BATCH == 0:
            if file.tell() > most_bytes:
                break
            file.write(b"e(" if count else b"(")
        (write_entry_again if i > 2 * LIVE else write_entry)(out, action, addr, size, i, stacks, i % STACKS)
        count += 1
    file.write(b"e" + b"a")
    out.string("allocator_settings")
    out.begin(b"}")
    file.write(b"u.")
    return count


def main():
    with open(sys.argv[2], "wb", buffering=1 << 20) as file:
        print(write(file, int(sys.argv[1]) * 1000000))


if __name__ == "__main__":
    main()
