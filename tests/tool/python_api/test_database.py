#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""npumem.open() under the CPython that runs this: what it reads is what sqlite3 reads with nothing in between, and a database that
somebody has prepared gets nothing but refusals. Run by python_api.sh.

    test_database.py BIN_FOLDER LIBRARY_FOLDER NPUMEM_PY DATABASE.zst WORK_FOLDER [unittest's arguments]

Without a real pandas there is one written down here, which is asked what it was given.
"""
import glob
import hashlib
import importlib.util
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
import types
import unittest

BIN, LIBRARIES, SOURCE, DATABASE, WORK = [os.path.abspath(path) for path in sys.argv[1:6]]
os.environ["NPUMEM_LIBRARY_DIR"] = LIBRARIES
specification = importlib.util.spec_from_file_location("npumem", SOURCE)
npumem = importlib.util.module_from_spec(specification)
sys.modules["npumem"] = npumem
specification.loader.exec_module(npumem)

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


class DatabaseTest(unittest.TestCase):
    """A folder for each test, with the database of fixtures/databases in it."""

    def setUp(self):
        self.folder = os.path.join(WORK, self.id().split(".", 1)[1])
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.path = os.path.join(self.folder, "run.db")
        subprocess.check_call(["zstd", "-dqf", DATABASE, "-o", self.path])
        os.chmod(self.path, 0o600)

    def opened(self):
        run = npumem.open(self.path)
        self.addCleanup(run.close)
        return run

    def plain(self, sql):
        """Columns and rows, by a connection that nothing was said to."""
        with sqlite3.connect(self.path) as connection:
            cursor = connection.execute(sql)
            rows = [dict(zip([column[0] for column in cursor.description], row)) for row in cursor]
        connection.close()
        return rows

    def prepare(self, *statements):
        connection = sqlite3.connect(self.path, isolation_level=None)
        for statement in statements:
            connection.execute(statement)
        connection.close()

    def refused(self, expected, function, *arguments):
        with self.assertRaises(npumem.Error) as caught:
            function(*arguments)
        self.assertIn(expected, str(caught.exception))


class Reading(DatabaseTest):
    def test_every_view_is_what_sqlite3_reads(self):
        run = self.opened()
        names = run.views()
        public = [row["name"] for row in self.plain("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
                                                    "AND name NOT GLOB 'z_*' AND name NOT GLOB 'sqlite_*' "
                                                    "ORDER BY type = 'table', rowid")]
        self.assertEqual(names, public)
        self.assertGreater(len(names), 60)
        for name in names:
            rows = run.view(name)
            self.assertEqual(rows, self.plain('SELECT * FROM "%s"' % name), name)
            for row in rows[:1]:
                self.assertEqual([getattr(row, column) for column in row], list(row.values()), name)

    def test_findings(self):
        run = self.opened()
        self.assertEqual(run.findings, self.plain("SELECT * FROM finding ORDER BY finding_id"))
        self.assertEqual(run.finding_groups, self.plain("SELECT * FROM finding_group ORDER BY finding_group_id"))
        first = run.findings[0]
        self.assertEqual((first.finding_id, first["severity"], first.kind), (1, first.severity, first["kind"]))
        self.assertEqual(json.loads(json.dumps(first)), first)
        with self.assertRaises(AttributeError) as caught:
            first.bites
        self.assertIn("bytes", str(caught.exception))

    def test_language(self):
        """The texts are those of the screen in that language, all else is the row."""
        english, path = self.opened(), os.environ["PATH"]
        self.refused("language must be en, zh or auto, not 'fr'", npumem.open, self.path, "fr")
        os.environ["PATH"] = self.folder
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        with npumem.open(self.path, "zh") as run:
            self.refused("npumem-ingest is not found", lambda: run.findings)
            os.environ["PATH"] = BIN + ":" + path
            screen = subprocess.check_output([os.path.join(BIN, "npumem-ingest"), "--lang", "zh", self.path]).decode("utf-8")
            for name in ("findings", "finding_groups"):
                rows, plain = getattr(run, name), getattr(english, name)
                self.assertEqual([dict(row, text=None) for row in rows], [dict(row, text=None) for row in plain])
                self.assertTrue(all(any("\u4e00" <= letter <= "\u9fff" for letter in row.text) for row in rows if row.text), name)
            leaks = [row.text for row in run.findings if row.severity == "fault"]
            self.assertEqual([text for text in leaks if text.split("\uff0c")[0] not in screen], [])
            self.assertGreater(len(leaks), 0)
        os.environ["LC_ALL"] = "zh_CN.UTF-8"
        self.addCleanup(os.environ.pop, "LC_ALL")
        self.assertEqual([row.text for row in npumem.open(self.path, "auto").findings if row.severity == "fault"], leaks)

    def test_query(self):
        run = self.opened()
        self.assertEqual(run.query("SELECT count(*) AS n, ? AS given FROM finding WHERE kind = ?", (5, "leak")),
                         self.plain("SELECT count(*) AS n, 5 AS given FROM finding WHERE kind = 'leak'"))
        self.assertEqual(run.query("SELECT :x + 1 AS y", {"x": 2}), [{"y": 3}])
        self.assertEqual(run.query("SELECT 1 AS a WHERE 0"), [])

    def test_a_name_that_is_none(self):
        run = self.opened()
        self.refused("did you mean leak?", run.view, "leek")
        self.refused("view catalog", run.view, "qqqqqq")
        self.refused("no view 'finding\"'", run.view, 'finding"')
        self.refused("did you mean finding", run.frame, "findin")

    def test_a_view_of_a_user(self):
        self.prepare('CREATE VIEW "my ""own""" AS SELECT count(*) AS n FROM finding')
        run = self.opened()
        self.assertEqual(run.view('my "own"'), self.plain("SELECT count(*) AS n FROM finding"))

    def test_report(self):
        os.environ["PATH"] = BIN + ":" + os.environ["PATH"]
        run = self.opened()
        self.assertEqual(run.report(), os.path.join(self.folder, "run.html"))
        with open(os.path.join(self.folder, "run.html"), encoding="utf-8") as file:
            self.assertIn("</html>", file.read())
        self.refused("run.html", run.report)
        other = os.path.join(self.folder, "-other.html")
        self.assertEqual(run.report(other, "--force", "--no-sql"), other)
        self.assertLess(os.path.getsize(other), os.path.getsize(run.report(None, "--force")))

    def test_html_of_a_notebook(self):
        self.prepare("UPDATE finding SET text = '<b>&' WHERE finding_id = 1")
        html = self.opened()._repr_html_()
        self.assertIn("<td>&lt;b&gt;&amp;</td>", html)
        self.assertEqual(html.count("<tr>"), len(self.plain("SELECT finding_id FROM finding")))

    def test_frame(self):
        try:
            import pandas
        except ImportError:
            self.frame_of_one_that_is_written_down()
            return
        frame = self.opened().frame("finding")
        rows = self.plain("SELECT * FROM finding")
        self.assertEqual(list(frame.columns), list(rows[0]))
        for column in frame.columns:
            self.assertEqual([None if pandas.isna(value) else value for value in frame[column]], [row[column] for row in rows], column)
        self.assertEqual(str(frame["bytes"].dtype), "Int64")

    def frame_of_one_that_is_written_down(self):
        run = self.opened()
        sys.modules["pandas"] = None
        self.refused("pandas", run.frame, "finding")
        given = []

        class DataFrame:
            def __init__(self, rows, columns, dtype):
                given.append((rows, columns, dtype))

            def convert_dtypes(self, convert_floating):
                return "converted" if not convert_floating else "floats changed"

        sys.modules["pandas"] = types.SimpleNamespace(DataFrame=DataFrame)
        self.addCleanup(sys.modules.pop, "pandas")
        self.assertEqual(run.frame("heap_total"), "converted")
        (rows, columns, dtype), = given
        self.assertEqual([dict(zip(columns, row)) for row in rows], self.plain("SELECT * FROM heap_total"))
        self.assertIs(dtype, object)

    def test_it_ends(self):
        with npumem.open(self.path.encode()) as run:
            self.assertEqual(run.path, self.path)
        self.refused("closed", run.view, "finding")
        run.close()

    def test_odd_names_of_files(self):
        for name in ("a?mode=rw#x", "100%41.db", "\u00f6 \U0001f600", b"\xff.db"):
            path = os.path.join(os.fsencode(self.folder), os.fsencode(name))
            shutil.copy(self.path, path)
            with npumem.open(path) as run:
                self.assertGreater(len(run.findings), 0)


class Foreign(DatabaseTest):
    """Files that are none of ours, or are made to do something."""

    def digest(self):
        with open(self.path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest(), sorted(os.listdir(self.folder))

    def test_not_a_database(self):
        path = os.path.join(self.folder, "other")
        for content in (b"", b"SQLite format 3", b"(\xb5/\xfd" + b"x" * 100, b"\x80\x04 pickle", b"[]"):
            with open(path, "wb") as file:
                file.write(content)
            self.refused("npumem-ingest makes one", npumem.open, path)
        self.refused("npumem-ingest makes one", npumem.open, DATABASE)
        self.refused("No such file", npumem.open, path + "missing")
        self.assertFalse(os.path.exists(path + "missing"))
        self.refused("not a file", npumem.open, self.folder)
        os.mkfifo(path + "pipe")
        self.refused("not a file", npumem.open, path + "pipe")
        with open(self.path, "r+b") as file:
            file.seek(100)
            file.write(b"\xff" * 4000)
        self.refused("run.db: ", npumem.open, self.path)

    def test_of_another_program_or_version(self):
        self.prepare("PRAGMA user_version = 9")
        self.refused("is of a newer npumem (schema version 9, ", npumem.open, self.path)
        self.refused("take the npumem.py of that one", npumem.open, self.path)
        older = sorted(name for name in os.listdir(os.path.dirname(DATABASE)) if name < os.path.basename(DATABASE))
        self.assertIn("schema-7.db.zst", older)
        for name in older:
            path = os.path.join(self.folder, name[:-len(".zst")])
            subprocess.check_call(["zstd", "-dqf", os.path.join(os.path.dirname(DATABASE), name), "-o", path])
            self.refused("is of an older npumem (schema version %s, " % name[len("schema-")], npumem.open, path)
            self.refused("make it anew: npumem ingest TRACE", npumem.open, path)
        self.prepare("PRAGMA application_id = 1", "PRAGMA user_version = 8")
        self.refused("not a database of npumem-ingest", npumem.open, self.path)

    def test_nothing_is_written(self):
        before = self.digest()
        run = self.opened()
        for sql in ("DELETE FROM finding", "CREATE TABLE mine (x)", "CREATE TEMP TABLE mine (x)", "ATTACH '%s/new.db' AS new" % self.folder,
                    "VACUUM INTO '%s/new.db'" % self.folder, "PRAGMA journal_mode = WAL", "PRAGMA writable_schema = ON", "BEGIN", "REINDEX",
                    "SELECT load_extension('x')", "SELECT 1; DELETE FROM finding", "DETACH main"):
            with self.assertRaises(npumem.Error, msg=sql):
                run.query(sql)
        self.assertGreater(len(run.findings), 0)
        self.assertEqual(self.digest(), before)

    def test_a_journal_is_not_played(self):
        """What a writer left that was killed would be written back into the file."""
        writer = sqlite3.connect(self.path, isolation_level=None)
        for sql in ("PRAGMA cache_size = 1", "BEGIN", "UPDATE finding SET text = 1", "CREATE TABLE mine (x)",
                    "INSERT INTO mine SELECT zeroblob(100000) FROM finding"):
            writer.execute(sql)
        self.path = os.path.join(self.folder, "killed.db")
        for suffix in ("", "-journal"):
            shutil.copy(os.path.join(self.folder, "run.db" + suffix), self.path + suffix)
        writer.close()
        os.remove(os.path.join(self.folder, "run.db"))
        before = self.digest()
        with self.assertRaises(npumem.Error):
            npumem.open(self.path)
        self.assertEqual(self.digest(), before)
        self.assertGreater(len(self.plain("SELECT * FROM finding")), 0)
        self.assertNotEqual(self.digest(), before)  # anybody else would have

    def test_functions_of_the_connection_are_not_for_the_file(self):
        self.prepare("DROP VIEW leak", "CREATE VIEW leak AS SELECT mine() AS n")
        run = self.opened()
        run._connection.create_function("mine", 0, lambda: 1)
        self.refused("unsafe", run.view, "leak")
        self.assertEqual(run.query("SELECT mine() AS n"), [{"n": 1}])

    def test_what_is_read_but_tables_and_views(self):
        run = self.opened()
        for name in ("json_each('[1]')", "pragma_table_info('finding')", "dbstat", "sqlite_stmt"):
            with self.assertRaises(npumem.Error, msg=name):
                run.query("SELECT * FROM " + name)

    def test_questions_without_end(self):
        self.prepare("DROP VIEW leak", "CREATE VIEW leak AS " + ENDLESS)
        run = self.opened()
        begun = time.process_time()
        self.refused("takes more work", run.view, "leak")
        self.refused("takes more work", run.query, ENDLESS)
        self.assertLess(time.process_time() - begun, 60)
        self.assertGreater(len(run.findings), 0)  # each question has the whole of it
        run._steps, run._seconds = 1 << 60, 0.2
        self.refused("takes more work", run.query, ENDLESS)
        run._seconds = 60
        self.assertGreater(len(run.findings), 0)

    def test_values_that_are_too_large(self):
        self.prepare("DROP VIEW leak", "CREATE VIEW leak AS SELECT length(zeroblob(500000000)) AS n")
        run = self.opened()
        if not hasattr(sqlite3.Connection, "setlimit"):
            print("skipped: this CPython cannot bound the size of a value")
            return
        self.refused("too big", run.view, "leak")

    def test_virtual_tables(self):
        try:
            self.prepare("CREATE VIRTUAL TABLE mine USING rtree(id, a, b)")
        except sqlite3.OperationalError as failure:
            print("skipped: sqlite3 here cannot make a virtual table:", failure)
            return
        self.refused("virtual table", npumem.open, self.path)
        self.prepare("PRAGMA writable_schema = ON", "UPDATE sqlite_master SET rootpage = 2 WHERE name = 'mine'")
        self.refused("virtual table", npumem.open, self.path)

    def test_texts_that_are_none(self):
        self.prepare("UPDATE finding SET text = CAST(x'41ff42' AS TEXT) WHERE finding_id = 1")
        self.assertEqual(self.opened().findings[0].text, "A\ufffdB")

    def test_a_file_that_may_only_be_read(self):
        os.chmod(self.path, stat.S_IRUSR)
        self.assertGreater(len(self.opened().findings), 0)


class Commands(DatabaseTest):
    """python -m npumem, with programs that say how they were called."""

    def setUp(self):
        super().setUp()
        self.bin = os.path.join(self.folder, "bin")
        os.makedirs(self.bin)
        for name in ("npumem", "npumem-record"):
            with open(os.path.join(self.bin, name), "w", encoding="utf-8") as file:
                file.write('#!/bin/sh\nprintf "%s\\n" "$@"\nexit 5\n')
            os.chmod(os.path.join(self.bin, name), 0o755)

    def called(self, *arguments):
        environment = dict(os.environ, PATH=self.bin + ":/usr/bin:/bin", PYTHONPATH=os.path.dirname(SOURCE), PYTHONDONTWRITEBYTECODE="1")
        done = subprocess.run([sys.executable, "-m", "npumem"] + list(arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, env=environment, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (5, ""))
        return done.stdout.splitlines()

    def test_a_script_is_run_by_this_python(self):
        me = sys.executable
        for given, wanted in ((["train.py"], ["--", me, "train.py"]),
                              (["-o", "x.zst", "train.py", "--", "-m"], ["-o", "x.zst", "--", me, "train.py", "--", "-m"]),
                              (["-q", "--", "train.py", "a"], ["-q", "--", me, "train.py", "a"]),
                              (["-m", "package", "x.py"], ["--", me, "-m", "package", "x.py"]),
                              (["-c", "pass"], ["--", me, "-c", "pass"]),
                              (["-q", "--", "bash", "-c", "x.py"], ["-q", "--", "bash", "-c", "x.py"]),
                              (["--finish", "run.zst"], ["--finish", "run.zst"]), (["--"], ["--"]), ([], [])):
            self.assertEqual(self.called("record", *given), ["record"] + wanted)

    def test_other_commands_are_passed_on(self):
        for given in (["ingest", "train.py"], ["--help"], ["stack", "run.db", "--", "x"], [""]):
            self.assertEqual(self.called(*given), given)

    def test_no_program(self):
        for path in glob.glob(self.bin + "/*"):
            os.remove(path)
        done = subprocess.run([sys.executable, SOURCE, "ingest"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, env=dict(os.environ, PATH=self.bin))
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn("npumem is not found", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[6:], verbosity=1)
