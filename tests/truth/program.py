# SPDX-License-Identifier: Apache-2.0
"""A program that never ran: calls, lines, tensors, a backward pass; and the snapshot that torch would have written of it.

Stacks come in two styles: "python" has the lines of the program alone, and for memory of autograd's thread nothing;
"all" has what torch's default gives: C++ below, the interpreter's own C code between, in one of the shapes in which real
files have it.
"""
import contextlib
import pickle

from pool import Pool

SITE_PACKAGES = "/opt/env/lib/python3.11/site-packages/"
MODULE = SITE_PACKAGES + "torch/nn/modules/module.py"
CPP_ALLOC = [("??", 0, "torch::unwind::unwind()"),
             ("??", 0, "torch::CapturedTraceback::gather(bool, bool, bool)"),
             ("memory_snapshot.cpp", 0, "torch::cuda::(anonymous namespace)::gather_with_cpp()"),
             ("CUDACachingAllocator.cpp", 0,
              "c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(signed char, unsigned long)"),
             ("", 0, "c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::allocate(unsigned long)"),
             ("??", 0, "at::detail::empty_cuda(c10::ArrayRef<long>, c10::TensorOptions const&)")]
CPP_FREE = CPP_ALLOC[:3] + [("CUDACachingAllocator.cpp", 0,
                             "c10::cuda::CUDACachingAllocator::Native::local_raw_delete(void*)"),
                            ("??", 0, "c10::TensorImpl::~TensorImpl()")]
ENGINE = [("", 0, "torch::autograd::Node::operator()(std::vector<at::Tensor, std::allocator<at::Tensor> >&&)"),
          ("??", 0, "torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&)"),
          ("??", 0, "torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)"),
          ("??", 0, "torch::autograd::python::PythonEngine::thread_init(int)"),
          ("thread48.o", 0, "execute_native_thread_routine"), ("??", 0, "pthread_condattr_setpshared"),
          ("??", 0, "__xmknodat")]
NAMED = "/usr/local/src/conda/python-3.11.9/"
TAIL = {"stripped": [("??", 0, name) for name in
                     ("PyEval_EvalCode", "run_eval_code_obj", "run_mod.llvm.9196888086361497952", "pyrun_file",
                      "_PyRun_SimpleFileObject", "Py_RunMain", "Py_BytesMain", "__libc_start_main", "_start")],
        "named": [(NAMED + "Python/ceval.c", 578, "PyEval_EvalCode"),
                  (NAMED + "Python/pythonrun.c", 1722, "run_eval_code_obj"),
                  (NAMED + "Modules/main.c", 763, "Py_BytesMain"), ("??", 0, "__libc_start_main"), ("??", 0, "_start")]}
BETWEEN = {"stripped": [[("??", 0, "_PyEval_EvalFrameDefault"), ("??", 0, "method_vectorcall.llvm.12275804309777372242")],
                        [("??", 0, "_PyEval_EvalFrameDefault"), ("??", 0, "_PyObject_Call_Prepend"),
                         ("??", 0, "slot_tp_call")]],
           "named": [[(NAMED + "Python/ceval.c", 7343, "do_call_core"),
                      (NAMED + "Objects/call.c", 267, "_PyObject_MakeTpCall"),
                      (NAMED + "Include/internal/pycore_ceval.h", 73, "_PyEval_EvalFrame")],
                     [(NAMED + "Objects/typeobject.c", 8494, "slot_tp_call"),
                      (NAMED + "Objects/call.c", 387, "PyCFunction_Call")]]}


class Program:
    def __init__(self, random, style):
        self.random, self.style = random, style
        self.pool = Pool()
        self.calls = []  # [file, line, function], outermost first
        self.known, self.known_frames = {}, {}
        self.shape = random.choice(("stripped", "named"))
        self.is_cut = random.random() < 0.5  # as with Python 3.13: the interpreter shows once, then lines alone
        self.steps = None                    # entry at which each iteration begins; None: there are none
        self.cores = []                      # entry in each of them that is well within it
        self.rank = 0                        # of several files
        self.leaks = []                      # sets of labels: one of each is to be found
        self.replaced = set()                # labels of what is born where as much of its size dies
        self.categories = {}                 # entry of an allocation -> what it may be called; of others nothing is right
        self.allows_steps = 1                # that may be claimed where there are none
        self.is_steps_open = False           # what an iteration is can be seen in more than one way: none is fine

    # ---- Calls ----

    @contextlib.contextmanager
    def call(self, file, function, line=1):
        self.calls.append([file, line, function])
        yield self
        self.calls.pop()

    @contextlib.contextmanager
    def module(self, file, line=1):
        """model(x): through nn.Module to forward."""
        with self.call(MODULE, "_wrapped_call_impl", 1739), self.call(MODULE, "_call_impl", 1750), \
                self.call(file, "forward", line):
            yield self

    def at(self, line):
        self.calls[-1][1] = line
        return self

    def begin_step(self):
        self.steps = (self.steps or []) + [len(self.pool.entries)]

    def core(self):
        self.cores.append(len(self.pool.entries))

    def end_steps(self):
        self.steps.append(len(self.pool.entries))

    # ---- Stacks ----

    def frame(self, place):
        if place not in self.known_frames:
            self.known_frames[place] = {"filename": place[0], "line": place[1], "name": place[2]}
        return self.known_frames[place]

    def stack(self, operator, cpp):
        lines = [tuple(call) for call in reversed(self.calls)]
        if self.style == "python":
            return lines
        out = list(cpp) + [("??", 0, f"at::_ops::{operator}::call(at::Tensor const&)"),
                           ("python_torch_functions_0.cpp", 0,
                            f"torch::autograd::THPVariable_{operator}(_object*, _object*, _object*)")]
        between, tail = BETWEEN[self.shape], TAIL[self.shape]
        if self.is_cut:
            return out + lines[:1] + between[0] + tail + lines[1:]
        for i, line in enumerate(lines):
            out += [line] + between[i % len(between)]
        return out + tail

    def frames(self, key, places):
        if key not in self.known:
            self.known[key] = [self.frame(place) for place in places()]
        return self.known[key]

    def here(self, operator, cpp, kind):
        key = (kind, operator, tuple(tuple(call) for call in self.calls))
        return self.frames(key, lambda: self.stack(operator, cpp))

    def in_autograd(self, node):
        if self.style == "python":
            return self.frames("autograd", list)
        return self.frames(("autograd", node), lambda: CPP_ALLOC + [
            ("??", 0, f"torch::autograd::generated::{node}Backward0::apply(std::vector<at::Tensor>&&)")] + ENGINE)

    # ---- Tensors ----

    def new(self, size, operator="empty", is_a=None):
        return self.known_as(self.pool.alloc(int(size), self.here(operator, CPP_ALLOC, 0)), is_a)

    def new_in_autograd(self, size, node, is_a="temporary|gradient"):
        return self.known_as(self.pool.alloc(int(size), self.in_autograd(node)), is_a)

    def known_as(self, tensor, is_a):
        if is_a is not None:
            tensor.entry = len(self.pool.entries) - 1
            self.categories[tensor.entry] = is_a.split("|")
        return tensor

    def drop(self, *tensors):
        for tensor in tensors:
            if tensor is not None:
                self.pool.free(tensor, self.here("free", CPP_FREE, 1))

    def drop_in_autograd(self, *tensors):
        for tensor in tensors:
            self.pool.free(tensor, self.in_autograd("Accumulate"))

    def empty_cache(self):
        self.pool.empty_cache(self.here("empty_cache", CPP_FREE, 2))

    # ---- The file ----

    def label(self, line=None):
        file, own, function = self.calls[-1]
        return f"{file.split('/')[-1]}:{line or own} {function}"

    def leaks_here(self, *others):
        wanted = frozenset((self.label(),) + others)
        if wanted not in self.leaks:
            self.leaks.append(wanted)

    def replaces_here(self):
        self.replaced.add(self.label())

    def cut(self, begin):
        """The entries before `begin` are gone."""
        del self.pool.entries[:begin]
        self.steps = [at - begin for at in self.steps if at >= begin]
        self.cores = [at - begin for at in self.cores if at >= begin]
        self.categories = {at - begin: names for at, names in self.categories.items() if at >= begin}

    def write(self, path):
        settings = {"PYTORCH_CUDA_ALLOC_CONF": "", "expandable_segments": False}
        content = {"segments": self.pool.state(), "device_traces": [self.pool.entries], "allocator_settings": settings,
                   "external_annotations": []}
        with open(path, "wb") as out:
            pickle.dump(content, out, 4)
