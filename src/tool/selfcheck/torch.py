# SPDX-License-Identifier: Apache-2.0
"""What npumem-record --selfcheck records where there is torch_npu: a loop of tensors, and then the most of them at once.

Prints lines `npumem-selfcheck KEY VALUE`. Exit status 77: there is nothing to run on, and the line `why` says what is missing.
"""
import ctypes
import platform
import sys
import time

STEPS = 100
WARM = 5
ROWS = 512
WIDE = 12
NOT_HERE = 77


def tell(key, value):
    print("npumem-selfcheck {} {}".format(key, " ".join(str(value).split())), flush=True)


def give_up(why):
    tell("why", why)
    sys.exit(NOT_HERE)


try:
    import torch
    import torch_npu
except ModuleNotFoundError as failure:
    give_up("{} has no module {}".format(sys.executable, failure.name))
except Exception as failure:
    give_up("torch_npu is there, but cannot be imported: {}: {}".format(type(failure).__name__, failure))

npu = torch_npu.npu


def find_mark():
    """The recorder's own, while it records."""
    try:
        return ctypes.CDLL(None).npumem_mark
    except AttributeError:
        return lambda text: None


mark = find_mark()


def device_free_bytes():
    """By aclrtGetMemInfo: of HBM, or of DDR where there is none. None: it does not say."""
    free, total = ctypes.c_size_t(0), ctypes.c_size_t(0)
    try:
        acl = ctypes.CDLL("libascendcl.so")
    except OSError:
        return None
    for kind in (1, 0):
        if acl.aclrtGetMemInfo(kind, ctypes.byref(free), ctypes.byref(total)) == 0 and total.value:
            return free.value
    return None


def tell_device(key, moment):
    npu.synchronize()
    free = device_free_bytes()
    mark(moment.encode())
    if free is not None:
        tell(key, free)


def tensor(rows, value):
    return torch.empty((rows, ROWS), dtype=torch.float32, device="npu:0").fill_(value)


def layer(hidden, weight):
    return hidden @ weight + hidden


def train_step(weights, number):
    kept = [tensor(ROWS * (1 + number % 3), 1.0)]
    for weight in weights:
        kept.append(layer(kept[-1], weight))
    return kept


def hold_most(weights):
    kept = [tensor(ROWS * 6, float(number)) for number in range(WIDE)]
    tell_device("device_peak_free_bytes", "selfcheck peak")
    return len(kept)


def tell_versions():
    tell("version", "Python " + platform.python_version())
    tell("version", "torch " + torch.__version__)
    tell("version", "torch_npu " + torch_npu.__version__)
    try:
        tell("version", "device " + npu.get_device_name(0))
    except Exception:
        pass


def tell_libraries():
    """Those of CANN, by their files."""
    with open("/proc/self/maps") as maps:
        paths = {line.split(None, 5)[5].strip() for line in maps if line.count("/") > 0}
    for path in sorted(paths):
        if path.rpartition("/")[2].startswith(("libacl", "libascend", "libruntime")):
            tell("library", path)


def main():
    try:
        if not npu.is_available():
            give_up("torch_npu is there, but sees no NPU")
        npu.set_device(0)
        warm = tensor(ROWS, 0.0)
    except Exception as failure:
        give_up("torch_npu is there, but the NPU cannot be used: {}: {}".format(type(failure).__name__, failure))
    tell_versions()
    tell_libraries()
    warm = layer(warm, warm)
    del warm
    npu.synchronize()
    npu.empty_cache()
    tell_device("device_begin_free_bytes", "selfcheck begin")

    weights = [tensor(ROWS, 0.001) for _ in range(4)]
    for number in range(WARM):
        train_step(weights, number)
    npu.synchronize()
    begin = time.perf_counter()
    for number in range(STEPS):
        train_step(weights, number)
    npu.synchronize()
    tell("loop_ns", int((time.perf_counter() - begin) * 1e9))
    tell("step_count", STEPS)
    hold_most(weights)
    tell("allocated_peak_bytes", npu.max_memory_allocated())
    tell("reserved_peak_bytes", npu.max_memory_reserved())
    count = npu.memory_stats().get("allocation.all.allocated")
    if count is not None:
        tell("allocation_count", count)


main()
