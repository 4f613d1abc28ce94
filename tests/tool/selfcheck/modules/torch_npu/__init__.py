# SPDX-License-Identifier: Apache-2.0
"""As much of torch_npu as npumem-record --selfcheck needs."""
from torch import FAULT

if FAULT == "no torch_npu":
    raise ModuleNotFoundError("No module named 'torch_npu'", name="torch_npu")

from . import npu

__version__ = "2.1.0.post3+fake"
