# SPDX-License-Identifier: Apache-2.0
"""Somebody may write to the folder that an output goes into, and exchanges what lies there before each call that names a file: the output,
its draft or the folder, for a link, a second name, a pipe or a folder. Every program that writes, by every option that names what is written
(each says which of them do: one that is new fails here until it stands in a table). What the exchanged name leads to is never changed, nor
read into an output; a program ends as it says it does, with one line where it fails, and nothing half done is left of it."""
import ctypes
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import time

from trial import IS_WHOLE, LEFT_OUT, begin, clear, content, expect, fail, finish, leave_out, number_in, paths, run, skip

NOBODY = 65534
MARKER = b"what the victim keeps to itself"
SHARE = 1 if IS_WHOLE else 5  # one in so many is tried
CALLS_MOST = 80  # that name a file, of most programs: one of them is drawn for a single exchange
FREE_S = 3.0 if IS_WHOLE else 0.25  # of a thread that exchanges on its own
HOME = os.getcwd()
BIN = os.path.dirname(paths.record)
RECORD = [paths.record, "-q", "--sample-interval", "0", "--ring-dir", os.path.join(paths.work, "rings")]
SPIN = ["--", paths.spin_events, "--events", "20"]


class Writer:
    """NAME: the output in the folder; `drafts`: it is made beside it under this name; `force`: the option that replaces it."""

    def __init__(self, options, name, words, drafts=True, force="--force", is_folder=False, is_slow=False, stem=None, prepare=None, statuses=()):
        self.options, self.name, self.words, self.drafts, self.force = options.split(), name, words, drafts, force
        self.is_folder, self.is_slow, self.prepare, self.statuses = is_folder, is_slow, prepare, (0, 1, 2, 3, 4, *statuses)
        self.stem, self.made = stem or name, None  # of the draft
        self.title = " ".join(self.options) + " of " + os.path.basename(str(words[0]))


def program(name):
    return os.path.join(BIN, "npumem-" + name)


def export(kind):
    return Writer("export:output", "out", [program("export"), "-q", kind, "../run.db", "-o", "d/out"])


def kill_recording():
    """A recording that was killed, for --finish; made once, copied each time with its rings."""
    if not os.path.isdir("killed.kept"):
        os.mkdir("killed")
        recorder = subprocess.Popen([*RECORD[:-1], os.path.abspath("killed"), "-o", "killed/out", "--", paths.spin_events, "--events", "0",
                                     "--pace-ns", "1000000", "--ack", "ack"], stdout=subprocess.DEVNULL)
        for _ in range(1000):
            if os.path.exists("ack") and any(content("ack")[:8]):
                break
            time.sleep(0.01)
        with open(f"/proc/{recorder.pid}/task/{recorder.pid}/children", encoding="ascii") as file:
            children = [int(pid) for pid in file.read().split()]
        recorder.kill()
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        recorder.wait()
        shutil.copytree("killed", "killed.kept", ignore=shutil.ignore_patterns("ctl"))
    clear("killed")
    shutil.copytree("killed.kept", "killed")

def bring_killed(folder):
    kill_recording()
    shutil.copy("killed/out", os.path.join(folder, "out"))


WRITERS = [
    Writer("record:output", "out", [*RECORD, "-o", "d/out", *SPIN], drafts=False),
    Writer("record:output record:keep", "out.000", [*RECORD, "--keep", "last:64KiB", "-o", "d/out", "--", paths.spin_events, "--events", "12000"], drafts=False),
    Writer("record:report", "answers.txt", [*RECORD, "-o", "run.out", "--report", "d/answers.txt", *SPIN], force=None, is_slow=True),
    Writer("record:finish", "out", [paths.record, "--finish", "d/out"], drafts=False, force=None, prepare=bring_killed),
    Writer("record:selfcheck", "out", [paths.record, "-q", "--selfcheck", "-o", "d/out"], drafts=False, is_slow=True,
           statuses=(128 + signal.SIGPIPE,)),
    Writer("ingest:output", "out", [paths.ingest, "-q", "-o", "d/out", "../run.zst"]),
    Writer("ingest:output", "out", [paths.ingest, "-q", "--jobs", "2", "-o", "d/out", "../run.zst", "../other.zst"]),
    Writer("ingest:csv", "csv", [paths.ingest, "-q", "--csv", "d/csv", "../run.db"], is_folder=True),
    Writer("ingest:report", "out", [paths.ingest, "-q", "--report", "d/out", "../run.db"], is_slow=True),
    *[export(kind) for kind in ("pprof", "folded", "perfetto", "snapshot", "svg")],
    Writer("export:output", "out", [program("export"), "-q", "--job-name", "j", "--run-name", "r", "parquet", "../run.db", "-o", "d/out"], is_folder=True,
           stem="out/host-r0-0"),
    Writer("check:junit", "out", [program("check"), "-q", "../run.db", "--no-leak", "--junit", "d/out"], statuses=(5,)),
    Writer("check:output", "out", [program("check"), "../run.db", "--no-leak", "-o", "d/out"], statuses=(5,)),
    Writer("diff:csv", "csv", [program("diff"), "-q", "../run.db", "../old.db", "--csv", "d/csv"], is_folder=True),
    Writer("diff:output", "out", [program("diff"), "../run.db", "../old.db", "-o", "d/out"]),
    Writer("whatif:csv", "out", [program("whatif"), "-q", "../run.db", "--csv", "d/out"]),
    Writer("whatif:output", "out", [program("whatif"), "../run.db", "-o", "d/out"]),
    Writer("stack:output", "out", [program("stack"), "../run.db", "peak", "-o", "d/out"]),
    Writer("report:output", "out", [program("report"), "../run.db", "-o", "d/out"], is_slow=True),
    Writer("bundle:output", "out", [program("bundle"), "-q", "../run.db", "-o", "d/out"], is_slow=True),
    Writer("top:prometheus", "out.prom", [program("top"), "-q", "--once", "../run.zst", "--prometheus", "d/out.prom"], force=None),
    Writer("top:output", "out", [program("top"), "--once", "../run.zst", "-o", "d/out"]),
]
# What takes the name of a file or folder and only reads it, or has a test of its own.
READERS = {"record:ring-dir": "refused where others may write: tool.secure", "record:ctl": "read", "ingest:site-rules": "read",
           "ingest:symbols": "read", "ingest:thresholds": "read", "check:rules": "read", "check:thresholds": "read", "report:against": "read",
           "bundle:selfcheck": "read", "mcp:folder": "read", "mcp:write": "tests/tool/mcp/session.py"}
PROGRAMS_MOST = 20


def check_tables():
    """By what the programs themselves say of their options and formats."""
    found = set()
    for name in sorted(os.listdir(BIN)):
        if not name.startswith("npumem-") or len(found) > PROGRAMS_MOST * 8:
            continue
        said = run(os.path.join(BIN, name), "--describe", "fish")[1]
        found |= {f"{name[7:]}:{option}" for option, kind in re.findall(r" -l ([a-z-]+) (-r -F|-x -a '\(__fish_complete_dir)", said) if kind}
    covered = {option for writer in WRITERS for option in writer.options}
    named = found | {"record:keep", "record:selfcheck"}  # what more is written, by options that name no file
    expect(len(found) > 20 and covered | set(READERS) == named,
           f"in no table: {sorted(named - covered - set(READERS))}; no option: {sorted((covered | set(READERS)) - named)}")
    formats = {one["format"] for one in json.loads(run(program("export"), "--list", "--json")[1])["exports"]}
    exported = {word for writer in WRITERS if "export:output" in writer.options for word in writer.words if word in formats}
    expect(formats == exported, f"formats that are not written here: {sorted(formats - exported)}")


# ---- The folder, the victim, and what is exchanged ----


def made_in_folder(writer):
    """What it writes into its folder when nobody is there."""
    if writer.made is None:
        clear("shed")
        os.makedirs("shed/d")
        status, _, err = run(*words_of(writer, ("output", "", False)), TMPDIR=os.path.abspath("tmp"))
        expect(status in (0, 1, 3), f"{writer.title} ends with {status}: {err}")
        writer.made = sorted(name for name in os.listdir(f"shed/d/{writer.name}") if os.path.isfile(f"shed/d/{writer.name}/{name}"))
    return writer.made


def make_victim(writer):
    """With files of the names of outputs, so that who goes astray finds what it looks for."""
    clear("victim", "shed")
    os.makedirs("victim/below")
    os.makedirs("shed/d")
    names = {writer.name, "file", "out", "out.000", "out.001", "out.003", "out.db", "answers.db"} | set(made_in_folder(writer) if writer.is_folder else ())
    for name in names:
        with open(os.path.join("victim", name), "wb") as file:
            file.write(MARKER + name.encode())
    os.mkfifo("victim/pipe")
    os.symlink("../victim", "shed/d.other")
    if os.geteuid() == 0:
        for path in ("shed", "shed/d"):
            os.chown(path, NOBODY, NOBODY)
            os.chmod(path, 0o777)


def state_of(folder):
    """Of each name which file it is, whose, and what is in it."""
    state = {}
    for entry in os.scandir(folder):
        info = entry.stat(follow_symlinks=False)
        state[entry.name] = (info.st_ino, info.st_mode, info.st_uid, content(entry.path) if entry.is_file(follow_symlinks=False) else None)
    return state


def make_decoy(kind, path):
    if kind in ("link", "link for the user's"):
        os.symlink("../../victim/file", path)
    elif kind == "link to a pipe":
        os.symlink("../../victim/pipe", path)
    elif kind == "link to a folder":
        os.symlink("../../victim", path)
    elif kind in ("second name", "second name for a pipe"):
        os.link("victim/file", path)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        os.mkdir(path)
        with open(os.path.join(path, "kept"), "wb") as file:
            file.write(b"kept")
    if os.geteuid() == 0 and kind not in ("second name", "second name for a pipe"):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def prepare(writer, exchange):
    """Gives the pair of names that are exchanged."""
    where, kind, is_there = exchange
    make_victim(writer)
    clear("run.out")
    if writer.prepare is not None:
        writer.prepare("shed/d")
    elif is_there:
        with open(f"shed/d/{writer.name}", "wb") as file:
            file.write(b"old")
    if where == "parent":
        return "shed/d", "shed/d.other"
    make_decoy(kind, "shed/other")
    if " for " in kind:
        clear(f"shed/d/{writer.name}")
    if kind == "second name for a pipe":
        os.mkfifo(f"shed/d/{writer.name}")
    elif kind == "link for the user's":
        os.symlink("../mine", f"shed/d/{writer.name}")
    return f"shed/d/{writer.name}" if where == "output" else f"shed/d/{writer.stem}.%d.tmp", "shed/other"


def exchanges_of(writer):
    """Of what, for what, and whether something stands there that is replaced."""
    kinds = ("link", "second name", "pipe", "folder", "link to a folder")
    for kind in kinds:
        yield ("output", kind, False)
        if writer.force is not None and not writer.is_folder:
            yield ("output", kind, True)
    if "record" in writer.title:
        for kind in ("link to a pipe", "link for the user's", "second name for a pipe"):
            yield ("output", kind, False)
    if writer.drafts:
        for kind in kinds:
            yield ("draft", kind, False)
    yield ("parent", "", False)


# ---- A try ----


def words_of(writer, exchange):
    words = [word.replace("d/", "shed/d/", 1) if word.startswith("d/") else word[3:] if word.startswith("../") else word for word in map(str, writer.words)]
    is_forced = exchange[2] or (writer.force and exchange[0] == "output" and exchange[1] != "pipe")
    return words[:1] + ([writer.force] if is_forced and not writer.is_folder else []) + words[1:]


def texts_below(folder):
    for below, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(below, name)
            info = os.lstat(path)
            if os.path.isfile(path) and not os.path.islink(path) and info.st_nlink == 1:
                yield path


def check(what, writer, exchange, before, ended):
    status, _, err = ended
    after = state_of("victim")
    named = (writer.name, "answers.db") if writer.force is None and exchange[0] == "parent" else ()  # the path that was given leads there
    changed = [name for name in before if after.get(name) != before[name] and name not in named]
    expect(not changed, lambda: f"{what}: the victim's {changed[0]} is {after.get(changed[0])}, and was {before[changed[0]]}; status {status}: {err}")
    new = sorted(set(after) - set(before))
    leads_there = exchange[0] == "parent" or (writer.is_folder and exchange[1] == "link to a folder")
    expect(leads_there or not new, f"{what}: left at the victim: {new}")
    expect(status in writer.statuses, f"{what}: ends with {status}: {err}")
    lines = len(err.splitlines())
    expect(lines == 1 or (not err and status in (0, 1, 3, 5, 128 + signal.SIGPIPE)) or ("record" in writer.title and lines in (2, 3)), f"{what}: ends with {status} and says {err!r}")
    for path in texts_below("shed"):
        expect(MARKER not in content(path), f"{what}: {path} holds what the victim has")
    if exchange[0] != "draft":
        left = [path for folder in ("shed", "victim") for below, folders, names in os.walk(folder) for path in names + folders if ".tmp" in path]
        expect(not left, f"{what}: left: {left}; status {status}: {err}")


def exchanged_at(writer, exchange, when):
    """The calls at which something was exchanged."""
    what = f"{writer.title}: {' '.join(map(str, exchange))}, at call {when}"
    this, other = prepare(writer, exchange)
    before = state_of("victim")
    name = os.path.basename(writer.words[0])
    reader = os.open("victim/pipe", os.O_RDONLY | os.O_NONBLOCK)
    ended = run(paths.fail_calls, "names", when, f"{this}={other}", "count", "-p", name, *words_of(writer, exchange), seconds=60, TMPDIR=os.path.abspath("tmp"))
    if ended[0] == LEFT_OUT:
        skip("nobody may be traced here")
    check(what, writer, exchange, before, ended)
    expect(os.read(reader, 1) == b"", f"{what}: the victim's pipe is written to; {ended}")
    os.close(reader)
    return number_in("count")


def exchange_on(this, other, has_ended, count):
    """In a process of its own, as fast as it can."""
    libc = ctypes.CDLL(None, use_errno=True)
    names = this.encode(), other.encode()
    while not has_ended.is_set():
        for _ in range(200):
            if libc.renameat2(-100, names[0], -100, names[1], 2) != 0:
                for pair in (names[::-1], names):
                    if libc.renameat2(-100, pair[0], -100, pair[1], 1) == 0:
                        break
            count.value += 1


def exchanged_freely(writer, exchange):
    what = f"{writer.title}: {' '.join(map(str, exchange))}, at any moment"
    count, end, tries = multiprocessing.Value("L", 0, lock=False), time.monotonic() + FREE_S, 0
    while tries == 0 or time.monotonic() < end:
        this, other = prepare(writer, exchange)
        before = state_of("victim")
        has_ended = multiprocessing.Event()
        attacker = multiprocessing.Process(target=exchange_on, args=(this, other, has_ended, count))
        attacker.start()
        ended = run(*words_of(writer, exchange), seconds=60, TMPDIR=os.path.abspath("tmp"))
        has_ended.set()
        attacker.join()
        check(what, writer, exchange, before, ended)
        tries += 1
    return tries, count.value


def try_all(random):
    tries, exchanged, free_tries, free_exchanged = 0, 0, 0, 0
    for writer in WRITERS:
        for exchange in exchanges_of(writer):
            for when in ("1+", "2+", random.randint(1, CALLS_MOST)):
                if random.randrange(SHARE * (4 if writer.is_slow and not IS_WHOLE else 1)) == 0:
                    tries, exchanged = tries + 1, exchanged + exchanged_at(writer, exchange, when)
            if IS_WHOLE and not writer.is_slow:
                calls = exchanged_at(writer, exchange, "1+")
                for when in range(1, calls + 1):
                    tries, exchanged = tries + 1, exchanged + exchanged_at(writer, exchange, when)
        if not writer.is_slow and (IS_WHOLE or random.randrange(4) == 0):
            more = exchanged_freely(writer, ("parent", "", False))
            free_tries, free_exchanged = free_tries + more[0], free_exchanged + more[1]
    print(f"{len(WRITERS)} ways of writing: {tries} tries with {exchanged} exchanges at calls, {free_tries} with {free_exchanged} at any moment")


seeded = begin()
os.mkdir("rings")
os.chmod("rings", 0o700)
os.mkdir("tmp")
leave_out(f"one try in {SHARE}, at every call, every call but the first, or one call that is drawn")
check_tables()
for made, trace in (("run", paths.trace), ("other", paths.other_trace)):
    run(paths.text2trace, trace, f"{made}.zst")
    run(paths.ingest, "--quiet", f"{made}.zst")
shutil.copy("run.db", "old.db")
try_all(seeded)
finish()
