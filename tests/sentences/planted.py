# SPDX-License-Identifier: Apache-2.0
"""Snapshots of programs that ran out of memory, as tests/truth/out_of_memory.py plants their causes."""
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import out_of_memory  # noqa: E402


def snapshot(path, name, style="python"):
    made = out_of_memory.Program(random.Random(name), style)
    made.pool = out_of_memory.Device()
    made.calls = [["/w/main.py", 90, "<module>"], ["/w/main.py", 80, "main"]]
    out_of_memory.SNAPSHOTS[name][0](made)
    made.write(path)
