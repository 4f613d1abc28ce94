#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a file of another tool of about so many megabytes, row by row, so that one of any size needs little memory.

    imports.py KIND MEGABYTES FILE       prints how many events of memory it has

kineto: a trace of torch.profiler; of eight entries one is of memory, as in real ones, each in five spans.
msmemscope: a dump of msMemScope as CSV; every row is of a pool, half of them have a stack.
mindspore: memory_block.csv of MindSpore; every row is two events.
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


def msmemscope(size_bytes, file):
    file.write("ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,Call Stack(Python),Call Stack(C)\n")
    live, count, used = [], 0, 0
    while file.tell() < size_bytes:
        size = 512 * (1 + count * 7919 % 4000)
        if len(live) >= LIVE:
            (address, size), event, stack = live.pop(count * 31 % LIVE), "FREE", ""
            used -= size
        else:
            address, event, stack = 0x12C000000000 + count * 4000 * 512, "MALLOC", "/w/model.py(%d): forward\n/w/train.py(9): <module>\n" % (count % 90)
            live.append((address, size))
            used += size
        count += 1
        file.write('%d,%s,PTA,N/A,%d,7,8,0,0x%016x,"{allocation_id:%d,addr:0x%016x,size:%d,total:8589934592,used:%d}","%s",\n'
                   % (count, event, 1764753365728889000 + count * 1000, address, count, address, size, used, stack))
    return count


def mindspore(size_bytes, file):
    file.write("start_time_stamp,end_time_stamp,device_addr,stream_id,pool_type,size,actual_peak_memory,file_name,line_num,type,"
               "producer_task,task_name,node_name,graph_name,user_tasks,python_stack,\n")
    count = 0
    while file.tell() < size_bytes:
        file.write("%d,%d,0x%x,0,Ascend,512,0,graph.cc,3,Kernel,4,task_%d,Default/op%d,g,{1-2-},File:/w/train.py;Line:7;"
                   "Function:<module>|File:/w/net.py;Line:%d;Function:construct|,\n"
                   % (2 * count, 2 * (count + LIVE) + 1, 0x12C000000000 + count * 512, count % 50, count % 90, count % 77))
        count += 1
    return 2 * count


def main(kind, megabytes, path):
    with open(path, "w") as file:
        print({"kineto": kineto, "msmemscope": msmemscope, "mindspore": mindspore}[kind](int(float(megabytes) * 1e6), file))


main(*sys.argv[1:])
