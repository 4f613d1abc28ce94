# SPDX-License-Identifier: Apache-2.0
"""Tell the npumem recorder what a Python program and its memory pools do, ask it what it has seen, and read what came of it.

    import npumem

    with npumem.recording("run.zst"):            # or run the program under `npumem-record -- python3 train.py`
        for batch in data:
            npumem.step()
            with npumem.range("forward"):
                loss = model(batch)
        print(npumem.stats().heaps)

    with npumem.open("run.db") as run:           # what `npumem-ingest run.zst` has made
        for finding in run.findings:
            print(finding.severity, finding.text)

    python -m npumem record train.py             # npumem COMMAND of the same installation; record runs this Python

One file, CPython 3.8 to 3.13, nothing but the standard library: put it on PYTHONPATH, or beside the script. Under
npumem-record it uses the library that is loaded already; else libnpumem.so.0 in the folder NPUMEM_LIBRARY_DIR, beside this
file, beside the npumem-record on PATH, or where the loader finds it. Where there is none, `available` is False and every
call but start() and stats() does nothing: a program that marks its steps runs anywhere, and databases are read anywhere.

Rules: mark, step, range, thread_name, pause, resume, snapshot and what a heap is told never raise and never print; what
they could not take is left out, and problem() has the first one. They keep the interpreter lock, because a call is shorter
than letting it go (start and stop, which wait, let go of it). Any thread may call them, also in a child after fork. Sizes
are bytes. Texts are cut at 255 bytes.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import operator
import os
import sys
import threading
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

__version__ = "0.1.0"
__all__ = [
    "Database", "Error", "Heap", "HeapStats", "Modules", "Row", "Stats", "available", "category", "heap", "is_recording", "mark",
    "modules", "open", "pause", "problem", "range", "recording", "resume", "snapshot", "start", "stats", "step", "stop",
    "thread_name",
]

_LIBRARY = "libnpumem.so.0"
_SESSION = "NPUMEM_SESSION"  # the folder of the rings, in the environment of every recorded process
_TEXT_BYTES_MAX = 255  # NPUMEM_TEXT_BYTES_MAX
_WHY_BYTES = 256
_NO_DEVICE = -1  # NPUMEM_NO_DEVICE
_NO_STREAM = 2**64 - 1  # NPUMEM_NO_STREAM
_LEVELS = {"driver": 1, "pool": 2, "workspace": 3, "pinned": 4, "registered": 5, "host": 6}  # npumem_level
_HIT, _MISS = 1, 2  # npumem_outcome


class Error(RuntimeError):
    """A recording could not be started, or could not be asked; a database could not be opened, or not be asked that."""


# ---- The structs of npumem.h: same fields, same order; a test compares the offsets ----


class _StartOptions(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", ctypes.c_size_t),
        ("output_path", ctypes.c_char_p),
        ("stacks", ctypes.c_char_p),
        ("is_watched", ctypes.c_int),
        ("why", ctypes.c_void_p),
        ("why_bytes", ctypes.c_size_t),
        ("is_paused", ctypes.c_int),
    ]


class _HeapOptions(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("level", ctypes.c_int),
        ("device", ctypes.c_int32),
        ("small_bytes", ctypes.c_uint64),
        ("large_bytes", ctypes.c_uint64),
        ("uses_block_bytes", ctypes.c_int),
    ]


class _AllocOptions(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", ctypes.c_size_t),
        ("block_bytes", ctypes.c_uint64),
        ("stream", ctypes.c_uint64),
        ("outcome", ctypes.c_int),
    ]


class _FreeOptions(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", ctypes.c_size_t),
        ("stream", ctypes.c_uint64),
        ("is_request", ctypes.c_int),
    ]


_ALLOC_OPTIONS_BYTES, _FREE_OPTIONS_BYTES = ctypes.sizeof(_AllocOptions), ctypes.sizeof(_FreeOptions)


# ---- Finding the library ----


def _own_prefixes() -> List[str]:
    """Of the tree that this file is installed in: PREFIX/share/npumem/python, a wheel's PREFIX/lib/python3.N/site-packages,
    or the folder itself (pip install --target)."""
    here = os.path.dirname(os.path.realpath(__file__))
    is_below = here.endswith("/share/npumem/python") or os.path.basename(here) in ("site-packages", "dist-packages")
    return ([os.path.normpath(os.path.join(here, "..", "..", ".."))] if is_below else []) + [here]


def _beside_programs() -> Iterator[str]:
    """Folders of PATH, links resolved, that have npumem-record."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        program = os.path.join(folder, "npumem-record")
        if folder and os.access(program, os.X_OK):
            yield os.path.dirname(os.path.realpath(program))


def _places() -> Iterator[str]:
    """Paths where the library may be; a name without a slash is left to the loader."""
    asked = os.environ.get("NPUMEM_LIBRARY_DIR")
    multiarch = os.uname().machine + "-linux-gnu"
    if asked:
        yield os.path.join(asked, _LIBRARY)
        return
    prefixes = _own_prefixes()
    yield os.path.join(prefixes[-1], _LIBRARY)
    for folder in _beside_programs():
        yield os.path.join(folder, _LIBRARY)
        prefixes.append(os.path.join(folder, ".."))
    for prefix in prefixes:
        for below in ("lib", "lib64", "lib/" + multiarch):
            yield os.path.normpath(os.path.join(prefix, below, _LIBRARY))
    yield _LIBRARY


def _load() -> Tuple[Optional[ctypes.CDLL], str]:
    """The library, or None and why not."""
    try:  # what npumem-record has preloaded
        return ctypes.CDLL(_LIBRARY, mode=os.RTLD_NOLOAD | os.RTLD_NOW), ""
    except OSError:
        pass
    why = _LIBRARY + " is not found: npumem-record is not on PATH, NPUMEM_LIBRARY_DIR is not set"
    for path in _places():
        if os.path.isabs(path) and not os.path.exists(path):
            continue
        try:
            return ctypes.CDLL(path, mode=os.RTLD_NOW), ""
        except OSError as failure:
            if os.path.isabs(path):
                why = str(failure)
    return None, why


def _nothing(*_: Any) -> int:
    return 0


def _bind(library: Any, name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    """A function of the library; one that it lacks (an older one) does nothing."""
    function = getattr(library, name, None)
    if function is None:
        return _nothing
    function.restype, function.argtypes = result, arguments
    return function


_library, _unavailable = _load()
_held = None if _library is None else ctypes.PyDLL(_LIBRARY, handle=_library._handle)

_int, _i32, _i64, _u32, _u64 = ctypes.c_int, ctypes.c_int32, ctypes.c_int64, ctypes.c_uint32, ctypes.c_uint64
_text_pointer, _pointer = ctypes.c_char_p, ctypes.c_void_p

# These wait, so other threads of the interpreter run meanwhile.
_start = _bind(_library, "npumem_start", _int, _pointer)
_stop = _bind(_library, "npumem_stop", _int)
# These do not. Addresses are numbers here: a pointer argument would take a str, too, and hand out where that lies.
_is_recording = _bind(_held, "npumem_is_recording", _int)
_folder = _bind(_held, "npumem_folder", _text_pointer)
_heap_define = _bind(_held, "npumem_heap_define", _u32, _pointer)
_alloc = _bind(_held, "npumem_alloc", None, _u32, _u64, _u64, ctypes.POINTER(_AllocOptions))
_free = _bind(_held, "npumem_free", None, _u32, _u64, ctypes.POINTER(_FreeOptions))
_alloc_failed = _bind(_held, "npumem_alloc_failed", None, _u32, _u64, _i64)
_mark = _bind(_held, "npumem_mark", None, _text_pointer)
_snapshot = _bind(_held, "npumem_snapshot", None, _text_pointer)
_step = _bind(_held, "npumem_step", None, _i64)
_range_begin = _bind(_held, "npumem_range_begin", _u64, _text_pointer)
_range_end = _bind(_held, "npumem_range_end", None, _u64)
_category_begin = _bind(_held, "npumem_category_begin", _u64, _text_pointer)
_module_begin = _bind(_held, "npumem_module_begin", _u64, _text_pointer)
_thread_name = _bind(_held, "npumem_thread_name", None, _text_pointer)
_pause = _bind(_held, "npumem_pause", None)
_resume = _bind(_held, "npumem_resume", None)

available = _library is not None  #: False: no library was found, and problem() says where it was looked for


# ---- What every call uses ----

_problem: Optional[str] = None if available else _unavailable
_epoch = 0  # of the handles of heaps: another one after a start and in a child after fork
_steps = itertools.count(0)


def _text(value: Any) -> bytes:
    """As the recorder takes it: UTF-8, not cut in the middle of a character."""
    data = (value if type(value) is str else str(value)).encode("utf-8", "backslashreplace")
    return data if len(data) <= _TEXT_BYTES_MAX else data[:_TEXT_BYTES_MAX].decode("utf-8", "ignore").encode()


def _note(what: str, failure: Exception) -> None:
    global _problem
    if _problem is None:
        try:
            _problem = "{}: {}".format(what, failure)
        except Exception:
            _problem = what


def _forget_heaps() -> None:
    global _epoch
    _epoch += 1


os.register_at_fork(after_in_child=_forget_heaps)


def problem() -> Optional[str]:
    """Why nothing is recorded (no library), or what the first call that could not be recorded was given; else None."""
    return _problem


def is_recording() -> bool:
    """Whether this process records."""
    return _is_recording() != 0


# ---- Beginning and ending ----


def _check_output(output: bytes) -> None:
    """Says at once what npumem-record could say nobody: its standard error is not ours."""
    folder = os.path.dirname(output) or b"."
    if output == b"-" or b"\0" in output or not output:
        raise ValueError("output must be the name of a file")
    if b"%" in folder or os.access(folder, os.W_OK | os.X_OK):
        return
    reason = "cannot be written" if os.path.isdir(folder) else "is no folder"
    raise Error("cannot record into {}: {} {}".format(os.fsdecode(output), os.fsdecode(folder), reason))


def start(
    output: Optional[Union[str, bytes, "os.PathLike[str]"]] = None, stacks: Optional[str] = None, watch: bool = True,
    paused: bool = False
) -> bool:
    """Starts recording this process and the processes it starts from here on; npumem-record runs beside it, detached.

    output: as npumem-record -o, with its %h, %p, %t; default npumem-%h-%p.zst; a name that exists gets a suffix.
    stacks: as npumem-record --stacks; default as there.
    watch:  keep the figures that stats() asks for: about half a microsecond an event, of another process's time.
    paused: record nothing but what is live until resume(); the figures are kept then, too.

    True: it began. False: something records already (npumem-record is around the program), or NPUMEM=off is set.
    Raises Error when it cannot, with the reason. What this process records then is what it is told (heaps, marks, steps):
    calls of ACL are seen only in what npumem-record runs.
    """
    if not available:
        raise Error(_unavailable)
    if is_recording() or os.environ.get("NPUMEM") == "off":
        return False
    name = None if output is None else os.fsencode(output)
    if name is not None:
        _check_output(name)
    why = ctypes.create_string_buffer(_WHY_BYTES)
    options = _StartOptions(
        ctypes.sizeof(_StartOptions), name, None if stacks is None else stacks.encode(), bool(watch),
        ctypes.addressof(why), _WHY_BYTES, bool(paused))
    if _start(ctypes.byref(options)) != 0:
        raise Error("cannot record: " + (why.value.decode("utf-8", "replace") or "npumem-record cannot be started"))
    _forget_heaps()
    _copy_session()
    return True


def stop() -> bool:
    """Ends what start() began, and waits until the trace is whole, at most 10 seconds.

    True: it is. False: nothing was recording, or the trace is not whole yet, as when a child process still records into it.
    Under npumem-record, and in a child of the process that called start(): does nothing, and is True.
    """
    is_whole = available and _stop() == 0
    _copy_session()
    return is_whole


def _copy_session() -> None:
    """The library sets the variable where os.environ does not look; programs are started with copies of os.environ."""
    folder = ctypes.PyDLL(None).getenv
    folder.restype = ctypes.c_char_p
    value = folder(_SESSION.encode())
    if value is None:
        os.environ.pop(_SESSION, None)
    else:
        os.environ[_SESSION] = os.fsdecode(value)


class recording:
    """`with npumem.recording("run.zst"):` records the block; arguments and errors as of start().

    Where something records already, it goes on, before and behind the block.
    """

    def __init__(
        self, output: Optional[Union[str, bytes, "os.PathLike[str]"]] = None, stacks: Optional[str] = None,
        watch: bool = True, paused: bool = False
    ) -> None:
        self._arguments = (output, stacks, watch, paused)
        self._has_begun = False

    def __enter__(self) -> recording:
        self._has_begun = start(*self._arguments)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._has_begun:
            stop()


# ---- What the program is doing ----


def mark(text: Any) -> None:
    """A moment of its own in every answer."""
    try:
        _mark(_text(text))
    except Exception as failure:
        _note("mark", failure)


def snapshot(text: Any = "snapshot") -> None:
    """A mark, after which everything up to it is soon in the file: it may be ingested while the program runs."""
    try:
        _snapshot(_text("snapshot" if text is None else text))
    except Exception as failure:
        _note("snapshot", failure)


def step(number: Optional[int] = None) -> None:
    """A training step of this process begins, and the one before it ends.

    Without a number: one more than the last; the first is 0. To let an optimizer of torch tell it:
    optimizer.register_step_post_hook(lambda *_: npumem.step())
    """
    global _steps
    try:
        if number is None:
            number = next(_steps)
        else:
            if type(number) is not int:
                number = operator.index(number)
            _steps = itertools.count(number + 1)
        _step(number)
    except Exception as failure:
        _note("step", failure)


def thread_name(name: Any) -> None:
    """What the answers call the calling thread."""
    try:
        _thread_name(_text(name))
    except Exception as failure:
        _note("thread_name", failure)


def pause() -> None:
    """From here to resume() this process records only which memory comes and goes, without stacks."""
    _pause()


def resume() -> None:
    """Ends any number of pauses, and for this process that of a recording that began paused."""
    _resume()


class range:
    """A range of the calling thread, with a name: `with npumem.range("forward"):`, or `@npumem.range("load")`.

    Ranges nest. A coroutine or generator function that is decorated has one from its first step to its last. One object
    may be used again and again, but by one thread at a time; a decorated function by any number.
    """

    __slots__ = ("_name", "_open")
    _begin = staticmethod(_range_begin)

    def __init__(self, name: Any) -> None:
        self._open: List[int] = []
        try:
            self._name = _text(name)
        except Exception as failure:
            self._name = type(self).__name__.encode()
            _note(type(self).__name__, failure)

    def __enter__(self) -> range:
        self._open.append(self._begin(self._name))
        return self

    def __exit__(self, *_: Any) -> None:
        if self._open:
            _range_end(self._open.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        import inspect

        kind, name, begin = type(self), self._name, self._begin
        if inspect.iscoroutinefunction(function):

            async def run_coroutine(*positional: Any, **named: Any) -> Any:
                with _again(kind, name):
                    return await function(*positional, **named)

            return functools.wraps(function)(run_coroutine)
        if inspect.isgeneratorfunction(function):

            def run_generator(*positional: Any, **named: Any) -> Any:
                with _again(kind, name):
                    return (yield from function(*positional, **named))

            return functools.wraps(function)(run_generator)

        def run(*positional: Any, **named: Any) -> Any:
            begun = begin(name)
            try:
                return function(*positional, **named)
            finally:
                _range_end(begun)

        return functools.wraps(function)(run)


def _again(kind: Any, name: bytes) -> range:
    """A range whose name is encoded already."""
    made = kind.__new__(kind)
    made._name, made._open = name, []
    return made


class category(range):
    """What the calling thread allocates in the block is what the name says: `with npumem.category("KV cache"):`.

    "weight", "gradient", "optimizer state", "activation", "KV cache", "workspace", "communication", "graph", "temporary", or
    a word of your own. Used as range is, also as a decorator. Of several around an allocation the innermost counts.
    """

    __slots__ = ()
    _begin = staticmethod(_category_begin)


# ---- Modules of a model ----


class _Hook:
    """A hook of a module. That of a copy of the model, or of one that was pickled, does nothing."""

    __slots__ = ("_run",)

    def __init__(self, run: Callable[[], Any] = _nothing) -> None:
        self._run = run

    def __call__(self, *_: Any) -> None:
        self._run()

    def __reduce__(self) -> Any:
        return _Hook, ()


class Modules:
    """Made by modules(). remove() takes the hooks out again; so does the end of a `with` block."""

    def __init__(self) -> None:
        self._handles: List[Any] = []
        self._own = threading.local()

    def _open(self) -> List[Tuple[bytes, int]]:
        """Ranges of the calling thread, outermost first."""
        if not hasattr(self._own, "open"):
            self._own.open = []
        return self._own.open

    def _begin(self, path: bytes, is_root: bool) -> None:
        if is_root:  # nothing is open unless an exception went past the hooks
            self._end_from(0)
        self._open().append((path, _module_begin(path)))

    def _end(self, path: bytes) -> None:
        """What was begun within it and has no end is ended with it."""
        begun = self._open()
        at = len(begun) - 1
        while at >= 0 and begun[at][0] != path:
            at -= 1
        if at >= 0:
            self._end_from(at)

    def _end_from(self, at: int) -> None:
        begun = self._open()
        while len(begun) > at:
            _range_end(begun.pop()[1])

    def _add(self, module: Any, path: bytes, is_root: bool) -> None:
        end = _Hook(functools.partial(self._end, path))
        self._handles.append(module.register_forward_pre_hook(_Hook(functools.partial(self._begin, path, is_root))))
        try:  # torch from 2.0 on: also when forward raises
            self._handles.append(module.register_forward_hook(end, always_call=True))
        except TypeError:
            self._handles.append(module.register_forward_hook(end))

    def remove(self) -> None:
        """Takes the hooks out of the model. What is open in the calling thread ends. May be called again."""
        while self._handles:
            self._handles.pop().remove()
        self._end_from(0)

    def __enter__(self) -> Modules:
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()


def modules(model: Any, name: Any = "model") -> Modules:
    """Makes the forward of each module of a torch model a range: view peak_by_module is then a tree of what they hold.

    A range is called by the module's place in the model, below `name`: "model.layers.3.mlp". It is of the thread that calls
    the module; an exception ends it, too. It costs two hooks a call. torch.compile sees the hooks: call it on the model that
    is compiled, not before.

    Never raises: what cannot take a hook is left out, and problem() says so.
    """
    made = Modules()
    try:
        root = _text(name)
        for path, module in model.named_modules():
            try:
                made._add(module, root + b"." + _text(path) if path else root, not path)
            except Exception as failure:
                _note("modules", failure)
    except Exception as failure:
        _note("modules", failure)
    return made


# ---- Heaps ----


class Heap:
    """What hands out memory; made by heap(). Its methods never raise."""

    __slots__ = ("_options", "_name", "_handle", "_epoch")

    def __init__(self, options: _HeapOptions) -> None:
        self._options, self._name = options, options.name  # the struct points into the name
        self._handle, self._epoch = 0, -1

    def _define(self) -> int:
        """Its number in this process and recording; 0 while nothing records."""
        self._epoch = _epoch
        self._handle = _heap_define(ctypes.byref(self._options)) if _is_recording() else 0
        return self._handle

    def alloc(
        self, address: int, requested_bytes: int, block_bytes: int = 0, stream: Optional[int] = None,
        hit: Optional[bool] = None
    ) -> None:
        """`address` was handed out: call it after the allocation, before anybody else learns the address.

        block_bytes: what was handed out; 0: not known. stream: None: not known; 0 is the default stream.
        hit: whether the pool served it by itself; None: npumem finds out.
        """
        try:
            if (self._handle == 0 or self._epoch != _epoch) and not self._define():
                return
            if type(address) is not int:
                address = operator.index(address)
            if type(requested_bytes) is not int or requested_bytes < 0:
                requested_bytes = _size(requested_bytes)
            if not block_bytes and stream is None and hit is None:
                _alloc(self._handle, address, requested_bytes, None)
                return
            options = _AllocOptions(
                _ALLOC_OPTIONS_BYTES, block_bytes, _NO_STREAM if stream is None else stream,
                0 if hit is None else _HIT if hit else _MISS)
            _alloc(self._handle, address, requested_bytes, options)
        except Exception as failure:
            _note("alloc", failure)

    def free(self, address: int, stream: Optional[int] = None, is_request: bool = False) -> None:
        """`address` is given back: call it before the pool can hand it out again.

        is_request: it is given up, but not reusable before a second free() without it (another stream uses it).
        """
        try:
            if (self._handle == 0 or self._epoch != _epoch) and not self._define():
                return
            if type(address) is not int:
                address = operator.index(address)
            if stream is None and not is_request:
                _free(self._handle, address, None)
                return
            options = _FreeOptions(_FREE_OPTIONS_BYTES, _NO_STREAM if stream is None else stream, bool(is_request))
            _free(self._handle, address, options)
        except Exception as failure:
            _note("free", failure)

    def alloc_failed(self, requested_bytes: int, error_code: int = 0) -> None:
        """A request that could not be served; error_code is the pool's or the runtime's (207001: out of memory)."""
        try:
            if (self._handle == 0 or self._epoch != _epoch) and not self._define():
                return
            _alloc_failed(self._handle, _size(requested_bytes), operator.index(error_code))
        except Exception as failure:
            _note("alloc_failed", failure)


def _size(number: int) -> int:
    size = operator.index(number)
    if size < 0:
        raise ValueError("a size of {} bytes".format(size))
    return size


def heap(
    name: Any, level: str = "pool", device: Optional[int] = None, small_bytes: int = 0, large_bytes: int = 0,
    uses_block_bytes: bool = False
) -> Heap:
    """A heap of this process, to be told what it hands out. The same name, level and device are the same heap.

    level:  "driver", "pool", "workspace", "pinned", "registered" or "host".
    device: as the program counts; None: host memory.
    small_bytes, large_bytes: requests below and above are small and large; 0: 4 KiB and 1 MiB.
    uses_block_bytes: sums use the block's size, not the requested one.

    It may be made before the recording, and be kept across fork: it becomes a heap of the child there. Raises ValueError
    for a level that is none, TypeError for a device that is no number.
    """
    if level not in _LEVELS:
        raise ValueError("level must be one of {}, not {!r}".format(", ".join(_LEVELS), level))
    return Heap(_HeapOptions(
        ctypes.sizeof(_HeapOptions), _text(name), _LEVELS[level],
        _NO_DEVICE if device is None else operator.index(device), _size(small_bytes), _size(large_bytes),
        bool(uses_block_bytes)))


# ---- Asking the recording ----


class HeapStats(NamedTuple):
    """A heap, as the recording stands. reserved_bytes: what a pool holds of the driver; 0: not known."""

    pid: int
    device: Optional[int]  #: as the program counts; None: host memory
    level: str
    name: str
    live_bytes: int
    live_count: int
    peak_bytes: int
    allocation_count: int
    free_count: int
    reserved_bytes: int


class Stats(NamedTuple):
    """The recording, of all its processes; and the heaps that were asked for."""

    events: int
    dropped: int
    file_bytes: int
    processes: int
    heaps: List[HeapStats]


def stats(all_processes: bool = False, timeout_s: float = 10.0) -> Stats:
    """What is live now, in this process (or in all that are recorded), heap by heap: everything is counted that this
    thread has recorded before the call. A question to another process: milliseconds, not for every allocation.

    Raises Error when nothing records, nobody answers in time, or the recording keeps no figures (npumem-record --watch).
    """
    import json

    answer = json.loads(_ask("stats" if all_processes else "stats {}".format(os.getpid()), timeout_s))
    return Stats(
        answer["events"], answer["dropped"], answer["bytes"], answer["processes"],
        [HeapStats(
            row["pid"], row["device"], row["level"], row["heap"],
            row["live_bytes"], row["live_count"], row["peak_bytes"], row["allocation_count"], row["free_count"],
            row["reserved_bytes"]) for row in answer["heaps"]])


def _ask(request: str, timeout_s: float) -> str:
    """The answer's lines to one line, from the socket in the folder of the rings."""
    import socket

    if not available:
        raise Error(_unavailable)
    folder = _folder()
    if not folder:
        raise Error("nothing records")
    parts = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.settimeout(timeout_s)
        try:
            asking.connect(os.path.join(folder, b"ctl"))
            asking.sendall(request.encode() + b"\n")
            part = asking.recv(65536)
            while part:
                parts.append(part)
                part = asking.recv(65536)
        except OSError as failure:
            raise Error("the recording does not answer: {}".format(failure)) from None
    return _judge(b"".join(parts).decode("utf-8", "replace"))


def _judge(answer: str) -> str:
    if answer.endswith("ok\n"):
        return answer[:-3]
    if answer.startswith("error: "):
        raise Error("the recording says: " + answer[7:].rstrip("\n"))
    raise Error("the recording ended before it answered")


# ---- Reading a database ----

_APPLICATION_ID, _SCHEMA_VERSION = 0x4E50554D, 8  # NM_APPLICATION_ID, NM_SCHEMA_VERSION
# What a question may cost, so that a file of somebody else ends: a base, and more for each byte of the file.
_STEPS, _STEPS_PER_BYTE, _STEPS_BETWEEN_LOOKS = 10_000_000, 10, 10_000  # of SQLite's machine
_SECONDS, _SECONDS_PER_BYTE = 60.0, 1e-6  # a step may itself have no end
_VALUE_BYTES_MAX = 1 << 20  # of a value, a row, a question


class Row(Dict[str, Any]):
    """A row by the names of its columns: row["bytes"] or row.bytes. NULL is None."""

    __slots__ = ()

    def __getattr__(self, column: str) -> Any:
        try:
            return self[column]
        except KeyError:
            raise AttributeError("no column {!r}: there are {}".format(column, ", ".join(self))) from None


def open(path: Union[str, bytes, "os.PathLike[str]"], language: str = "en") -> Database:
    """The database at `path`, which npumem-ingest has made, for reading alone. Raises Error where it is none.

    language: of the text of findings: "en", as the database has it; "zh", Chinese, or "auto", as the locale says, of npumem-ingest.
    """
    return Database(path, language)


def _authorize(action: int, *_: Any) -> int:
    """Whether SQLite may: read. A virtual table of SQLite's own may not be made, either."""
    import sqlite3

    may = (sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
    return sqlite3.SQLITE_OK if action in may else sqlite3.SQLITE_DENY


class Database:
    """Made by open(). It may be anybody's: the file is not written to, and a question does nothing but read its tables and
    views, at a cost that is bounded by its size. What it says is data of whoever made it. For the thread that opened it."""

    def __init__(self, path: Union[str, bytes, "os.PathLike[str]"], language: str = "en") -> None:
        if language not in ("en", "zh", "auto"):
            raise Error("language must be en, zh or auto, not {!r}".format(language))
        self.path = os.path.abspath(os.fsdecode(path))  #: of the file
        self._language, self._answer = language, None  # type: str, Any
        file_bytes = self._look()
        self._steps, self._steps_left = _STEPS + file_bytes * _STEPS_PER_BYTE, 0
        self._seconds = _SECONDS + file_bytes * _SECONDS_PER_BYTE
        self._connection = self._connect()
        try:
            self._check_version()
            self._names = self._list_names()
            self._connection.set_authorizer(_authorize)
        except BaseException:
            self._connection.close()
            raise

    def _fail(self, why: str) -> Error:
        return Error("{}: {}".format(self.path, why))

    def _look(self) -> int:
        """The size of the file. SQLite would wait for a pipe, and take any file for an empty database or a damaged one."""
        import io
        import stat

        try:
            info = os.stat(self.path)
            if not stat.S_ISREG(info.st_mode):
                raise self._fail("not a file")
            with io.open(self.path, "rb") as file:
                head = file.read(16)
        except OSError as failure:
            raise self._fail(failure.strerror or str(failure)) from None
        if head != b"SQLite format 3\0":
            raise self._fail("not a database; of a trace or a memory snapshot npumem-ingest makes one")
        return min(info.st_size, info.st_blocks * 512 * 8)  # a file with holes is not as large as it says

    def _connect(self) -> Any:
        import sqlite3
        import urllib.parse

        uri = "file://{}?mode=ro".format(urllib.parse.quote(os.fsencode(self.path)))
        try:
            made = sqlite3.connect(uri, uri=True, isolation_level=None)
            for name in ("trusted_schema = OFF", "cell_size_check = ON"):
                made.execute("PRAGMA " + name)
        except sqlite3.Error as failure:
            raise self._fail(str(failure)) from None
        made.text_factory = lambda text: text.decode("utf-8", "replace")
        if hasattr(made, "setlimit"):  # CPython 3.11
            made.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _VALUE_BYTES_MAX)
            made.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _VALUE_BYTES_MAX)
        made.set_progress_handler(self._is_spent, _STEPS_BETWEEN_LOOKS)
        return made

    def _check_version(self) -> None:
        (identity,), = self._ask("PRAGMA application_id")[1]
        (version,), = self._ask("PRAGMA user_version")[1]
        if identity != _APPLICATION_ID:
            raise self._fail("not a database of npumem-ingest")
        if version != _SCHEMA_VERSION:
            older = version < _SCHEMA_VERSION
            raise self._fail("is of {} npumem (schema version {}, npumem.py {} reads {}): {}".format(
                "an older" if older else "a newer", version, __version__, _SCHEMA_VERSION,
                "make it anew: npumem ingest TRACE" if older else "take the npumem.py of that one"))

    def _list_names(self) -> Dict[str, bool]:
        """Of views and tables, and whether they are public. A virtual table is code that the file would choose, and it runs
        before anybody is asked whether it may be read."""
        rows = self._ask("SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view') "
                         "ORDER BY type DESC, rowid")[1]
        if any(kind == "table" and not str(sql).startswith("CREATE TABLE ") for _, kind, sql in rows):
            raise self._fail("has a virtual table, which npumem-ingest does not make")
        return {name: not name.startswith(("z_", "sqlite_")) for name, _, _ in rows}

    def _is_spent(self) -> bool:
        self._steps_left -= _STEPS_BETWEEN_LOOKS
        return self._steps_left < 0

    def _ask(self, sql: str, parameters: Any = ()) -> Tuple[List[str], List[Tuple[Any, ...]]]:
        """Names of the columns, and the rows."""
        import sqlite3

        self._steps_left = self._steps
        watch = threading.Timer(self._seconds, self._connection.interrupt)
        watch.daemon = True
        watch.start()
        try:
            cursor = self._connection.execute(sql, parameters)
            return [column[0] for column in cursor.description or ()], cursor.fetchall()
        except (sqlite3.Error, sqlite3.Warning) as failure:
            why = "takes more work than it may of a database of this size" if str(failure) == "interrupted" else str(failure)
            raise self._fail(why) from None
        finally:
            watch.cancel()

    def _ask_view(self, name: str) -> Tuple[List[str], List[Tuple[Any, ...]]]:
        if name not in self._names:
            import difflib

            close = " or ".join(difflib.get_close_matches(name, self.views(), 3))
            advice = "did you mean {}?".format(close) if close else "views() has their names, view catalog what they say"
            raise self._fail("no view {!r}: {}".format(name, advice))
        return self._ask('SELECT * FROM "{}"'.format(name.replace('"', '""')))

    @property
    def findings(self) -> List[Row]:
        """What there is to say of the run, the gravest of a kind first: columns of table `finding` (docs/database.md), such as
        severity, kind, text, rank, device, site, bytes. What is 'not judged' is neither good nor bad."""
        return self._said("finding", "findings", "not_judged")

    @property
    def finding_groups(self) -> List[Row]:
        """Faults and warnings over all processes: columns of table `finding_group`."""
        return self._said("finding_group", "groups")

    def _said(self, table: str, *members: str) -> List[Row]:
        """The rows, with `text` in the language that was asked for; what npumem-ingest says, it says once."""
        import json

        rows = self.view(table)
        if self._language == "en":
            return rows
        if self._answer is None:
            told = _run([_program("npumem-ingest"), "--json", "--lang", self._language, "--", self.path], (0, 3))
            self._answer = json.loads(told.decode("utf-8", "replace"))
        number = table + "_id"
        texts = {one[number]: one["text"] for member in members for one in self._answer[member]}
        return [Row(row, text=texts.get(row[number], row["text"])) for row in rows]

    def views(self) -> List[str]:
        """The names of views and tables; view catalog says what each answers."""
        return [name for name, is_public in self._names.items() if is_public]

    def view(self, name: str) -> List[Row]:
        """All rows of a view or table. Of one that catalog calls large ask query() for those that are wanted."""
        columns, rows = self._ask_view(name)
        return [Row(zip(columns, row)) for row in rows]

    def query(self, sql: str, parameters: Union[Sequence[Any], Dict[str, Any]] = ()) -> List[Row]:
        """The rows of a SELECT; `parameters` as sqlite3 takes them."""
        columns, rows = self._ask(sql, parameters)
        return [Row(zip(columns, row)) for row in rows]

    def frame(self, name: str) -> Any:
        """The same rows as view(), as a DataFrame of pandas; integers stay whole where some are NULL. Without pandas: Error."""
        columns, rows = self._ask_view(name)
        try:
            import pandas
        except ImportError:
            raise Error("a frame needs pandas, which is not here: view() has the same rows as a list") from None
        return pandas.DataFrame(rows, columns=columns, dtype=object).convert_dtypes(convert_floating=False)

    def report(self, output: Optional[Union[str, bytes, "os.PathLike[str]"]] = None, *options: str) -> str:
        """Writes the database as one HTML file, by npumem-report with its options; the name of the file.

        output: default: the database's name with the suffix .html. Raises Error where npumem-report cannot, as when the file
        is there already ("--force").
        """
        name = os.path.splitext(self.path)[0] + ".html" if output is None else os.path.abspath(os.fsdecode(output))
        _run([_program("npumem-report"), "-o", name, *options, self.path], (0,))
        return name

    def _repr_html_(self) -> str:
        import html

        return "<table>{}</table>".format("".join("<tr><td>{}</td><td>{}</td></tr>".format(
            html.escape(str(row.severity)), html.escape(str(row.text))) for row in self.findings))

    def close(self) -> None:
        """It cannot be asked any more. May be called again."""
        self._connection.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


# ---- python -m npumem ----


def _program(name: str) -> str:
    """Where it is: in this installation, else beside the npumem-record on PATH."""
    for folder in [os.path.join(prefix, "bin") for prefix in _own_prefixes()] + list(_beside_programs()):
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK):
            return path
    raise Error("{} is not found: it is not installed with npumem.py, and not on PATH".format(name))


def _run(words: List[str], wanted: Tuple[int, ...]) -> bytes:
    """What it prints. Raises Error with what it says, where it ends otherwise than wanted."""
    import subprocess

    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode not in wanted:
        raise Error(done.stderr.decode("utf-8", "replace").strip() or "{} ends with {}".format(words[0], done.returncode))
    return done.stdout


def _run_by_python(arguments: List[str]) -> List[str]:
    """Of npumem-record: the first script, -m or -c, behind `--` or not, is what this Python is to run."""

    def is_of_python(word: str) -> bool:
        return word in ("-m", "-c") or word.endswith(".py")

    at = 0
    while at < len(arguments) and arguments[at] != "--" and not is_of_python(arguments[at]):
        at += 1
    options, program = arguments[:at], arguments[at:]
    if program[:1] == ["--"]:
        program = program[1:]
    elif not program:
        return arguments
    return options + ["--"] + ([sys.executable] if program and is_of_python(program[0]) else []) + program


def _main(arguments: List[str]) -> str:
    """Becomes `npumem ARGUMENT...`; why not, where it cannot."""
    if arguments[:1] == ["record"]:
        arguments = ["record"] + _run_by_python(arguments[1:])
    try:
        program = _program("npumem")
        os.execv(program, [program] + arguments)
    except (Error, OSError) as failure:
        return "npumem: {}".format(failure)


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
