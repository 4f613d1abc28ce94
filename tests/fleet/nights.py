#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# nights.py FOLDER: a job that ran four nights on eight ranks of two hosts, as text traces (tests/support/text_trace.h), a file a rank:
# FOLDER/RUN.RANK.txt, with the time at which it began as its first line. What is planted, and what fleet.py asks for again:
#   every night        weights and activations; rank 5 holds eight times the embedding of the others, and most of its device
#   night 1            the recording of rank 3 is cut (fleet.sh does that)
#   night 2            rank 4 is not recorded, of nine ranks
#   from night 3 on    collate() of every rank leaks a MiB a step; a newer CANN
#   night 3            rank 6 runs out of memory in its last step, and dies
#   night 4            the pool of rank 1 is cut up; a new site at the peak; rank 2's memory of the host grows; more misses
import os
import sys

MIB = 1 << 20
DAY_NS = 86400 * 10**9
FIRST_NS = 1764000000 * 10**9  # 2025-11-24
STEPS = 12


class Rank:
    """Events of one rank, one behind the other, a millisecond apart."""

    def __init__(self, night, rank):
        self.night, self.rank, self.ms, self.lines, self.next_address = night, rank, 0, [], 0x100000000
        self.free = {}  # of the pool: size to addresses

    def say(self, text):
        self.lines.append(text)

    def event(self, text):
        self.ms += 1
        self.say(f'@{self.ms * 1000000} {text} thread=1')

    def reserve(self, size):
        address = self.next_address
        self.next_address += size + (64 << 20)
        self.event(f'alloc heap=1 address={address:#x} requested={size} block={size} segment stack=9 cost=90000')
        return address

    def alloc(self, size, stack, address=None):
        if address is None:
            held = self.free.get(size)
            address = held.pop() if held else self.reserve(size)
        self.event(f'alloc heap=2 address={address:#x} requested={size} block={size} stack={stack} cost=2000')
        return address

    def release(self, size, address, keep=True):
        self.event(f'free heap=2 address={address:#x}')
        if keep:
            self.free.setdefault(size, []).append(address)

    def host_memory(self, size):
        self.event(f'memory_sample number=1 detail=101 size={size} total={256 << 30}')


def definitions(r, world_size):
    host = f'node{int(r.rank > 3)}'
    r.say(f'process 1 pid={1000 + r.rank} host={host} rank={r.rank} local_rank={r.rank % 4} world_size={world_size} begin=0 '
          f'command="python3 train.py"')
    if r.rank == 0:
        r.say(f'process 2 pid=2000 parent=1000 host={host} begin=0 command="tokenizer"')
    r.say(f'device 1 process=1 ordinal=0 physical={r.rank % 4} kind=npu name=Ascend910B capacity={16200 * MIB}')
    r.say('heap 1 process=1 device=1 level=driver basis=block name="device memory"')
    r.say('heap 2 process=1 device=1 level=pool basis=block name="ptaCaching"')
    r.say('heap 3 process=1 level=pinned basis=requested name="pinned memory"')
    r.say(f'thread 1 process=1 tid={1000 + r.rank} name=main')
    if r.rank == 0:
        r.say('heap 4 process=2 level=pinned basis=requested name="pinned memory"')
        r.say('thread 2 process=2 tid=2000')
    r.say(f'attribute 1 process=1 source=version name=CANN value={"8.0.0" if r.night < 3 else "8.1.0"}')
    r.say('attribute 2 process=1 source=environment name=PYTORCH_NPU_ALLOC_CONF value="expandable_segments:False"')
    r.say(f'attribute 3 process=1 source=environment name=RANK value={r.rank}')
    for number, text in ((1, '/src/model.py:10:weights < /src/train.py:5:main'),
                         (2, '/src/model.py:20:embedding < /src/train.py:5:main'),
                         (3, '/src/model.py:88:forward < /src/train.py:9:main'),
                         (4, '/src/data.py:41:collate < /src/train.py:8:main'),
                         (5, '/src/adamw.py:61:step < /src/train.py:11:main'),
                         (6, '/src/moe.py:7:route < /src/train.py:9:main'),
                         (7, '/src/模型 "x".py:3:mask < /src/train.py:9:main'),
                         (8, '/src/log.py:5:keep < /src/train.py:12:main'),
                         (9, 'pool.cpp:80:pool_alloc < /src/train.py:5:main')):
        r.say(f'stack {number}: {text}')


def begin(r):
    for n in range(4):
        r.alloc(256 * MIB, 1)
    r.alloc((8 if r.rank == 5 else 1) * 1600 * MIB, 2)
    r.event('alloc heap=3 address=0x7000000000 requested=65536 stack=4')
    if r.rank == 0:
        r.say('@900000 alloc heap=4 address=0x7100000000 requested=4096 thread=2 stack=4'.replace('@900000', f'@{r.ms * 1000000 + 1}'))


def cut_up(r):
    """Of a segment of 512 MiB every second block of 32 stays, and 256 in one piece are wanted."""
    base = r.reserve(512 * MIB)
    blocks = [r.alloc(32 * MIB, 8, base + n * 32 * MIB) for n in range(16)]
    for address in blocks[::2]:
        r.release(32 * MIB, address, keep=False)
    r.alloc(1024 * MIB, 3)


def step(r, number):
    r.event(f'step number={number}')
    batch = r.alloc(8 * MIB, 4)
    mask = r.alloc(2 * MIB, 7)
    activations = [r.alloc(64 * MIB, 3) for n in range(4)]
    gate = r.alloc(128 * MIB, 6) if r.night == 4 else None
    if number == 1:
        r.alloc(512 * MIB, 5)
    if r.night >= 3:
        r.alloc(MIB, 4)
    for address in reversed(activations):
        r.release(64 * MIB, address)
    if gate is not None:
        r.release(128 * MIB, gate, keep=r.rank % 2 == 0)
    r.release(2 * MIB, mask)
    r.release(8 * MIB, batch)
    r.host_memory((4 << 30) + (200 * MIB * number if r.night == 4 and r.rank == 2 else number % 2 * MIB))


def make(night, rank):
    r = Rank(night, rank)
    definitions(r, 9 if night == 2 else 8)
    begin(r)
    for number in range(1, STEPS + 1):
        step(r, number)
        if night == 4 and rank == 1 and number == 5:
            cut_up(r)
    if night == 3 and rank == 6:
        r.event(f'alloc_failed heap=1 requested={12 << 30} stack=3 error=207001 free={8 << 30} total={16200 * MIB}')
        r.event(f'alloc_failed heap=2 requested={12 << 30} stack=3 error=207001')
        r.event('process_end process=1 detail=exit error=1')
    else:
        r.event('process_end process=1 detail=exit error=0')
    return r.lines


def main(folder):
    for night in range(1, 5):
        for rank in [n for n in range(9) if n != (4 if night == 2 else 8)]:
            start_ns = FIRST_NS + (night - 1) * DAY_NS + rank * 1000000
            with open(os.path.join(folder, f'night{night}.{rank}.txt'), 'w', encoding='utf-8') as file:
                file.write(f'# {start_ns}\n' + '\n'.join(make(night, rank)) + '\n')


main(sys.argv[1])
