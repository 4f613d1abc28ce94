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


def main():
    programs_folder, text2trace, work = sys.argv[1:4]
    all_folders = sorted(name for name in os.listdir(HERE) if os.path.isdir(os.path.join(HERE, name)) and name[0] != "_")
    names = sys.argv[4:] or all_folders
    shutil.rmtree(work, ignore_errors=True)
    failed = 0
    for name in names:
        problems = check_folder(os.path.join(HERE, name), f"{programs_folder}/npumem-ingest", text2trace, os.path.join(work, name))
        failed += bool(problems)
        for problem in problems:
            print(f"{name}: {problem}")
    print(f"{len(names)} screens in two languages, {failed} wrong")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
