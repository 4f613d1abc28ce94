# SPDX-License-Identifier: Apache-2.0
"""screens.py PROGRAMS TEXT2TRACE WORK [NAME...]: whole screens, in English and in Chinese, of the recordings in the folders
beside it. A folder holds

    trace.txt            the recording as text (tests/support/text_trace.h); its first lines say what is in it, and what follows
    input                instead of it, or how it is written: `blocks N`, `cut BYTES`, `program KIND ...` or `snapshot KIND ...`
    expected.en.txt      what npumem ingest prints of it; expected.zh.txt the same in Chinese

The expected screens are written by hand. Each figure on them must be one that figures.py works out of the text, the two of a folder
must have the same figures, and no row may be longer than 100 cells, no screen longer than 25 rows."""
import difflib
import os
import pickle
import pty
import re
import shutil
import subprocess
import sys
import unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "sentences")]
import figures  # noqa: E402
import programs  # noqa: E402
import snapshots  # noqa: E402

ROWS_MAX, CELLS_MAX = 25, 100


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def options_of(folder):
    path = os.path.join(folder, "input")
    lines = [line.split() for line in read(path).splitlines() if line[:1] not in ("", "#")] if os.path.exists(path) else []
    return {words[0]: words[1:] for words in lines}


def write_input(folder, text2trace, work):
    """The recording of a folder as a file in `work`; its name."""
    options = options_of(folder)
    values = {name: int(value) for name, value in (word.split("=") for words in options.values() for word in words if "=" in word)}
    if "snapshot" in options:
        with open(os.path.join(work, "run.pickle"), "wb") as file:
            pickle.dump(getattr(snapshots, options["snapshot"][0])(**values), file)
        return "run.pickle"
    source, path = os.path.join(folder, "trace.txt"), os.path.join(work, "run.zst")
    if "program" in options:
        source = os.path.join(work, "trace.txt")
        with open(source, "w", encoding="utf-8") as file:
            file.write(getattr(programs, options["program"][0])(**values))
    subprocess.run([text2trace, source, path, *options.get("blocks", [])], check=True)
    if "cut" in options:
        os.truncate(path, os.path.getsize(path) - int(options["cut"][0]))
    return "run.zst"


def cells(row):
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in row)


def amounts(screen):
    return sorted(re.findall(r"\d(?:[\d.,]*\d)?", screen))


def check_folder(folder, ingest, text2trace, work):
    """What is wrong, as lines."""
    problems, expected = [], {}
    os.makedirs(work)
    name = write_input(folder, text2trace, work)
    for language in ("en", "zh"):
        expected[language] = read(os.path.join(folder, f"expected.{language}.txt"))
        for words in ([name, "--force"], ["run.db"]):  # the load, and the database again
            done = subprocess.run([ingest, "--lang", language, *words], cwd=work, capture_output=True, text=True,
                                  env=dict(os.environ, LC_ALL="C.UTF-8"))
            if done.stdout != expected[language]:
                problems += difflib.unified_diff(expected[language].splitlines(), done.stdout.splitlines(), f"expected.{language}.txt",
                                                 f"npumem ingest {words[0]}", lineterm="", n=0)
        rows = expected[language].splitlines()
        problems += [f"{language}: {cells(row)} cells: {row}" for row in rows if cells(row) > CELLS_MAX]
        problems += [f"{language}: {len(rows)} rows"] * (len(rows) > ROWS_MAX)
        for trace in (os.path.join(folder, "trace.txt"), os.path.join(work, "trace.txt")):
            if os.path.exists(trace) and "cut" not in options_of(folder):  # of which not all is in the recording
                wrong = figures.wrong_figures(read(trace), expected[language])
                problems += [f"{language}: not of the trace: {figure}" for figure in wrong]
    if amounts(expected["en"]) != amounts(expected["zh"]):
        problems.append(f"figures differ: {amounts(expected['en'])} and {amounts(expected['zh'])}")
    return problems


def show(ingest, work, words=(), is_terminal=False, **environment):
    """The screen of run.db with `environment` instead of what the tests are run with."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "LC_ALL", "LC_MESSAGES", "LANG")}
    reader, writer = pty.openpty() if is_terminal else os.pipe()
    child = subprocess.Popen([ingest, *words, "run.db"], cwd=work, stdout=writer, stderr=subprocess.DEVNULL,
                             env=dict(kept, TERM="xterm", **environment))
    os.close(writer)
    out = b""
    while True:
        try:
            part = os.read(reader, 65536)
        except OSError:  # a terminal of which the other end is closed
            break
        if not part:
            break
        out += part
    os.close(reader)
    child.wait()
    return out.decode("utf-8").replace("\r\n", "\n")


def check_environment(folder, ingest, work):
    """Colour on a terminal alone, and not where the user wants none; the language of the environment. Colour changes no letter."""
    english, chinese = (read(os.path.join(folder, f"expected.{language}.txt")) for language in ("en", "zh"))
    bold = show(ingest, work, is_terminal=True)
    cases = [("a terminal", re.sub("\033\\[[0-9;]*m", "", bold), english),
             ("a terminal has bold and colour", str("\033[1mrun.zst" in bold and "\033[1;31m1 LEAK" in bold), "True"),
             ("a pipe", show(ingest, work), english),
             ("--color always", show(ingest, work, ["--color", "always"]), bold),
             ("--color never", show(ingest, work, ["--color", "never"], True), english),
             ("NO_COLOR", show(ingest, work, (), True, NO_COLOR="1"), english),
             ("LC_MESSAGES", show(ingest, work, LC_MESSAGES="zh_CN.UTF-8"), chinese),
             ("LANG", show(ingest, work, LANG="zh_CN.UTF-8"), chinese),
             ("LC_ALL", show(ingest, work, LANG="zh_CN.UTF-8", LC_ALL="C"), english),
             ("--lang en", show(ingest, work, ["--lang", "en"], LANG="zh_CN.UTF-8"), english),
             ("--lang auto", show(ingest, work, ["--lang", "auto"], LANG="zh_CN.UTF-8"), chinese)]
    return [f"{name}: {shown}" for name, shown, wanted in cases if shown != wanted]


def main():
    programs_folder, text2trace, work = sys.argv[1:4]
    all_folders = sorted(name for name in os.listdir(HERE) if os.path.isdir(os.path.join(HERE, name)) and name[0] != "_")
    names = sys.argv[4:] or all_folders
    shutil.rmtree(work, ignore_errors=True)
    failed = 0
    for name in names:
        problems = check_folder(os.path.join(HERE, name), f"{programs_folder}/npumem-ingest", text2trace, os.path.join(work, name))
        if name == "leak":
            problems += check_environment(os.path.join(HERE, name), f"{programs_folder}/npumem-ingest", os.path.join(work, name))
        failed += bool(problems)
        for problem in problems:
            print(f"{name}: {problem}")
    print(f"{len(names)} screens in two languages, {failed} wrong")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
