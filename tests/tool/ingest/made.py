#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small input of each kind of docs/imports.md, in folder `work`, that holds all that the kind can. MADE: how its row begins -> what makes it."""
import json
import os
import sqlite3

MIB = 1 << 20
work = None


def write(name, text):
    path = "%s/%s" % (work, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def memory(ts, address, size, allocated, reserved):
    return {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts, "s": "t",
            "args": {"Addr": address, "Bytes": size, "Device Type": 20, "Device Id": 0, "Total Allocated": allocated, "Total Reserved": reserved}}


def kineto():
    return write("kineto.json", json.dumps({"schemaVersion": 1, "traceEvents": [
        memory(1.0, 4096, 512, 512, 2 * MIB), memory(2.0, 8192, 512, 1024, 2 * MIB), memory(3.0, 4096, -512, 512, 2 * MIB)]}))


def msmemscope():
    rows = ["1,MALLOC,HAL,N/A,1764753365000000000,7,7,0,0x1000000,\"{allocation_id:1,addr:0x1000000,size:2097152,owner:CANN@APP,MID:33}\",,",
            "2,MALLOC,PTA,N/A,1764753365000001000,7,7,0,0x1000000,\"{allocation_id:2,addr:0x1000000,size:512,total:2097152,used:512}\",,",
            "3,FREE,PTA,N/A,1764753365000002000,7,7,0,0x1000000,\"{allocation_id:2,addr:0x1000000,size:512,total:2097152,used:0}\",,",
            "4,SNAPSHOT,N/A,N/A,1764753365000003000,7,7,0,N/A,\"{total_mem:65536000,free_mem:6553600,reserved:2097152,peak_reserved:2097152,allocated:0,peak_allocated:512}\",,",
            "5,OOM_DETAIL,OOM_TRIGGER,N/A,1764753365000004000,7,7,0,N/A,\"{func:rtMalloc,req_size:65536000,flag:0,ret:207001}\",,"]
    return write("memscope_dump_1.csv", "ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,Call Stack(Python),Call Stack(C)\n"
                 + "\n".join(rows) + "\n")


def ascend():
    write("ascend_pt/ASCEND_PROFILER_OUTPUT/memory_record.csv",
          "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type\n"
          "PTA,1000.5\t,1.0,20.0,1.0,1,NPU:0\nAPP,1000.6\t,,300.0,,,NPU:0\nPTA,1003.5\t,0.0,20.0,0.0,1,NPU:0\n")
    write("ascend_pt/ASCEND_PROFILER_OUTPUT/operator_memory.csv",
          "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),Active Duration(us),Allocation Total Allocated(MB),"
          "Allocation Total Reserved(MB),Allocation Total Active(MB),Release Total Allocated(MB),Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type\n"
          "aten::add,1024.0,1000.5\t,1003.5\t,1003.5\t,3.0,3.0,1.0,20.0,1.0,0.0,20.0,0.0,1,NPU:0\n")
    return work + "/ascend_pt"


def database(name, tables):
    path = "%s/%s" % (work, name)
    with sqlite3.connect(path) as db:
        for table, columns, rows in tables:
            db.execute("CREATE TABLE %s (%s)" % (table, columns))
            db.executemany("INSERT INTO %s VALUES (%s)" % (table, ",".join("?" * len(rows[0]))), rows)
    db.close()
    return path


def msprof():
    return database("msprof_0.db", [
        ("STRING_IDS", "id INTEGER, value TEXT", [(1, "GE"), (2, "MatMul")]),
        ("ENUM_MEMORY", "id INTEGER, name TEXT", [(0, "app"), (5, "allocate"), (6, "release")]),
        ("MEMORY_RECORD", "component INTEGER, timestamp INTEGER, totalAllocated INTEGER, totalReserved INTEGER, totalActive INTEGER, streamPtr INTEGER, deviceId INTEGER",
         [(1, 1000, MIB, 4 * MIB, MIB, 0, 0), (1, 2000, 0, 4 * MIB, 0, 0, 0)]),
        ("NPU_OP_MEM", "operatorName INTEGER, addr INTEGER, type INTEGER, size INTEGER, timestampNs INTEGER, globalTid INTEGER, totalAllocate INTEGER, totalReserve INTEGER, component INTEGER, deviceId INTEGER",
         [(2, 4096, 5, MIB, 1000, (7 << 32) + 7, MIB, 4 * MIB, 1, 0), (2, 4096, 6, MIB, 2000, (7 << 32) + 7, 0, 4 * MIB, 1, 0)]),
        ("NPU_MEM", "type INTEGER, ddr INTEGER, hbm INTEGER, timestampNs INTEGER, deviceId INTEGER", [(0, 0, 300 * MIB, 1500, 0)])])


def npu_mem():
    return write("npu_mem.csv", "Device_id,event,ddr(KB),hbm(KB),memory(KB),timestamp(us)\n0,app,0,307200,307200,1000.5\n0,device,0,409600,409600,1001.5\n")


def log():
    return write("train.log", "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 29.50 GiB total capacity; 28.00 GiB already allocated; "
                 "28.00 GiB current active; 500.00 MiB free; 28.10 GiB reserved in total by PyTorch)\n")


def mindspore():
    return write("memory_block.csv", "start_time_stamp,end_time_stamp,device_addr,stream_id,pool_type,size,actual_peak_memory,type,task_name,node_name,python_stack,\n"
                 "1,3,0x1000,0,default,512,512,Kernel,t,n,,\n2,9223372036854775807,0x2000,0,default,512,1024,Weight,t,m,,\n")


MADE = {"torch.profiler": kineto, "msMemScope": msmemscope, "Ascend PyTorch Profiler": ascend, "msprof db": msprof, "msprof npu_mem": npu_mem, "a log": log, "`memory_block.csv`": mindspore}
