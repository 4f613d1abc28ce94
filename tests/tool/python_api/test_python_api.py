#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""npumem.py in programs of its users, under the CPython that runs this: each test writes down a program, runs it, and holds
what it says and what its trace says to what is written there. Run by python_api.sh.

    test_python_api.py BIN_FOLDER LIBRARY_FOLDER NPUMEM_PY LAYOUT_PROGRAM WORK_FOLDER [unittest's arguments]
"""
import ctypes
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import typing
import unittest

BIN, LIBRARIES, SOURCE, LAYOUT, WORK = [os.path.abspath(path) for path in sys.argv[1:6]]
LIBRARY = "libnpumem.so.0"
TIMEOUT_S = 120


def run(arguments, **more):
    return subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=TIMEOUT_S, **more)


class ProgramTest(unittest.TestCase):
    """A folder for each test, with npumem.py in it: copied beside the script, as users do."""

    def setUp(self):
        self.folder = os.path.join(WORK, self.id().split(".", 1)[1])
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        shutil.copy(SOURCE, self.folder)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(("NPUMEM", "LD_"))}
        self.environment["PATH"] = BIN + ":/usr/bin:/bin"

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, text, name="program.py"):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))
        return self.path(name)

    def python(self, text, *arguments, record=None, **changes):
        """Runs the text as a program; `record`: under npumem-record, with these options (list)."""
        command = [sys.executable, "-W", "error", self.write(text)] + list(arguments)
        if record is not None:
            command = [os.path.join(BIN, "npumem-record"), "-q", "-o", self.path("run.zst")] + record + ["--"] + command
        environment = dict(self.environment)
        for key, value in changes.items():
            environment.pop(key, None) if value is None else environment.__setitem__(key, value)
        return run(command, cwd=self.folder, env=environment)

    def ran(self, text, *arguments, **more):
        """As python(), which must end well and say nothing on standard error. What it printed."""
        done = self.python(text, *arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def ingest(self, name="run"):
        done = run([os.path.join(BIN, "npumem-ingest"), "--quiet", "--force", name + ".zst"], cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def rows(self, sql, name="run"):
        """The rows of the answer, their columns joined by `|`, as the sqlite3 shell prints them."""
        done = run(["sqlite3", self.path(name + ".db"), sql])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    def totals(self, name="run"):
        return self.rows("SELECT heap, level, device, allocation_count, free_count, outstanding_count, outstanding_bytes "
                         "FROM heap_total ORDER BY heap, pid", name)

    def marks(self, name="run"):
        return self.rows("SELECT m.name FROM moment AS m JOIN z_moment_kind AS k USING (kind) WHERE k.name = 'mark' "
                         "ORDER BY seq", name)


SEQUENCE = """
    import npumem
    %s
    pool = npumem.heap("a pool", device=0)
    pinned = npumem.heap("host side", level="pinned", uses_block_bytes=True)
    for number in range(3):
        npumem.step()
        with npumem.range("forward"):
            with npumem.range("inner"):
                pool.alloc(0x1000 + 0x100 * number, 200, block_bytes=256, stream=0, hit=number > 0)
        pinned.alloc(0x9000 + 0x1000 * number, 1000, block_bytes=4096)
    pool.free(0x1000)
    pool.free(0x1100, stream=5, is_request=True)
    pool.free(0x1100)
    npumem.step(10)
    npumem.step()
    npumem.mark("w\\u00f6rter und \\U0001f600")
    npumem.mark("x" * 254 + "\\u00f6")
    npumem.thread_name("the first")
    pool.alloc_failed(1 << 40, 207001)

    @npumem.range("by decorator")
    def decorated(depth):
        return decorated(depth - 1) if depth else 7
    assert decorated(2) == 7 and decorated.__name__ == "decorated"
    %s
    assert npumem.problem() is None, npumem.problem()
"""


class Contents(ProgramTest):
    """What the trace holds is what the program told."""

    def hold_to_sequence(self, name="run"):
        self.ingest(name)
        self.assertEqual(self.totals(name), ["a pool|pool|0|3|2|1|200", "host side|pinned||3|0|3|12288"])
        self.assertEqual(self.rows("SELECT number FROM step ORDER BY begin_seq", name), ["0", "1", "2", "10", "11"])
        self.assertEqual(self.marks(name), ["w\u00f6rter und \U0001f600", "x" * 254])
        self.assertEqual(
            self.rows("SELECT o.name, p.name FROM operation AS o LEFT JOIN operation AS p "
                      "ON p.operation_id = o.parent_id WHERE o.end_seq IS NOT NULL ORDER BY o.begin_seq", name),
            ["forward|", "inner|forward"] * 3 + ["by decorator|"] + ["by decorator|by decorator"] * 2)
        self.assertEqual(self.rows("SELECT name FROM thread WHERE name NOT NULL", name), ["the first"])
        self.assertEqual(self.rows("SELECT requested_bytes, error_code FROM failure", name), ["1099511627776|207001"])
        self.assertEqual(
            self.rows("SELECT printf('0x%x', a.address), a.requested_bytes, a.block_bytes, a.stream, a.is_miss, "
                      "a.free_requested_seq NOT NULL, o.name FROM allocation AS a JOIN heap AS h USING (heap_id) "
                      "LEFT JOIN operation AS o USING (operation_id) WHERE h.name = 'a pool' ORDER BY alloc_seq", name),
            ["0x1000|200|256|0|1|0|inner", "0x1100|200|256|0|0|1|inner", "0x1200|200|256|0|0|0|inner"])
        self.assertEqual(self.rows("SELECT is_complete, events_dropped FROM input", name), ["1|0"])

    def test_a_program_records_itself(self):
        begin = "assert npumem.start('run.zst') is True and npumem.is_recording(); assert not npumem.start('b.zst')"
        end = "assert npumem.stop() is True and not npumem.is_recording() and npumem.stop() is False"
        self.assertEqual(self.ran(SEQUENCE % (begin, end)), "")
        self.assertFalse(os.path.exists(self.path("b.zst")))
        self.hold_to_sequence()

    def test_under_npumem_record_it_joins_what_is_there(self):
        begin = "assert npumem.is_recording() and npumem.start('own.zst') is False"
        end = "assert npumem.stop() is True and npumem.is_recording()"
        self.assertEqual(self.ran(SEQUENCE % (begin, end), record=[]), "")
        self.assertFalse(os.path.exists(self.path("own.zst")))
        self.hold_to_sequence()

    def test_the_example_of_the_document(self):
        document = os.path.join(os.path.dirname(os.path.dirname(SOURCE)), "docs/python.md")
        with open(document, encoding="utf-8") as file:
            example = file.read().split("```python\n")[1].split("```")[0]
        self.ran("data, train = 'abc', len\n" + example)
        self.ingest()
        self.assertEqual(self.rows("SELECT number FROM step ORDER BY number"), ["0", "1", "2"])

    def test_as_a_context_manager(self):
        text = """
            import npumem, pathlib
            try:
                with npumem.recording(pathlib.Path("one.zst"), stacks="none"):
                    npumem.heap("h", level="host").alloc(64, 10)
                    raise KeyError("passes through")
            except KeyError:
                npumem.mark("recorded nowhere")
            with npumem.recording("two.zst"):
                with npumem.recording("nested.zst"):
                    npumem.mark("in two")
                npumem.mark("in two, too")
            assert not npumem.is_recording()
        """
        self.assertEqual(self.ran(text), "")
        self.ingest("one")
        self.ingest("two")
        self.assertEqual(self.totals("one"), ["h|host||1|0|1|10"])
        self.assertEqual((self.marks("one"), self.marks("two")), ([], ["in two", "in two, too"]))
        self.assertFalse(os.path.exists(self.path("nested.zst")))

    def test_coroutines_and_generators_have_ranges_from_first_step_to_last(self):
        text = """
            import asyncio, npumem

            @npumem.range("coroutine")
            async def work(number):
                await asyncio.sleep(0)
                npumem.mark("in coroutine")
                return number

            @npumem.range("generator")
            def count():
                yield 1
                npumem.mark("in generator")
                yield 2

            with npumem.recording("run.zst"):
                assert asyncio.run(work(5)) == 5 and list(count()) == [1, 2]
        """
        self.assertEqual(self.ran(text), "")
        self.ingest()
        self.assertEqual(self.rows("SELECT o.name, m.name FROM moment AS m JOIN operation AS o "
                                   "ON m.seq BETWEEN o.begin_seq AND o.end_seq WHERE m.name NOT NULL ORDER BY m.seq"),
                         ["coroutine|in coroutine", "generator|in generator"])

    def test_categories_and_ranges_lie_within_each_other(self):
        text = """
            import npumem
            pool = npumem.heap("h", level="host")

            @npumem.category("KV cache")
            def grow():
                with npumem.range("attention"):
                    pool.alloc(64, 10)

            with npumem.recording("run.zst"):
                with npumem.category("weight"):
                    pool.alloc(128, 10)
                    grow()
        """
        self.assertEqual(self.ran(text), "")
        self.ingest()
        self.assertEqual(
            self.rows("SELECT o.name, k.name, p.name FROM operation AS o JOIN operation_kind AS k USING (kind) "
                      "LEFT JOIN operation AS p ON p.operation_id = o.parent_id ORDER BY o.begin_seq"),
            ["weight|category|", "KV cache|category|weight", "attention|range|KV cache"])

    MODULES = """
        import copy, gc, pickle, npumem

        class Handle:
            def __init__(self, hooks, key): self.hooks, self.key = hooks, key
            def remove(self): self.hooks.pop(self.key, None)

        class Module:  # as torch.nn.Module, as far as hooks go
            def __init__(self, **children):
                self.children, self.before, self.after, self.always = children, {}, {}, set()

            def named_modules(self, prefix=""):
                yield prefix, self
                for name, child in self.children.items():
                    yield from child.named_modules(prefix + "." + name if prefix else name)

            def register_forward_pre_hook(self, hook):
                self.before[len(self.before)] = hook
                return Handle(self.before, len(self.before) - 1)

            def register_forward_hook(self, hook%s):
                self.after[len(self.after)] = hook
                return Handle(self.after, len(self.after) - 1)

            def __call__(self, *given):
                for hook in list(self.before.values()):
                    assert hook(self, given) is None
                try:
                    out = self.forward(*given)
                except Exception:
                    for hook in list(self.after.values()) if %s else []:
                        hook(self, given, None)
                    raise
                for hook in list(self.after.values()):
                    assert hook(self, given, out) is None
                return out

            def forward(self, given):
                if given is self:
                    raise ValueError("as it was told")
                pool.alloc(id(self), 10)
                for child in self.children.values():
                    child(given)

        pool = npumem.heap("h", level="host")
        leaf = Module()
        model = Module(layers=Module(**{"0": Module(mlp=leaf), "1": Module()}))
        with npumem.recording("run.zst"):
            hooks = npumem.modules(model)
            model(0)
            try:
                model(leaf)
            except ValueError:
                pass
            model.children["layers"].children["1"](0)
            for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
                other(0)
            hooks.remove()
            hooks.remove()
            model(0)
            with npumem.modules(leaf, name="leaf"):
                leaf(0)
            leaf(0)
            assert not model.before and not model.after and not leaf.before
            assert npumem.problem() is None, npumem.problem()
            npumem.modules(12), npumem.modules(None)
            assert "modules" in npumem.problem()
    """

    def hold_to_modules(self):
        self.ingest()
        whole = ["model|", "model.layers|model", "model.layers.0|model.layers", "model.layers.0.mlp|model.layers.0"]
        self.assertEqual(
            self.rows("SELECT o.name, p.name FROM operation AS o JOIN operation_kind AS k USING (kind) "
                      "LEFT JOIN operation AS p ON p.operation_id = o.parent_id "
                      "WHERE k.name = 'module' AND o.end_seq NOT NULL ORDER BY o.begin_seq"),
            whole + ["model.layers.1|model.layers"] + whole + ["model.layers.1|", "leaf|"])

    def test_modules_of_a_model_are_ranges_within_each_other(self):
        self.assertEqual(self.ran(self.MODULES % (", always_call=False", "True")), "")
        self.hold_to_modules()

    def test_modules_of_an_older_torch_end_too_when_one_raises(self):
        text = self.MODULES % ("", "False")
        again = "model.children"  # what was left open ends when the model is called next
        self.assertEqual(self.ran(text.replace(again, "hooks._end_from(0); " + again, 1)), "")
        self.hold_to_modules()

    def test_a_heap_made_before_the_recording_is_there_in_each(self):
        text = """
            import npumem
            pool = npumem.heap("kept", level="host")
            pool.alloc(64, 1)
            for name in ("one.zst", "two.zst"):
                with npumem.recording(name):
                    pool.alloc(64, 10)
                    pool.free(64)
                pool.alloc(128, 1)
        """
        self.assertEqual(self.ran(text), "")
        for name in ("one", "two"):
            self.ingest(name)
            self.assertEqual(self.totals(name), ["kept|host||1|1|0|0"])

    def test_the_site_is_the_line_that_told_the_heap(self):
        text = """
            import npumem
            pool = npumem.heap("h", level="host")

            @npumem.range("r")
            def tell():
                pool.alloc(64, 10)

            with npumem.recording("run.zst"):
                tell()
        """
        self.assertEqual(self.ran(text), "")
        self.ingest()
        self.assertEqual(self.rows("SELECT site FROM outstanding"), ["program.py:7 tell"])

    PAUSED = """
        import npumem
        pool = npumem.heap("h", level="host")
        with %s:
            pool.alloc(64, 1)
            %s
            pool.alloc(128, 2)
            with npumem.range("left out"):
                npumem.mark("left out")
            pool.free(64)
            pool.alloc(192, 4)
            pool.free(192)
            npumem.step(7)
            npumem.resume()
            npumem.mark("behind")
            with npumem.range("behind"):
                pool.alloc(256, 8)
            npumem.snapshot()
            pool.free(128)
        assert npumem.problem() is None
    """

    def hold_to_paused(self, before):
        """`before`: what is known of the block that lived when the pause began."""
        self.ingest()
        self.assertEqual(self.rows("SELECT name FROM moment WHERE name NOT NULL ORDER BY seq"), ["behind", "snapshot"])
        self.assertEqual(self.rows("SELECT name FROM operation"), ["behind"])
        self.assertEqual(self.rows("SELECT number FROM step"), ["7"])
        self.assertEqual(self.rows("SELECT address, size_bytes, stack_id NOT NULL, free_seq NOT NULL FROM allocation "
                                   "ORDER BY address"), before + ["128|2|0|1", "256|8|1|0"])
        self.assertEqual(self.rows("SELECT count(*), sum(is_end_known), sum(end_seq NOT NULL) FROM z_pause"), ["1|1|1"])
        self.assertEqual(self.rows("SELECT count(*) FROM anomaly"), ["0"])

    def test_nothing_but_what_is_live_while_paused(self):
        text = self.PAUSED % ("npumem.recording('run.zst')", "npumem.pause(); npumem.pause()")
        self.assertEqual(self.ran(text), "")
        self.hold_to_paused(["64|1|1|1"])

    def test_begun_paused_it_goes_on_by_itself(self):
        self.assertEqual(self.ran(self.PAUSED % ("npumem.recording('run.zst', paused=True)", "pass")), "")
        self.hold_to_paused([])

    def test_begun_paused_by_npumem_record_it_goes_on_by_itself(self):
        self.assertEqual(self.ran(self.PAUSED % ("npumem.recording('own.zst')", "pass"), record=["--start-paused"]), "")
        self.hold_to_paused([])
        self.assertFalse(os.path.exists(self.path("own.zst")))

    def test_the_figures_are_kept_while_paused(self):
        text = """
            import npumem
            pool = npumem.heap("h", level="host")
            assert npumem.start("run.zst", watch=False, paused=True)
            pool.alloc(64, 10)
            pool.alloc(128, 20)
            pool.free(64)
            (row,) = npumem.stats().heaps
            assert row[3:9] == ("h", 20, 1, 30, 2, 1), row
            npumem.resume()
            pool.free(128)
            (row,) = npumem.stats().heaps
            assert row[3:9] == ("h", 0, 0, 30, 2, 2), row
            assert npumem.stop()
        """
        self.assertEqual(self.ran(text), "")
        self.ingest()
        self.assertEqual(self.rows("SELECT peak_bytes FROM peak"), ["20"])  # of what is in the trace

    def test_a_snapshot_is_in_the_file_while_the_program_runs(self):
        text = """
            import npumem, subprocess, sys, time
            with npumem.recording("run.zst"):
                npumem.heap("h", level="host").alloc(64, 10)
                npumem.snapshot("look here")
                until = time.monotonic() + 90
                while time.monotonic() < until:
                    # Not yet a trace, or one that is not whole: it is asked again.
                    subprocess.call(["npumem-ingest", "--quiet", "--force", "-o", "live.db", "run.zst"], stderr=-3)
                    found = subprocess.run(["sqlite3", "live.db", "SELECT m.name, o.size_bytes FROM moment AS m, "
                                            "outstanding AS o WHERE m.name NOT NULL"], stdout=-1, stderr=-3).stdout.decode()
                    if found == "look here|10\\n":
                        break
                    time.sleep(0.05)
                assert found == "look here|10\\n", found
        """
        self.assertEqual(self.ran(text), "")


class Processes(ProgramTest):
    CHILDREN = """
        import multiprocessing, npumem, os, sys

        pool = npumem.heap("a pool", level="host")

        def work(number):
            assert npumem.is_recording() and npumem.start("of_a_child.zst") is False
            for turn in range(number):
                pool.alloc(0x1000 + turn * 64, 64)
            npumem.step()
            mine = npumem.stats().heaps
            assert [(row.pid, row.name, row.live_count) for row in mine] == [(os.getpid(), "a pool", number)], mine
            assert npumem.stop() is True and npumem.is_recording()

        if __name__ == "__main__":
            began = npumem.start("run.zst")
            assert began == (len(sys.argv) == 2)
            pool.alloc(64, 1)
            for method, number in (("fork", 2), ("spawn", 3)):
                child = multiprocessing.get_context(method).Process(target=work, args=(number,))
                child.start()
                child.join()
                assert child.exitcode == 0, (method, child.exitcode)
            pool.alloc(128, 1)
            rows = npumem.stats(all_processes=True).heaps
            assert sorted(row.live_count for row in rows) == [2, 2, 3], rows
            assert len({row.pid for row in rows}) == 3
            assert [row.live_count for row in npumem.stats().heaps] == [2]
            assert npumem.stop()
    """

    def hold_to_children(self):
        self.ingest()
        self.assertFalse(os.path.exists(self.path("of_a_child.zst")))
        self.assertEqual(
            sorted(self.rows("SELECT c.parent_id NOT NULL, t.allocation_count FROM heap_total AS t JOIN process AS c "
                             "ON c.pid = t.pid")),
            ["0|2", "1|2", "1|3"])

    def test_fork_and_spawn_under_npumem_record(self):
        self.assertEqual(self.ran(self.CHILDREN, "around", "it", record=["--watch"]), "")
        self.hold_to_children()

    def test_fork_and_spawn_of_a_program_that_records_itself(self):
        self.assertEqual(self.ran(self.CHILDREN, "itself"), "")
        self.ingest()
        self.assertFalse(os.path.exists(self.path("of_a_child.zst")))
        # Who is whose parent is known of forks alone: the library was not there when the spawned one began.
        self.assertEqual(sorted(self.rows("SELECT allocation_count FROM heap_total")), ["2", "2", "3"])

    def test_a_child_that_is_forked_in_a_range_ends_only_its_own(self):
        text = """
            import npumem, os
            with npumem.recording("run.zst"):
                with npumem.range("of the parent"):
                    pid = os.fork()
                    npumem.mark("child" if pid == 0 else "parent")
                if pid == 0:
                    os._exit(0)
                assert os.waitpid(pid, 0)[1] == 0
        """
        self.assertEqual(self.ran(text), "")
        self.ingest()
        self.assertEqual(self.rows("SELECT name, end_seq NOT NULL FROM operation"), ["of the parent|1"])
        self.assertEqual(sorted(self.marks()), ["child", "parent"])

    def test_threads(self):
        text = """
            import npumem, threading
            pool = npumem.heap("shared", level="host")

            @npumem.range("turn")
            def turn(address):
                pool.alloc(address, 64)
                pool.free(address)

            def work(number):
                npumem.thread_name("worker %d" % number)
                for at in range(1000):
                    turn((number << 32) + at * 64)
                pool.alloc(number << 40, 100 + number)

            with npumem.recording("run.zst", stacks="none"):
                threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
                for thread in threads: thread.start()
                for thread in threads: thread.join()
                (row,) = npumem.stats().heaps
                assert (row.live_count, row.live_bytes) == (4, 410), row
                assert (row.allocation_count, row.free_count) == (4004, 4000), row
        """
        self.assertEqual(self.ran(text), "")
        self.ingest()
        self.assertEqual(self.totals(), ["shared|host||4004|4000|4|410"])
        self.assertEqual(self.rows("SELECT t.name, count(*), sum(a.requested_bytes) FROM allocation AS a "
                                   "JOIN thread AS t USING (thread_id) GROUP BY t.name ORDER BY t.name"),
                         ["worker %d|1001|%d" % (number, 64000 + 100 + number) for number in (1, 2, 3, 4)])
        self.assertEqual(self.rows("SELECT count(*), count(DISTINCT thread_id) FROM operation WHERE name = 'turn' "
                                   "AND end_seq NOT NULL"), ["4000|4"])

    def test_other_threads_run_while_stop_waits(self):
        text = """
            import npumem, os, threading
            npumem.start("run.zst")
            npumem.mark("x")
            is_recorded, may_end = os.pipe(), os.pipe()
            pid = os.fork()
            if pid == 0:
                npumem.mark("child")
                os.write(is_recorded[1], b"x")
                os.read(may_end[0], 1)
                os._exit(0)
            os.read(is_recorded[0], 1)
            count = 0
            ended = threading.Event()
            def stop():
                npumem.stop()
                ended.set()
            thread = threading.Thread(target=stop)
            thread.start()
            while count <= 10 and not ended.wait(0.01):
                count += 1
            os.write(may_end[1], b"x")
            thread.join()
            os.waitpid(pid, 0)
            assert count > 10, count
        """
        self.assertEqual(self.ran(text), "")


class Figures(ProgramTest):
    def test_stats_follow_a_known_sequence(self):
        text = """
            import npumem, os
            with npumem.recording("run.zst"):
                assert npumem.stats().heaps == []
                driver = npumem.heap("d", level="driver", device=1)
                pool = npumem.heap('a "p\\u00f6ol"', device=1)
                driver.alloc(1 << 20, 1 << 20)
                live = {}
                peak = 0
                for turn in range(200):
                    size = 64 * (turn % 7 + 1)
                    address = (1 << 20) + turn * 512
                    pool.alloc(address, size)
                    live[address] = size
                    peak = max(peak, sum(live.values()))
                    if turn % 3 == 2:
                        gone = sorted(live)[turn % len(live)]
                        pool.free(gone)
                        del live[gone]
                    if turn % 20 == 0:
                        row = [row for row in npumem.stats().heaps if row.level == "pool"][0]
                        assert (row.live_count, row.live_bytes) == (len(live), sum(live.values())), (turn, row)
                answer = npumem.stats()
                assert sorted(answer.heaps) == sorted([
                    npumem.HeapStats(os.getpid(), 1, "driver", "d", 1 << 20, 1, 1 << 20, 1, 0, 0),
                    npumem.HeapStats(os.getpid(), 1, "pool", 'a "p\\u00f6ol"', sum(live.values()), len(live), peak, 200,
                                     66, 1 << 20)]), answer
                assert answer.dropped == 0 and answer.events >= 267 and answer.processes == 1, answer
        """
        self.assertEqual(self.ran(text), "")

    def test_heaps_of_what_the_process_was_before_exec_are_not_its_own(self):
        text = """
            import npumem, os, sys
            pool = npumem.heap(sys.argv[1], level="host")
            if sys.argv[1] == "first":
                pool.alloc(64, 1)
                os.execv(sys.executable, [sys.executable, sys.argv[0], "second"])
            assert npumem.stats().heaps == [], npumem.stats()
            pool.alloc(64, 1)
            assert [row.name for row in npumem.stats().heaps] == ["second"], npumem.stats()
            assert len(npumem.stats(all_processes=True).heaps) == 2
        """
        self.assertEqual(self.ran(text, "first", record=["--watch"]), "")

    def test_without_watch_it_is_an_error_that_says_so(self):
        text = """
            import npumem
            def why(*arguments, **named):
                try:
                    npumem.stats(*arguments, **named)
                except npumem.Error as failure:
                    return str(failure)
            assert why() == "nothing records", why()
            with npumem.recording("run.zst", watch=False):
                assert "--watch" in why(), why()
            with npumem.recording("two.zst"):
                assert why() is None
                assert "does not answer" in why(timeout_s=0.000001)
            assert why() == "nothing records", why()
        """
        self.assertEqual(self.ran(text), "")

    def test_the_tools_own_question_has_the_same_answer(self):
        text = """
            import json, npumem, subprocess
            with npumem.recording("run.zst"):
                npumem.heap("h", level="host").alloc(64, 10)
                assert len(npumem.stats().heaps) == 1  # now the file is a trace
                (row,) = json.loads(subprocess.check_output(
                    ["npumem-record", "--ctl", "run.zst", "stats"]).decode())["heaps"]
                assert npumem.stats().heaps == [npumem.HeapStats(
                    row["pid"], row["device"], row["level"], row["heap"], row["live_bytes"], row["live_count"],
                    row["peak_bytes"], row["allocation_count"], row["free_count"], row["reserved_bytes"])]
                assert subprocess.call(["npumem-record", "--ctl", "run.zst", "stats", "x"], stderr=-3) == 1
        """
        self.assertEqual(self.ran(text), "")


class Absence(ProgramTest):
    EVERY_CALL = """
        import npumem
        assert npumem.available is False and npumem.is_recording() is False
        assert {word!r} in npumem.problem(), npumem.problem()
        npumem.mark("a"); npumem.step(); npumem.step(3); npumem.thread_name("b"); npumem.pause(); npumem.resume()
        npumem.snapshot(); npumem.snapshot("c")
        pool = npumem.heap("d", device=0)
        pool.alloc(1, 2); pool.alloc(1, 2, 3, 4, True); pool.free(1); pool.free(1, 2, True); pool.alloc_failed(9)
        with npumem.range("e"):
            pass
        assert npumem.range("f")(lambda x: x + 1)(1) == 2
        assert npumem.stop() is False
        for call in (npumem.start, npumem.stats, npumem.recording("g").__enter__):
            try:
                call()
                raise SystemExit("no error")
            except npumem.Error as failure:
                assert {word!r} in str(failure), failure
        print("as without it")
    """

    def test_every_call_does_nothing(self):
        text = self.EVERY_CALL.format(word=LIBRARY)
        self.assertEqual(self.ran(text, NPUMEM_LIBRARY_DIR="/nonexistent"), "as without it\n")
        if LIBRARY not in run(["/sbin/ldconfig", "-p"]).stdout:
            self.assertEqual(self.ran(text, PATH="/usr/bin:/bin"), "as without it\n")

    def test_a_library_that_cannot_be_loaded_is_said(self):
        with open(self.path(LIBRARY), "w") as file:
            file.write("this is no library" * 100)
        text = self.EVERY_CALL.format(word="invalid ELF header")
        self.assertEqual(self.ran(text, NPUMEM_LIBRARY_DIR=self.folder), "as without it\n")

    def test_without_npumem_record_start_says_so(self):
        text = """
            import npumem
            assert npumem.available
            try:
                npumem.start("run.zst")
            except npumem.Error as failure:
                assert "npumem-record" in str(failure), failure
                print("said")
            npumem.mark("nowhere")
            assert not npumem.is_recording() and npumem.problem() is None
        """
        shutil.copy(os.path.join(LIBRARIES, LIBRARY), self.folder)
        self.assertEqual(self.ran(text, PATH="/usr/bin:/bin"), "said\n")
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(["npumem.py", LIBRARY, "program.py"] + self.cached()))

    def cached(self):
        return ["__pycache__"] if os.path.exists(self.path("__pycache__")) else []

    def test_switched_off_it_starts_nothing(self):
        text = """
            import npumem
            assert npumem.start("run.zst") is False and not npumem.is_recording()
            with npumem.recording("run.zst"):
                npumem.mark("nowhere")
        """
        self.assertEqual(self.ran(text, NPUMEM="off"), "")
        self.assertFalse(os.path.exists(self.path("run.zst")))


class Places(ProgramTest):
    """Where the library is found."""

    PRINT = """
        import npumem, pathlib
        maps = pathlib.Path("/proc/self/maps").read_text().splitlines()
        paths = {line.split()[-1] for line in maps if "libnpumem.so" in line}
        assert len(paths) == 1, paths
        print(paths.pop())
    """

    def hold_to(self, library, **changes):
        self.assertEqual(os.path.realpath(self.ran(self.PRINT, **changes).strip()), os.path.realpath(library))

    def test_under_npumem_record_it_is_the_one_that_is_loaded(self):
        shutil.copy(os.path.join(LIBRARIES, LIBRARY), self.folder)  # beside the file is another one
        self.hold_to(os.path.join(LIBRARIES, LIBRARY), record=[], PATH="/usr/bin:/bin")

    def test_beside_the_program_on_path_also_through_a_link(self):
        self.hold_to(os.path.join(LIBRARIES, LIBRARY))
        os.symlink(os.path.join(BIN, "npumem-record"), self.path("npumem-record"))
        self.hold_to(os.path.join(LIBRARIES, LIBRARY), PATH=self.folder + ":/usr/bin:/bin")

    def test_in_the_named_folder_and_beside_the_file(self):
        for folder, changes in ((self.path("named"), {"NPUMEM_LIBRARY_DIR": self.path("named")}), (self.folder, {})):
            os.makedirs(folder, exist_ok=True)
            shutil.copy(os.path.join(LIBRARIES, LIBRARY), folder)
            self.hold_to(os.path.join(folder, LIBRARY), **changes)

    def test_in_an_installed_tree_wherever_it_lies(self):
        module = self.path("tree/share/npumem/python")
        for below in ("lib", "lib64", "lib/" + os.uname().machine + "-linux-gnu"):
            os.makedirs(module, exist_ok=True)
            shutil.move(self.path("npumem.py"), module)
            os.makedirs(self.path("tree/" + below))
            shutil.copy(os.path.join(LIBRARIES, LIBRARY), self.path("tree/" + below))
            self.hold_to(os.path.join(self.path("tree"), below, LIBRARY), PYTHONPATH=module, PATH="/usr/bin:/bin")
            shutil.move(os.path.join(module, "npumem.py"), self.folder)
            shutil.rmtree(self.path("tree"))


class Misuse(ProgramTest):
    def test_what_records_never_raises(self):
        text = """
            import npumem

            class Bad:
                def __str__(self): raise ValueError("no text")
                def __index__(self): raise ValueError("no number")

            class Number:
                def __init__(self, value): self.value = value
                def __index__(self): return self.value

            with npumem.recording("run.zst"):
                assert npumem.problem() is None
                pool = npumem.heap("h", level="host")
                npumem.mark(Bad())
                assert npumem.problem() == "mark: no text", npumem.problem()
                npumem.mark(None); npumem.mark(12); npumem.mark(b"x"); npumem.mark("a\\0b"); npumem.mark("\\udcff")
                npumem.step("five"); npumem.step(Bad()); npumem.step(1.5); npumem.step(Number(4))
                npumem.thread_name(Bad()); npumem.snapshot(Bad())
                pool.alloc("x", 1); pool.alloc(1, "x"); pool.alloc(1, -1); pool.alloc(None, None); pool.alloc(1, 1.5)
                pool.alloc(1, 1, block_bytes="x"); pool.alloc(1, 1, stream="x"); pool.alloc(Bad(), 1)
                pool.free("x"); pool.free(None); pool.free(1, stream="x")
                pool.alloc_failed("x"); pool.alloc_failed(1, "x")
                pool.alloc(Number(64), Number(10))
                with npumem.range(Bad()):
                    pass
                with npumem.category(Bad()):
                    pass
                assert npumem.problem() == "mark: no text"
        """
        self.assertEqual(self.ran(text), "")
        self.ingest()
        self.assertEqual(self.totals(), ["h|host||1|0|1|10"])
        self.assertEqual(self.marks(), ["None", "12", "b'x'", "a", "\\udcff"])
        self.assertEqual(self.rows("SELECT number FROM step"), ["4"])
        self.assertEqual(self.rows("SELECT name FROM operation"), ["range", "category"])

    def test_what_sets_up_says_what_is_wrong(self):
        text = """
            import npumem, os
            def why(call, *arguments, **named):
                try:
                    call(*arguments, **named)
                except Exception as failure:
                    return type(failure).__name__ + ": " + str(failure)
            os.mkdir("locked", 0o500)
            for told in (why(npumem.heap, "x", level="heap"), why(npumem.heap, "x", device="npu"),
                         why(npumem.start, "-"), why(npumem.start, ""), why(npumem.start, "a\\0b"), why(npumem.start, 5),
                         why(npumem.start, "missing/run.zst"), why(npumem.start, "npumem.py/run.zst")):
                print(told)
            if os.getuid() != 0:
                assert "cannot be written" in why(npumem.start, "locked/run.zst")
            assert not npumem.is_recording()
        """
        self.assertEqual([line.split(":")[0] for line in self.ran(text).splitlines()],
                         ["ValueError", "TypeError", "ValueError", "ValueError", "ValueError", "TypeError", "Error", "Error"])

    def test_npumem_record_that_refuses_is_said(self):
        text = """
            import npumem
            try:
                npumem.start("run.zst", stacks="wrong")
            except npumem.Error as failure:
                print(failure)
            assert not npumem.is_recording()
        """
        done = self.python(text)
        self.assertEqual(done.returncode, 0)
        self.assertIn("npumem-record does not record", done.stdout)
        self.assertIn("--stacks wrong", done.stderr)


class Transparency(ProgramTest):
    USE = """
        import os, signal, sys
        if sys.argv[2] != "without":
            import npumem
            if sys.argv[2] == "start":
                npumem.start("run.zst")
            pool = npumem.heap("h", level="host")
            npumem.step(); npumem.mark("m"); pool.alloc(64, 10); pool.free(64)
        print("to standard output")
        print("to standard error", file=sys.stderr)
        end = sys.argv[1]
        if end == "exit": sys.exit(3)
        if end == "raise": raise KeyError("unseen")
        if end == "at once": os._exit(4)
        if end == "signal": os.kill(os.getpid(), signal.SIGTERM)
    """

    def test_output_and_exit_status_are_those_of_the_program_without_it(self):
        for end in ("end", "exit", "raise", "at once", "signal"):
            def outcome(use, **more):
                done = self.python(self.USE, end, use, **more)
                return done.returncode, done.stdout, done.stderr
            wanted = outcome("without")
            for use, more in (("import", {}), ("start", {}), ("import", {"record": ["--force"]}),
                              ("import", {"NPUMEM_LIBRARY_DIR": "/nonexistent"})):
                with self.subTest(end=end, use=use, **more):
                    self.assertEqual(outcome(use, **more), wanted)
        self.assertEqual(wanted[0], -signal.SIGTERM)

    def test_no_descriptor_process_or_thread_is_left(self):
        text = """
            import os, pathlib, threading
            def state():
                children = pathlib.Path("/proc/self/task/%d/children" % os.getpid()).read_text()
                return sorted(os.listdir("/proc/self/fd")), children, threading.active_count()
            before = state()
            import npumem
            assert state() == before
            for turn in range(3):
                npumem.start("run-%d.zst" % turn)
                npumem.heap("h", level="host").alloc(64, 10)
                held = state()
                for question in range(10):
                    npumem.stats()
                try:
                    npumem.stats(timeout_s=0.000001)
                except npumem.Error:
                    pass
                assert state() == held, (held, state())
                npumem.stop()
                assert state() == before, (before, state())
        """
        self.assertEqual(self.ran(text), "")

    def test_the_environment_is_as_before_after_stop(self):
        text = """
            import npumem, os, subprocess, sys
            def seen():
                return [subprocess.check_output([sys.executable, "-c", "import os; print(os.environ.get('NPUMEM_SESSION'))"],
                                                env=env).decode().strip() for env in (None, dict(os.environ))]
            before = dict(os.environ)
            with npumem.recording("run.zst"):
                folder = os.environ["NPUMEM_SESSION"]
                assert os.path.isdir(folder) and seen() == [folder, folder]
            assert seen() == ["None", "None"] and dict(os.environ) == before and not os.path.exists(folder)
        """
        self.assertEqual(self.ran(text), "")


class Layout(unittest.TestCase):
    """npumem.py repeats parts of npumem.h; the compiler says how that is laid out."""

    @classmethod
    def setUpClass(cls):
        os.environ["NPUMEM_LIBRARY_DIR"] = LIBRARIES
        specification = importlib.util.spec_from_file_location("npumem", SOURCE)
        cls.module = importlib.util.module_from_spec(specification)
        sys.modules["npumem"] = cls.module  # for typing.get_type_hints
        specification.loader.exec_module(cls.module)
        cls.lines = [line.split() for line in run([LAYOUT]).stdout.splitlines()]

    def test_structs(self):
        structs = {"start_options": self.module._StartOptions, "heap_options": self.module._HeapOptions,
                   "alloc_options": self.module._AllocOptions, "free_options": self.module._FreeOptions}
        wanted = [line for line in self.lines if line[0] in structs]
        seen = []
        for name, struct in structs.items():
            for field, _ in struct._fields_:
                place = getattr(struct, field)
                seen.append([name, field, str(place.offset), str(place.size)])
            seen.append([name, "sizeof", "0", str(ctypes.sizeof(struct))])
        self.assertEqual(seen, wanted)

    def test_numbers(self):
        numbers = {line[1]: int(line[2]) for line in self.lines if line[0] == "number"}
        version = numbers.pop("VERSION")
        wanted = {"TEXT_BYTES_MAX": self.module._TEXT_BYTES_MAX, "NO_STREAM": self.module._NO_STREAM,
                  "NO_DEVICE": self.module._NO_DEVICE % 2**64, "HIT": self.module._HIT, "MISS": self.module._MISS}
        wanted.update({"LEVEL_" + name.upper(): value for name, value in self.module._LEVELS.items()})
        self.assertEqual(wanted, numbers)
        self.assertEqual(self.module.__version__, "%d.%d.%d" % (version // 10000, version // 100 % 100, version % 100))
        self.assertEqual(self.module._library.npumem_version(), version)

    def test_every_hint_is_one_of_this_version(self):
        names = [name for name in self.module.__all__ if callable(getattr(self.module, name))]
        self.assertGreater(len(names), 15)
        for name in names:
            value = getattr(self.module, name)
            typing.get_type_hints(value)
            self.assertTrue(value.__doc__, name)
            if isinstance(value, type):
                for method in vars(value).values():
                    if callable(method) and hasattr(method, "__annotations__"):
                        typing.get_type_hints(method)

    def test_all_is_what_is_public(self):
        mine = {name for name, value in vars(self.module).items()
                if not name.startswith("_") and getattr(value, "__module__", "npumem") == "npumem"
                and not isinstance(value, type(sys))}
        self.assertEqual(mine - {"annotations"} | {"available"}, set(self.module.__all__))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[6:], verbosity=1)
