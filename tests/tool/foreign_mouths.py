# SPDX-License-Identifier: Apache-2.0
"""foreign_mouths.py BIN_FOLDER TEXT2TRACE FOREIGN.txt SCRATCH SPIN_EVENTS: the texts of foreign.py, of a text trace, a memory snapshot, a CSV file of
a profiler and a real program, out of every mouth that the programs have: what each prints, into a file and on a terminal, and whatever an option
names to be written, in both languages. The mouths are held to what the programs say of their options: one that is new has no row."""
import gzip
import json
import os
import pickle
import pty
import re
import select
import shutil
import subprocess
import sys
import tarfile
import time
import xml.etree.ElementTree

import foreign
from foreign import BIN, KINDS, LANGUAGES, check_bytes, check_csv, check_page, check_picture, check_text, fail, read

SPIN = os.path.abspath(sys.argv[5])
OWN_CODES = re.compile(r"\x1b\[(?:[0-9;]*m|[0-9;]*[HJK]|\?[0-9]+[hl])")
PROMETHEUS = re.compile(r'(?:# (?:HELP|TYPE) [a-z_]+ [^"]*|[a-z_]+(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*\})? [-+0-9.einfNa]+)')
LONG = b"long \x1b[31m" + b"\xe2\x80\xae" + b"x" * (1 << 20)  # what is longer than 4,096 bytes is cut


# ---- Inputs ----

def chosen_names():
    """Of each kind of harm some: what fits on one screen."""
    names = [line[0] for line in KINDS["cell"] + KINDS["name"]]
    harmful = [name for name in names if any(needle in name for needle in foreign.NEEDLES) or name[:1] in b"=+-@" or b"hijacked" in name or b"\n" in name]
    return harmful[::3] + [LONG[:4000]]


def text_of(name):
    return name.replace(b"\0", b"").decode("utf-8", "surrogateescape")


def make_snapshot(path, names):
    """As torch writes one; a text of Python cannot be what is no UTF-8, and so is replaced."""
    texts = [name.decode("utf-8", "replace") for name in names + [LONG, b"nul \0 inside"]]

    def frames(i):
        return [{"filename": texts[i], "line": i + 1, "name": texts[-1 - i]}, {"filename": "/x/train.py", "line": 3, "name": texts[i]}]
    entries, blocks = [], []
    for i in range(len(texts)):
        address = 0x10000000 + (i << 20)
        entries.append({"action": "alloc", "addr": address, "size": 4096, "stream": 0, "time_us": 1000 + i, "frames": frames(i), "category": texts[i]})
        blocks.append({"address": address, "size": 4096, "requested_size": 4000, "state": "active_allocated", "frames": frames(i)})
    segment = {"device": 0, "address": 0x10000000, "total_size": len(texts) << 20, "allocated_size": len(texts) << 12, "active_size": len(texts) << 12,
               "requested_size": len(texts) * 4000, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": frames(0),
               "blocks": []}
    for block in blocks:
        segment["blocks"] += [block, {"address": block["address"] + 4096, "size": (1 << 20) - 4096, "requested_size": 0, "state": "inactive", "frames": []}]
    notes = [{"device": 0, "time_us": 1000 + i, "name": text, "stage": "START"} for i, text in enumerate(texts)]
    with open(path, "wb") as file:
        pickle.dump({"segments": [segment], "device_traces": [entries], "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": texts[0]},
                     "external_annotations": notes}, file)


def make_csv(path, names):
    """operator_memory.csv of a profiler."""
    with open(path, "wb") as file:
        file.write(b"Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),Active Duration(us),Allocation Total "
                   b"Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),Release Total Allocated(MB),Release Total Reserved(MB),"
                   b"Release Total Active(MB),Stream Ptr,Device Type\n")
        for i, name in enumerate(names):
            quoted = b'"' + name.replace(b"\0", b"").replace(b'"', b'""') + b'"'
            file.write(quoted + b",%d.0,%d.0,,,,,1.0,2.0,1.0,,,,0,NPU:0\n" % (64 + i, 1000 + 10 * i))


def record_program(path, names):
    """A program whose name, arguments and environment are of others."""
    name = b"=cmd|'\x1b[31m\xe2\x80\xae<script>hijacked"
    shutil.copy(SPIN, name)
    environment = {**os.environb, b"OMP_NUM_THREADS": names[0].replace(b"\0", b""), b"HCCL_X\x1b[31m": b"\xe2\x80\xaex", b"SLURM_JOB_NAME": names[1].replace(b"\0", b"")}
    arguments = [text_of(one)[:200] for one in names[:6]]
    done = subprocess.run([BIN + "/npumem-record", "-q", "-o", path, "--", "sh", "-c", 'exec "$0" --events 20', "./" + text_of(name), *arguments], env=environment,
                          capture_output=True, check=False, timeout=60)
    check_text("npumem-record", done.stderr)
    if done.returncode != 0:
        fail("npumem-record ends with %d: %r" % (done.returncode, done.stderr))
    os.unlink(name)


# ---- Mouths: PROGRAM:OPTION -> the words after the program's name, and what holds what comes out to be safe ----

def check_xml(what, data):
    check_text(what, data)
    for element in xml.etree.ElementTree.fromstring(data).iter():
        if "hijacked" in element.tag or any("hijacked" in key for key in element.attrib):
            fail("%s: %s" % (what, element.tag))


def check_prometheus(what, data):
    text = check_text(what, data)
    for line in (text or "").splitlines():
        if not PROMETHEUS.fullmatch(line):
            fail("%s: %r is no sample" % (what, line))


def refuse_twice(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        fail("a name twice in an object of JSON: %s" % [name for name, _ in pairs])
    return dict(pairs)


def check_json_text(what, data):
    """One value a line, by a strict parser. Undone, texts are what they were: JSON is for programs."""
    check_text(what, data)
    for line in data.decode().splitlines():
        json.loads(line, object_pairs_hook=refuse_twice, parse_constant=lambda word: fail("%s: %s is no JSON" % (what, word)))


def check_folder_of(check):
    def check_all(what, folder):
        for below, _, names in os.walk(folder):
            for name in names:
                check("%s: %s" % (what, name), read(os.path.join(below, name)))
    return check_all


def check_parquet(what, data):
    """Texts are compressed in it: a reader of our own gives them, and holds them to UTF-8. They are what they were: it is for programs."""
    with open("table.parquet", "wb") as file:
        file.write(data)
    reader = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "parquet_file.py")
    got = subprocess.run([sys.executable, "-B", reader, "table.parquet"], capture_output=True, check=False, timeout=60)
    try:
        got.stdout.decode()
    except UnicodeDecodeError as error:
        fail("%s: %s" % (what, error))
    if got.returncode != 0:
        fail("%s: %s" % (what, got.stderr.decode()))


def check_bundle(what, data):
    with open("bundle.read", "wb") as file:
        file.write(data)
    with tarfile.open("bundle.read") as bundle:
        for member in bundle.getmembers():
            text = bundle.extractfile(member).read()
            if member.name.endswith(".txt"):
                check_text(what + member.name, text)
            if member.name.endswith(".json"):
                check_json_text(what + member.name, text)


def check_exported(what, data):
    check_bytes(what, gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


RULES = ["--no-leak", "--max-peak", "1B", "--no-oom", "--no-anomaly", "--no-growth", "--complete"]
MOUTHS = {
    "ingest:screen": (["{db}"], check_text),
    "ingest:json": (["--json", "{db}"], check_json_text),
    "ingest:csv": (["-q", "--csv-all", "--csv", "{out}", "{db}"], check_folder_of(check_csv)),
    "ingest:report": (["-q", "--report", "{out}", "{db}"], check_page),
    "ingest:output": (["-q", "-o", "{out}", "{trace}"], None),  # read by the others
    "check:screen": (["{db}", *RULES], check_text),
    "check:json": (["{db}", *RULES, "--json"], check_json_text),
    "check:junit": (["{db}", *RULES, "-q", "--junit", "{out}"], check_xml),
    "check:output": (["{db}", *RULES, "-o", "{out}"], check_text),
    "diff:screen": (["{db}", "plain.db", "--by-rank"], check_text),
    "diff:json": (["plain.db", "{db}", "--json"], check_json_text),
    "diff:csv": (["plain.db", "{db}", "-q", "--csv", "{out}"], check_folder_of(check_csv)),
    "diff:output": (["{db}", "plain.db", "-o", "{out}"], check_text),
    "stack:screen": (["{db}", "peak", "--top", "0"], check_text),
    "stack:json": (["{db}", "leak", "--json"], check_json_text),
    "stack:output": (["{db}", "oom", "-o", "{out}"], check_text),
    "whatif:screen": (["{db}", "--compare"], check_text),
    "whatif:json": (["{db}", "--json"], check_json_text),
    "whatif:csv": (["{db}", "-q", "--csv", "{out}"], check_csv),
    "whatif:output": (["--list", "{db}", "-o", "{out}"], check_text),
    "export:screen": (["--list"], check_text),
    "export:json": (["--list", "--json"], check_json_text),
    "export:pprof": (["pprof", "{db}", "-o", "{out}"], check_exported),
    "export:folded": (["folded", "{db}", "-o", "{out}"], check_text),
    "export:perfetto": (["perfetto", "{db}", "-o", "{out}"], check_exported),
    "export:snapshot": (["snapshot", "{db}", "-o", "{out}"], check_exported),
    "export:svg": (["svg", "{db}", "-o", "{out}"], check_picture),
    "export:parquet": (["--job-name", "\x1b[31m=1\u202e", "--run-name", "r", "--allocations", "parquet", "{db}", "-o", "{out}"], check_folder_of(check_parquet)),
    "report:screen": (["{db}", "--no-sql", "-o", "-"], check_page),
    "report:output": (["{db}", "-o", "{out}"], check_page),
    "bundle:screen": (["{db}", "-o", "-"], None),  # the same as into a file, compressed
    "bundle:output": (["{db}", "-o", "{out}.tar"], check_bundle),
    "top:screen": (["--once", "{trace}"], check_text),
    "top:json": (["--once", "--json", "{trace}"], check_json_text),
    "top:prometheus": (["--once", "-q", "{trace}", "--prometheus", "{out}.prom"], check_prometheus),
    "top:output": (["--once", "{trace}", "-o", "{out}"], check_text),
}
ELSEWHERE = {"record:screen", "record:output", "record:report", "record:json", "mcp:screen", "mcp:write"}  # foreign.py; what it writes is read here
READ = {"record:ring-dir", "record:ctl", "record:finish", "ingest:site-rules", "ingest:symbols", "ingest:thresholds", "check:rules", "check:thresholds",
        "report:against", "bundle:selfcheck", "mcp:folder", "export:output"}  # of exports each format has a row
MORE = {"ingest:screen", "ingest:json", "ingest:csv", "stack:screen", "export:folded", "export:svg", "top:screen"}  # what other inputs come out of
FORCED = {"ingest", "check", "diff", "whatif", "stack", "export", "report", "bundle", "top"}


def check_table():
    said = set()
    for name in sorted(os.listdir(BIN)):
        if name.startswith("npumem-"):
            help_text = subprocess.run([os.path.join(BIN, name), "--describe", "fish"], capture_output=True, check=True, text=True, timeout=60).stdout
            said |= {name[7:] + ":screen"} | {"%s:%s" % (name[7:], option) for option in
                                              re.findall(r" -l ([a-z-]+) (?:-r -F|-x -a '\(__fish_complete_dir)", help_text)}
            said |= {name[7:] + ":json"} if " -l json " in help_text else set()
    formats = subprocess.run([BIN + "/npumem-export", "--list", "--json"], capture_output=True, check=True, timeout=60).stdout
    said |= {"export:" + one["format"] for one in json.loads(formats)["exports"]}
    known = set(MOUTHS) | ELSEWHERE | READ
    if said != known:
        fail("mouths without a row: %s; rows without a mouth: %s" % (sorted(said - known), sorted(known - said)))


def speak(mouth, database, trace, language):
    program = mouth.split(":")[0]
    words, check = MOUTHS[mouth]
    for path in ("out", "out.tar", "out.prom"):
        shutil.rmtree(path) if os.path.isdir(path) else os.path.lexists(path) and os.unlink(path)
    words = [word.format(db=database, trace=trace, out="out") for word in words]
    got = foreign_run(program, words, language)
    what = "%s of %s in %s" % (mouth, database, language)
    written = next((path for path in ("out", "out.tar", "out.prom") if os.path.lexists(path)), None)
    if check is not None and written is not None:
        check(what, written if os.path.isdir(written) else read(written))
    elif check is not None and got:
        check(what, got)
    elif check is not None and not any(mouth.startswith(one) for one in ("stack:", "whatif:", "diff:")):  # which may have no answer
        fail("%s: nothing came out" % what)


def foreign_run(program, words, language):
    """Standard output, and errors that are safe in any case."""
    got = subprocess.run([os.path.join(BIN, "npumem-" + program), *words], capture_output=True, check=False, timeout=120, stdin=subprocess.DEVNULL,
                         env={**os.environ, "LC_ALL": LANGUAGES[language]})
    if got.returncode not in (0, 1, 2, 3, 5):
        fail("npumem-%s %s ends with %d: %s" % (program, words, got.returncode, got.stderr))
    check_text("npumem-%s %s: errors" % (program, words), got.stderr)
    return got.stdout


def on_terminal(program, words, language):
    """What comes to a terminal: codes of ours, and none that came with a name."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(LC_ALL=LANGUAGES[language], TERM="xterm-256color", COLUMNS="100", LINES="40")
        os.execv(os.path.join(BIN, "npumem-" + program), ["npumem-" + program, *words])
    data, end = b"", time.monotonic() + 60
    while time.monotonic() < end and select.select([terminal], [], [], 60)[0]:
        try:
            more = os.read(terminal, 65536)
        except OSError:
            break
        if not more:
            break
        data += more
    os.close(terminal)
    os.waitpid(pid, 0)
    what = "%s on a terminal in %s" % (program, language)
    for needle in [one for one in foreign.NEEDLES if not one.startswith(b"\x1b[")] + [b"\x1b[31mred", b"\x1b[2J\x1b[1;1H", b"long \x1b"]:
        if needle in data:
            fail("%s: %r" % (what, needle))
    check_text(what, OWN_CODES.sub("", data.decode("utf-8", "replace")).encode(), "\r\n\t")
    return len(data)


def main():
    shutil.rmtree(foreign.SCRATCH, ignore_errors=True)
    os.makedirs(foreign.SCRATCH)
    os.chdir(foreign.SCRATCH)
    os.environ["TMPDIR"] = foreign.SCRATCH
    check_table()
    names = chosen_names()
    foreign.load("plain", foreign.trace_of([b"plain"]))
    foreign.load("trace", foreign.trace_of([name.replace(b"\0", b"") for name in names]))
    make_snapshot("snapshot.pickle", names)
    make_csv("operator_memory.csv", names)
    record_program("program.zst", names)
    spoken, shown = 0, 0
    for language in LANGUAGES:
        for mouth in MOUTHS:
            speak(mouth, "trace.db", "trace.zst", language)
            spoken += 1
        for program, words in (("ingest", ["trace.db"]), ("stack", ["trace.db", "peak"]), ("top", ["--once", "trace.zst"]), ("check", ["trace.db", *RULES])):
            shown += on_terminal(program, words, language) > 0
    for source in ("snapshot.pickle", "operator_memory.csv", "program.zst"):
        foreign_run("ingest", ["-q", "--force", "-o", source + ".db", source], "en")
        if not os.path.exists(source + ".db"):
            fail("%s is not read" % source)
            continue
        for mouth in sorted(MORE):
            speak(mouth, source + ".db", source if source.endswith(".zst") else "trace.zst", "zh" if mouth == "ingest:json" else "en")
            spoken += 1
    print("%d mouths: %d answers of 4 inputs, %d of them on a terminal" % (len(MOUTHS), spoken + shown, shown))
    return 1 if foreign.failures else 0


if __name__ == "__main__":
    sys.exit(main())
