#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""snapshot_sites.py INGEST WORK_DIR [FILE...]: whether the sites of a snapshot are what its author can change.

A snapshot of stacks="all" holds the frames of Python, of the framework and of the interpreter in one list. Each stack here
stands with the site that a person would name. And each snapshot, those given too, is loaded twice: with all frames and with
those of Python alone. The sites must be the same, but for memory without a frame of Python, which nobody can name then.
"""
import pickle
import sqlite3
import subprocess
import sys

TORCH = "/env/lib/python3.12/site-packages/torch"


def native(*names, file="??"):
    return [(name, file, 0) for name in names]


ALLOCATOR = native("torch::unwind::unwind()", "torch::CapturedTraceback::gather(bool, bool, bool)") + [
    ("c10::cuda::CUDACachingAllocator::Native::malloc(int, unsigned long)", "CUDACachingAllocator.cpp", 0),
    ("at::TensorBase at::detail::_empty_generic<long>(c10::ArrayRef<long>)", "", 0),
    ("_object* torch::autograd::TypeError_to_NotImplemented_<&torch::autograd::THPVariable_mul>(_object*)",
     "python_variable_methods.cpp", 0)]
CPYTHON = native("method_vectorcall_VARARGS_KEYWORDS.llvm.75744637", "vectorcall_maybe", "slot_nb_multiply",
                 "PyNumber_Multiply")
EVAL = [("_PyEval_EvalFrameDefault", "/usr/local/src/conda/python-3.12.3/Python/bytecodes.c", 1),
        ("do_call_core", "/usr/src/Python/ceval.c", 7349), ("cfunction_call", "/src/Objects/methodobject.c", 537)]
MAIN = native("run_mod.llvm.919", "pymain_run_file", "Py_BytesMain", "__libc_init_first", "__libc_start_main", "_start")
THREAD = [("torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&)", "??", 0),
          ("torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)", "??", 0),
          ("torch::autograd::python::PythonEngine::thread_init(int, bool)", "??", 0),
          ("execute_native_thread_routine", "thread48.o", 0)] + native("pthread_condattr_setpshared", "__xmknodat")
CALL = [("_call_impl", f"{TORCH}/nn/modules/module.py", 1750)]
VECTOR = "(std::vector<at::Tensor, std::allocator<at::Tensor> >&&)"

CASES = [  # stack, innermost frame first; its site
    (ALLOCATOR + CPYTHON + [("forward", "/home/me/net.py", 12)] + EVAL + CALL + MAIN, "net.py:12 forward"),
    (ALLOCATOR + EVAL + CALL + EVAL + [("<module>", "<string>", 3)] + MAIN, "<string>:3 <module>"),
    (ALLOCATOR + EVAL + [("<module>", "<stdin>", 1)] + MAIN, "<stdin>:1 <module>"),
    (ALLOCATOR + EVAL + [("train", "/tmp/ipykernel_77/1234.py", 9)] + MAIN, "1234.py:9 train"),
    (ALLOCATOR + EVAL + [("train", "<ipython-input-4-0badf00d>", 2)] + MAIN, "<ipython-input-4-0badf00d>:2 train"),
    # A method of Python's own making, and a function that only looks like the interpreter's: both are lines of Python.
    (ALLOCATOR + [("__init__", "/home/me/net.py", 30)] + EVAL + MAIN, "net.py:30 __init__"),
    (ALLOCATOR + [("vectorcall_all", "/home/me/net.py", 31)] + EVAL + MAIN, "net.py:31 vectorcall_all"),
    # The frame that a library without symbols seems to be in goes before no frame of Python, plumbing or not.
    (native("THPStorage_dealloc(_object*)", "some_exported_name") + CALL + EVAL + native("other_name") + MAIN,
     "module.py:1750 _call_impl"),
    # Memory without a line of Python.
    (ALLOCATOR + native("at::_ops::bmm::call(at::Tensor const&)", "torch::autograd::generated::BmmBackward0::apply" + VECTOR,
                        "torch::autograd::Node::operator()" + VECTOR) + THREAD,
     "torch::autograd::generated::BmmBackward0::apply"),
    (ALLOCATOR + native("void my_kernel<float>(float*)", "std::vector<at::Tensor> torch::autograd::CopySlices::apply_impl<"
                        "torch::autograd::CopySlices::apply" + VECTOR + "::{lambda()#1}>" + VECTOR,
                        "torch::autograd::CopySlices::apply" + VECTOR) + THREAD, "torch::autograd::CopySlices::apply"),
    (ALLOCATOR + native("at_npu::autograd::generated::NpuLinearBackward0::apply" + VECTOR) + THREAD,
     "at_npu::autograd::generated::NpuLinearBackward0::apply"),
    (ALLOCATOR + native("torch::autograd::CppNode<(anonymous namespace)::Mine>::apply" + VECTOR) + THREAD,
     "torch::autograd::CppNode<(anonymous namespace)::Mine>::apply"),
    (ALLOCATOR + native("torch::autograd::InputMetadata::reduce_grad(at::Tensor&) const", "nearest_exported_name") + THREAD,
     "autograd (backward)"),
    (ALLOCATOR + native("Worker::apply(int)", "Worker::run()") + THREAD[-3:], "Worker::apply(int)"),
]


def helper_cases(has_fault):
    """A helper that two functions of a program call; with the fault, a third one."""
    callers = ["encode", "decode"] + ["remember"] * has_fault
    return [(ALLOCATOR + [("take", "/home/me/buffers.py", 5), (caller, "/home/me/net.py", 10 + i),
                          ("<module>", "/home/me/net.py", 1)], "buffers.py:5 take") for i, caller in enumerate(callers)]


def is_python(frame):
    file = frame["filename"]
    return file.endswith(".py") or file.startswith("<")


def snapshot_of(cases):
    trace = [{"action": "alloc", "addr": 0x1000000 + 512 * i, "size": 512, "stream": 0,
              "frames": [{"name": name, "filename": file, "line": line} for name, file, line in stack]}
             for i, (stack, _) in enumerate(cases)]
    return {"segments": [], "device_traces": [trace]}


def python_alone(snapshot):
    """The frames of Python alone; and of each entry, whether it has one."""
    has_python = [any(map(is_python, entry.get("frames", ()))) for trace in snapshot["device_traces"] for entry in trace]
    for part in [entry for trace in snapshot["device_traces"] for entry in trace] + [
            block for segment in snapshot["segments"] for block in segment["blocks"]]:
        part["frames"] = [frame for frame in part.get("frames", ()) if is_python(frame)]
    return has_python


def sites_of(ingest, snapshot_file, database_file):
    done = subprocess.run([ingest, "--quiet", "--force", "-o", database_file, snapshot_file])
    if done.returncode not in (0, 3):
        sys.exit(f"{snapshot_file}: {done.returncode}")
    database = sqlite3.connect(database_file)
    sites = dict(database.execute("SELECT alloc_seq, label FROM allocation JOIN heap USING (heap_id) LEFT JOIN stack"
                                  " USING (stack_id) LEFT JOIN frame ON frame.frame_id = site_frame_id"
                                  " WHERE level = 2 AND alloc_seq IS NOT NULL"))
    database.close()
    return sites


def main():
    ingest, work, *files = sys.argv[1:]
    own, twin, database = f"{work}/sites.pickle", f"{work}/twin.pickle", f"{work}/sites.db"
    for cases in (helper_cases(False), helper_cases(True), CASES):  # the same line is the same site, whatever ran beside it
        with open(own, "wb") as out:
            pickle.dump(snapshot_of(cases), out)
        found = sites_of(ingest, own, database)
        for seq, (_, expected) in enumerate(cases):
            if found[seq] != expected:
                sys.exit(f"case {seq} of {len(cases)}: {found[seq]} instead of {expected}")
    for file in [own] + files:
        found = sites_of(ingest, file, database)
        with open(file, "rb") as source:
            snapshot = pickle.load(source)
        has_python = python_alone(snapshot)
        with open(twin, "wb") as out:
            pickle.dump(snapshot, out)
        alone = sites_of(ingest, twin, database)
        for seq, site in found.items():
            if has_python[seq] and site != alone[seq]:
                sys.exit(f"{file}: entry {seq} is at {site}, and at {alone[seq]} with frames of Python alone")


main()
