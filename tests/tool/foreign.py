# SPDX-License-Identifier: Apache-2.0
"""foreign.py BIN_FOLDER TEXT2TRACE FOREIGN.txt SCRATCH: texts of others (tests/support/foreign.txt) wherever a trace has room for one,
through every program, export and page, in both languages. What comes out holds no character that is not safe, no formula in CSV, no
markup of theirs, and, redacted, none of what was planted."""
import base64
import csv
import gzip
import html.parser
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import zlib
import xml.etree.ElementTree

BIN, TEXT2TRACE, CORPUS, SCRATCH = (os.path.abspath(path) for path in sys.argv[1:5])
BATCH = 12  # names in one trace: of few, more is on a screen
LANGUAGES = {"en": "C.UTF-8", "zh": "zh_CN.UTF-8"}
FORMATS = ["pprof", "folded", "perfetto", "snapshot", "svg"]
FORMULA = re.compile("(?:^|[\t\r\n;])[ \xa0\u2000-\u200a\u3000?]*[=+\\-@\uff1d\uff0b\uff0d\uff20]")
failures = []


def fail(words):
    failures.append(words)
    print("FAIL:", words, file=sys.stderr)


# ---- The corpus ----

def unquote(text):
    escapes = re.sub(rb"\\x(..)|\\(.)", lambda found: bytes([int(found[1], 16)]) if found[1] else
                     b"\n" if found[2] == b"n" else found[2], text, flags=re.DOTALL)
    return escapes


def read_corpus():
    kinds = {}
    with open(CORPUS, "rb") as file:
        for line in file.read().split(b"\n"):
            kind = line.split(b" ")[0].decode()
            texts = re.findall(rb'"((?:[^"\\]|\\.)*)"', line) if kind != "unsafe" else line.split()[1:]
            kinds.setdefault(kind, []).append([unquote(text) if kind != "unsafe" else int(text, 16) for text in texts])
    return kinds


KINDS = read_corpus()
UNSAFE = re.compile("[%s]" % "".join("%s-%s" % (re.escape(chr(first)), re.escape(chr(last))) for first, last in KINDS["unsafe"]))
NEEDLES = sorted({name[found.start():found.start() + 4] for name, *_ in KINDS["cell"] + KINDS["name"]
                  for found in re.finditer(b"\x1b|\xc2\x9b|\xe2\x80\xae|\xe2\x81\xa6|\xef\xbb\xbf|\xf3\xa0\x81", name)
                  if len(name) >= found.start() + 4})


# ---- Traces ----

def quoted(text):
    return '"%s"' % "".join("\\x%02x" % byte for byte in text)


def framed(text):
    return "".join(chr(byte) if chr(byte).isalnum() and byte < 128 else "\\x%02x" % byte for byte in text)


def trace_of(texts, host=None, command=None, files=None):
    """A process for each text, which it has for every name; leaks, a failed request, wrong frees and steps, so that all is said."""
    lines, events, time = [], [], 0
    for i, text in enumerate(texts, 1):
        name, frame = quoted(text), framed(files[i - 1] if files else text)
        lines += ["process %d pid=%d host=%s rank=%d begin=0 command=%s" % (i, 100 + i, quoted(host) if host else name, i - 1, quoted(command) if command else name),
                  "device %d process=%d ordinal=0 physical=%d kind=npu name=%s capacity=65536" % (i, i, i, name),
                  "heap %d process=%d device=%d level=driver basis=block name=%s" % (2 * i - 1, i, i, name),
                  "heap %d process=%d device=%d level=pool basis=block name=%s small=100 large=1000" % (2 * i, i, i, name),
                  "thread %d process=%d tid=%d name=%s" % (i, i, 100 + i, name), "module %d process=%d path=%s base=0x1000 bytes=4096" % (i, i, quoted(files[i - 1]) if files else name),
                  "attribute %d process=%d source=environment name=PYTORCH_NPU_ALLOC_CONF value=%s" % (2 * i - 1, i, name),
                  "attribute %d process=%d source=version name=CANN value=%s" % (2 * i, i, name if not host else '"8.0"'),
                  "stack %d: %s:10:%s < %s:5:main" % (2 * i - 1, frame, framed(text), frame), "stack %d: %s < %s+0x10" % (2 * i, framed(text) if not files else "give", frame)]

        def event(words, *values):
            nonlocal time
            time += 10
            events.append("@%d %s thread=%d" % (time, words % values, i))
        event("alloc heap=%d address=%#x requested=8192 block=8192 stack=%d", 2 * i - 1, i << 24, 2 * i)
        event("range_begin detail=module name=%s number=%d", name, 10 * i)
        event("range_begin detail=category name=%s number=%d", name, 10 * i + 1)
        for step in range(8):
            event("step number=%d", step)
            event("range_begin detail=operator name=%s number=%d", name, 100 * i + step)
            event("alloc heap=%d address=%#x requested=500 block=512 stack=%d", 2 * i, (i << 24) + 512 * step, 2 * i - 1)
            event("range_end number=%d", 100 * i + step)
            event("mark name=%s", name)
        event("note detail=missing_function name=%s", name)
        event("note detail=unseen_library name=%s", name)
        event("alloc_failed heap=%d requested=9000 stack=%d error=207001 free=1000 total=65536", 2 * i, 2 * i - 1)
        event("free heap=%d address=%#x", 2 * i, i << 24)
        event("free heap=%d address=%#x", 2 * i, i << 24)
        events.append("@%d process_end process=%d thread=%d detail=exit error=%d" % (time + 1, i, i, i % 2))
    return "\n".join(lines + events) + "\n"


# ---- What comes out ----

def check_text(what, data, kept="\n"):
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return fail("%s: %s" % (what, error))
    found = next((found for found in UNSAFE.finditer(text) if found[0] not in kept), None)
    if found:
        fail("%s: %r is not safe: %r" % (what, found[0], text[max(0, found.start() - 40):found.end() + 20]))
    return text


def check_csv(what, data):
    text = check_text(what, data, "\t\r\n")
    for row in csv.reader(io.StringIO(text or "", newline=""), strict=True):
        for cell in row:
            if FORMULA.search(cell) and not re.fullmatch("-?[0-9.]+(e[-+]?[0-9]+)?", cell):
                fail("%s: a formula: %r" % (what, cell))


class Page(html.parser.HTMLParser):
    """Markup of theirs would be a tag, an attribute or a script that has "hijacked" in it."""

    def __init__(self, what):
        super().__init__()
        self.what, self.element = what, ""

    def handle_starttag(self, tag, attributes):
        self.element = tag
        if "hijacked" in tag or any("hijacked" in name or "hijacked" in (value or "") for name, value in attributes):
            fail("%s: <%s %s>" % (self.what, tag, attributes))

    def handle_endtag(self, tag):
        self.element = ""

    def handle_data(self, data):
        if self.element in ("script", "style") and "hijacked" in data:
            fail("%s: it is in a %s: %r" % (self.what, self.element, data[:80]))
        elif self.element not in ("script", "style"):
            check_text(self.what, data.encode(), "\t\n")


def check_page(what, data):
    text = data.decode()
    Page(what).feed(text)
    strings = re.search('class="strings" data-head=\'[^\']*\'>([^<]*)<', text)
    if strings:
        check_text(what + ": strings", zlib.decompress(base64.b64decode(strings[1]), -15), "\0")
    else:
        fail("%s has no strings" % what)


def check_picture(what, data):
    check_text(what, data)
    for element in xml.etree.ElementTree.fromstring(data).iter():
        if "hijacked" in element.tag or any("hijacked" in word for pair in element.attrib.items() for word in pair):
            fail("%s: %s %s" % (what, element.tag, element.attrib))


def check_bytes(what, data):
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    for needle in NEEDLES:
        if needle in data:
            fail("%s holds %r" % (what, needle))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def run(*words, language="en", statuses=(0, 1, 3)):
    """What it prints: safe, whatever it is."""
    got = subprocess.run([os.path.join(BIN, words[0]), *words[1:]], capture_output=True, check=False, timeout=60, stdin=subprocess.DEVNULL,
                         env={**os.environ, "LC_ALL": LANGUAGES[language]})
    what = b" ".join(word if isinstance(word, bytes) else word.encode() for word in words).decode(errors="replace")
    if got.returncode not in statuses:
        fail("%s ends with %d: %s" % (what, got.returncode, got.stderr))
    check_text(what, got.stdout)
    check_text(what + ": errors", got.stderr)
    return got.stdout


def load(name, text, *options):
    with open(name + ".txt", "w", encoding="ascii") as file:
        file.write(text)
    subprocess.run([TEXT2TRACE, name + ".txt", name + ".zst"], check=True)
    run("npumem-ingest", "--force", "-o", name + ".db", "--csv", name + ".csv", "--csv-all", *options, name + ".zst")
    run("npumem-ingest", name + ".db", language="zh")
    for file in sorted(os.listdir(name + ".csv")):
        check_csv("%s.csv/%s" % (name, file), read("%s.csv/%s" % (name, file)))


def check_json(text):
    for line in text.decode().split("\n{\n"):
        json.loads(line if line.startswith("{") else "{" + line)


def check_programs(name):
    database = name + ".db"
    rules = ["--max-peak", "1B", "--max-reserved", "1B", "--no-leak", "--no-growth", "--no-rising", "--no-anomaly", "--no-oom", "--complete"]
    run("npumem-check", database, *rules)
    check_json(run("npumem-check", database, *rules, "--json"))
    run("npumem-top", "--once", name + ".zst")
    check_json(run("npumem-top", "--once", "--json", name + ".zst"))
    for pair in ([database, "plain.db"], ["plain.db", database]):
        run("npumem-diff", *pair, "--by-rank", "--csv", name + ".diff", "--force")
        for file in os.listdir(name + ".diff"):
            check_csv("diff: " + file, read("%s.diff/%s" % (name, file)))
    run("npumem-diff", database + "@begin", database + "@peak", statuses=(0, 1, 2))
    for choice in ("leak", "peak", "oom"):
        run("npumem-stack", database, choice, "--top", "0")
    run("npumem-whatif", "--list", database)
    run("npumem-whatif", database, "--csv", name + ".whatif", "--force")
    check_csv("whatif", read(name + ".whatif"))


def texts_of(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from texts_of(item)


def check_assistant(name):
    """What an assistant is told, the escapes of JSON undone: safe, and none of it long."""
    calls = [("open", {"path": name + ".db"}), ("findings", {"handle": "h1"}), ("explain", {"handle": "h1", "moment": "peak"}),
             ("compare", {"a": "h1", "ranks": True}), ("compare", {"a": "h1", "from": "peak", "to": "end"})]
    calls += [("explain", {"handle": "h1", "finding": number}) for number in (1, 2, 3, 9)] + [("explain", {"handle": "h1", "block": "2"})]
    calls += [("query", {"handle": "h1", "sql": "SELECT * FROM " + table}) for table in ("process", "device", "heap", "thread", "frame", "moment", "finding")]
    lines = "".join(json.dumps({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}) + "\n"
                    for i, (tool, arguments) in enumerate(calls))
    got = subprocess.run([BIN + "/npumem-mcp", name + ".db"], input=lines.encode(), capture_output=True, check=False, timeout=60)
    if got.returncode != 0 or got.stderr:
        fail("npumem-mcp of %s ends with %d: %s" % (name, got.returncode, got.stderr))
    check_text("npumem-mcp of " + name, got.stdout)
    answers = [json.loads(line)["result"] for line in got.stdout.splitlines()]
    if len(answers) != len(calls) or any(answer["isError"] for answer in answers[:2]):
        fail("npumem-mcp of %s says %r" % (name, answers[:2]))
    for (tool, arguments), answer in zip(calls, answers):
        for text in texts_of(answer.get("structuredContent", {})):
            check_text("%s %s of %s" % (tool, arguments, name), text.encode())
            if len(text) > 600:
                fail("%s %s of %s: a text of %d characters" % (tool, arguments, name, len(text)))


def check_files(name):
    database = name + ".db"
    for kind in FORMATS:
        run("npumem-export", kind, database, "-o", "out", "--force")
        check_bytes("%s of %s" % (kind, name), read("out"))
        if kind == "svg":
            check_picture("svg of %s" % name, read("out"))
        if kind == "folded":
            check_text("folded of %s" % name, read("out"))
    run("npumem-report", database, "-o", "out.html", "--force")
    check_page("page of %s" % name, read("out.html"))
    run("npumem-report", database, "--against", "plain.db", "--no-sql", "-o", "out.html", "--force")
    check_page("page of %s beside another" % name, read("out.html"))
    for language in LANGUAGES:
        run("npumem-bundle", database, "-o", "out.tar", "--force", language=language)
        with tarfile.open("out.tar") as bundle:
            for member in bundle.getmembers():
                if member.name.endswith(".txt"):
                    check_text("%s of %s" % (member.name, name), bundle.extractfile(member).read())


def check_names_of_files(names):
    """Whatever a file is called that somebody gave: in errors, and as an input and an output."""
    for name in names:
        if len(name) > 200 or b"/" in name or name in (b"", b" "):
            continue
        path = b"./" + name
        for program in ("npumem-ingest", "npumem-check", "npumem-diff", "npumem-stack", "npumem-top", "npumem-whatif", "npumem-report", "npumem-bundle", "npumem-mcp"):
            run(program, path, *{"npumem-check": ["--no-leak"], "npumem-diff": ["plain.db"]}.get(program, []), statuses=(1, 4))
        run("npumem-export", "svg", path, statuses=(1, 4))
        shutil.copy("plain.zst", path)
        run("npumem-ingest", "--force", path)
        run("npumem-record", "--finish", path)
        run("npumem-record", "-o", path, "--", path, statuses=(126, 127))
        run("npumem", name, statuses=(2,))
        os.unlink(path)


# ---- What is redacted ----

def check_absent(what, data, words):
    folded = data.lower()
    for word in words:
        if word in folded:
            at = folded.index(word)
            fail("%s holds %r: %r" % (what, word, data[max(0, at - 40):at + 40]))


def database_text(path):
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    db.text_factory = bytes
    names = [name.decode() for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return b"\n".join(cell for name in names for row in db.execute('SELECT * FROM "%s"' % name) for cell in row if isinstance(cell, bytes))


def planted(text, number):
    """A word of its own, so that no text is saved by what is known of another."""
    letters = bytes([ord("a") + number // 26, ord("a") + number % 26])
    return re.sub(b"planted", lambda found: found[0] + (letters.upper() if found[0].isupper() else letters), text, flags=re.IGNORECASE)


def check_redacted():
    texts = [planted(line[0], number) for number, line in enumerate(KINDS["secret"])] + [line[0] for line in KINDS["place"]]
    words = [b"planted"] + [line[1].lower() for line in KINDS["place"]]
    home = b"/home/planteduser/llama-planted"
    files = [b"%s/v%d/plantedmodel.py" % (home, i) for i in range(len(texts))]
    plain = trace_of(texts, host=b"plantedhost.plantednet", command=b"python3 %s/plantedtrain.py --run plantedarg-7" % home, files=files)
    # A name of a function stays, but for the keys in it that are known by their look.
    plain = re.sub(r"(stack \d+: [^:]*:10:)\S*", r"\1give", plain)
    load("secrets", plain)
    kept = database_text("secrets.db").lower()
    for word in words:
        if word not in kept:
            fail("%r was not planted" % word)
    load("hidden", plain, "--redact")
    check_absent("hidden.db", database_text("hidden.db"), words)
    check_absent("bytes of hidden.db", read("hidden.db"), words[:1])
    for language in LANGUAGES:
        check_absent("the screen", run("npumem-ingest", "hidden.db", language=language), words)
    run("npumem-bundle", "--redact", "secrets.db", "-o", "out.tar", "--force")
    with tarfile.open("out.tar") as bundle:
        bundle.extractall("bundle")
    for file in os.listdir("bundle/npumem-bundle"):
        data = read("bundle/npumem-bundle/" + file)
        check_absent(file, database_text("bundle/npumem-bundle/run.db") if file == "run.db" else data, words)
    for file in os.listdir("hidden.csv"):
        check_absent(file, read("hidden.csv/" + file), words)


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    os.chdir(SCRATCH)
    names = [line[0] for line in KINDS["cell"] + KINDS["name"] if line[0] != b""]
    names += [b"long " * 300 + b"\x1b[31m", b"\xe5\xa4\xa7" * 25 + b"\xe2\x80\xae" + b"x" * 60 + b"\x1b[31m" + b"y" * 300]
    load("plain", trace_of([b"plain"]))
    for number, begin in enumerate(range(0, len(names), BATCH)):
        name = "names%d" % number
        load(name, trace_of(names[begin:begin + BATCH]))
        check_programs(name)
        check_files(name)
        check_assistant(name)
    check_names_of_files([name for name in names if any(needle in name for needle in NEEDLES)][::2] + [b"$(touch hijacked)", b"--hijacked"])
    if os.path.exists("hijacked"):
        fail("a name was run")
    check_redacted()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
