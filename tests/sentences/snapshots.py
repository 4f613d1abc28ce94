# SPDX-License-Identifier: Apache-2.0
"""Memory snapshots of torch for cases.txt, of a few blocks each."""
import copy
import pickle

MIB = 1 << 20
BASE = 0x7F0000000000


def frame(line, name):
    return {"filename": "/src/model.py", "line": line, "name": name}


def pool(outside=0, times=0, devices=1, private=0, parts=0):
    """Two blocks of 2 MiB in a segment of 20 MiB, that is all the file has to tell. `outside`: so many blocks more that lie in no
    segment; `times`: 1 if events have one; `devices`: how many have events; `private`: 1 if the segment is a captured graph's; `parts`: so many that nobody
    knows."""
    addresses = [BASE, BASE + 2 * MIB] + [BASE + (1 + i) * 1024 * MIB for i in range(outside)]
    blocks = [{"address": address, "size": 2 * MIB, "requested_size": 2 * MIB, "state": "active_allocated", "frames": []}
              for address in addresses[:2]]
    blocks.append({"address": BASE + 4 * MIB, "size": 16 * MIB, "requested_size": 0, "state": "inactive", "frames": []})
    segment = {"device": 0, "address": BASE, "total_size": 20 * MIB, "allocated_size": 4 * MIB, "active_size": 4 * MIB,
               "requested_size": 4 * MIB, "stream": 0, "segment_type": "large", "is_expandable": False, "blocks": blocks}
    if private:
        segment["segment_pool_id"] = (0, 1)
    entries = [{"action": "segment_alloc", "addr": BASE, "size": 20 * MIB, "stream": 0, "frames": [frame(9, "forward")]}]
    entries += [{"action": "alloc", "addr": address, "size": 2 * MIB, "stream": 0, "frames": [frame(9, "forward"), frame(3, "main")]}
                for address in addresses]
    for i, entry in enumerate(entries):
        if times:
            entry["time_us"] = 1700000000000000 + i
    return {"segments": [segment], "device_traces": [copy.deepcopy(entries) for _ in range(devices)],
            **{f"new_part_{i}": [] for i in range(parts)}}


def listed():
    """Of a pool what it holds, and nothing that happened: 100 of 300 MiB, and a segment of 500 MiB that is free as a whole."""
    used = [{"address": BASE, "size": 100 * MIB, "requested_size": 100 * MIB, "state": "active_allocated", "frames": []},
            {"address": BASE + 100 * MIB, "size": 200 * MIB, "requested_size": 0, "state": "inactive", "frames": []}]
    whole = [{"address": BASE + 1024 * MIB, "size": 500 * MIB, "requested_size": 0, "state": "inactive", "frames": []}]
    return {"segments": [{"device": 0, "address": blocks[0]["address"], "total_size": sum(block["size"] for block in blocks), "stream": 0,
                          "segment_type": "large", "is_expandable": False, "blocks": blocks} for blocks in (used, whole)],
            "device_traces": [[]]}


class Snapshots:
    def __init__(self, work):
        self.work = work

    def write(self, path, kind, options):
        with open(f"{self.work}/{path}", "wb") as file:
            pickle.dump(globals()[kind](**{name: int(value) for name, value in options.items()}), file)
