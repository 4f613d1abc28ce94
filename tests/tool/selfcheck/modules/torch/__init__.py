# SPDX-License-Identifier: Apache-2.0
"""As much of torch as npumem-record --selfcheck needs, on libtorch_like.so (FAKE_TORCH_LIBRARY), which treats the stand-in
for CANN as torch_npu treats CANN. FAKE_TORCH says what goes wrong: a word of the list in selfcheck.sh.
"""
import ctypes
import os
import sys
import time

FAULT = os.environ.get("FAKE_TORCH", "")
ADD, ROWS_RUN = 0, 64

__version__ = "2.1.0+fake"
float32 = "float32"

if FAULT == "unimportable":
    raise OSError("libhccl.so: cannot open shared object file")
if FAULT == "crash" and "npumem" in os.environ.get("LD_PRELOAD", ""):
    print("something is wrong with me", file=sys.stderr)
    os.abort()
if FAULT == "sleep":
    time.sleep(60)

library = ctypes.CDLL(os.environ["FAKE_TORCH_LIBRARY"])
library.torch_like_alloc.restype = ctypes.c_void_p
library.torch_like_alloc.argtypes = [ctypes.c_size_t]
library.torch_like_free.argtypes = [ctypes.c_void_p]
library.torch_like_run.argtypes = [ctypes.c_int] + [ctypes.c_void_p] * 3 + [ctypes.c_int64, ctypes.c_int]
library.torch_like_report.argtypes = [ctypes.c_char_p, ctypes.c_char_p]


class Tensor:
    def __init__(self, rows, columns):
        self.shape = (rows, columns)
        self.address = library.torch_like_alloc(rows * columns * 4)
        if not self.address:
            raise MemoryError

    def __del__(self):
        library.torch_like_free(self.address)

    def fill_(self, value):
        return self

    def _with(self, other):
        out = Tensor(*self.shape)
        if library.torch_like_run(ADD, self.address, other.address, out.address, ROWS_RUN, 0) != 0:
            raise RuntimeError
        return out

    __matmul__ = __add__ = _with


def empty(shape, dtype, device):
    assert (dtype, device) == (float32, "npu:0")
    return Tensor(*shape)
