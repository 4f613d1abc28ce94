#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a file of another tool of about so many megabytes, row by row, so that one of any size needs little memory.

    imports.py KIND MEGABYTES FILE       prints how many events of memory it has

kineto: a trace of torch.profiler; of eight entries one is of memory, as in real ones, each in five spans.
"""
import json
import sys

LIVE = 500


def kineto(size_bytes, file):
    file.write('{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "gpu", "totalGlobalMem": 85899345920}],\n'
               '"baseTimeNanoseconds": 1751410836000000000, "traceEvents": [\n')

    def put(**entry):
        file.write("  " + json.dumps(entry, indent=4) + ",\n")

    live, count, now, total = [], 0, 0, 1 << 30
    while file.tell() < size_bytes:
        begin = now
        for _ in range(2):
            size = 512 * (1 + count * 7919 % 4000)
            if len(live) >= LIVE:
                address, size = live.pop(count * 31 % LIVE)
                size = -size
            else:
                address = 0x7F0000000000 + count * 4000 * 512
                live.append((address, size))
            now, total, count = now + 7, total + size, count + 1
            put(ph="i", cat="cpu_instant_event", s="t", name="[memory]", pid=1, tid=1, ts=now + 0.125,
                args={"Total Reserved": 4 << 30, "Total Allocated": total, "Bytes": size, "Addr": address, "Device Id": 0,
                      "Device Type": 1, "Ev Idx": count})
        now += 20
        for depth in range(5):
            name = f"model/layer.py({10 + depth}): forward" if depth < 3 else f"aten::op{(count * depth) % 50}"
            put(ph="X", cat="python_function" if depth < 3 else "cpu_op", name=name, pid=1, tid=1, ts=begin + depth + 0.5,
                dur=now - begin - 2 * depth - 5.0, args={"External id": count, "Ev Idx": count, "Input Dims": [[64, 128], []]})
        for stream in range(9):
            put(ph="X", cat="kernel", name="void gemm_kernel<float, 128, 64>(float*, float*, int)", pid=0, tid=stream, ts=now + 0.75,
                dur=3.5, args={"External id": count, "grid": [64, 1, 1], "block": [256, 1, 1], "est. achieved occupancy %": 50})
    file.write('  {"ph": "i", "s": "g", "name": "end", "pid": 1, "tid": 1, "ts": %d}\n]}\n' % now)
    return count


def main(kind, megabytes, path):
    with open(path, "w") as file:
        print({"kineto": kineto}[kind](int(float(megabytes) * 1e6), file))


main(*sys.argv[1:])
