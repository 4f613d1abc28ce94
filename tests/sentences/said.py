# SPDX-License-Identifier: Apache-2.0
"""said.py SOURCE_DIR PROGRAM_DIR TEXT2TRACE WORK_DIR: whether each sentence of docs/sentences.txt is said of the recording that
cases.txt (which explains itself) names for it, with the figures that stand there, and not of the one near that."""
import collections
import concurrent.futures
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import threading

import catalogue
import planted
import programs
import snapshots

# What is looked through for a sentence of a kind, beside what npumem-ingest prints for `screen`.
COLUMNS = {
    "rests": "SELECT text FROM finding",
    "health": "SELECT advice FROM health UNION ALL SELECT reason FROM health",
    "leak": "SELECT evidence FROM leak_by_site",
    "suspect": "SELECT evidence FROM suspect_by_site",
    "reason": "SELECT reason FROM suspect_by_site",
    "steps": "SELECT reason FROM step_origin",
    "forecast": "SELECT reason FROM forecast",
    "out_of_memory": "SELECT explanation FROM out_of_memory UNION ALL SELECT message FROM out_of_memory",
}


def place_of(sentence):
    """What a verdict rests on is not on the screen."""
    return "rests" if sentence.code.startswith("screen.rests.") else sentence.kind


MEASURES = ("allocation-cost", "fragmentation", "pool-hit-rate", "zero-copy")
TOOLS = {"check": "npumem-check", "whatif": "npumem-whatif", "stack": "npumem-stack"}


class Case:
    def __init__(self, name, how, words, line):
        self.name, self.how, self.words, self.line = name, how, words, line
        self.edits = []


def stop(line, text):
    raise SystemExit(f"tests/sentences/cases.txt:{line}: {text}")


def read_cases(path):
    """The cases by name, and of each code what is said in which case ([(name, text)]) and in which cases it is not."""
    cases, told, last = {}, {}, None
    for line, text in enumerate(open(path, encoding="utf-8"), 1):
        if text.startswith("#") or not text.strip():
            continue
        words = text.split(None, 2)
        if text[0] != " " and len(words) > 1:
            if words[1] in cases:
                stop(line, f"the case {words[1]} stands twice")
            last = cases[words[1]] = Case(words[1], words[0], shlex.split(words[2]) if len(words) > 2 else [], line)
        elif text[0] != " ":
            if words[0] in told:
                stop(line, f"{words[0]} stands twice")
            last = told[words[0]] = {"said": [], "not": [], "line": line}
        elif isinstance(last, Case):
            last.edits.append((line, text.strip("\n").strip()))
        elif words[0] == "said" and ":" in text:
            name, said = text.strip()[5:].split(":", 1)
            last["said"].append((name.strip(), catalogue.flat(said)))
        elif words[0] == "not":
            last["not"] += [word.strip(",") for word in text.split()[1:]]
        else:
            stop(line, "what is this? 'said CASE: the words' or 'not CASE'")
    return cases, told


def repeated(line, edit):
    """'* 3 @{10 * i} one ;; @{10 * i + 5} two': these lines three times, with what {...} comes to for i = 0, 1 and 2."""
    count, text = edit[2:].split(None, 1)
    try:
        return "".join(re.sub(r"\{([^}]*)\}", lambda match: str(eval(match.group(1), {"i": i})), part.strip()) + "\n"
                       for i in range(int(count)) for part in text.split(";;"))
    except (SyntaxError, NameError, ValueError) as problem:
        stop(line, problem)


class Runs:
    """The cases, each made at most once, by whichever thread comes first."""

    def __init__(self, source, programs, text2trace, work, cases):
        self.source, self.programs, self.text2trace, self.work, self.cases = source, programs, text2trace, work, cases
        self.made, self.texts = {}, {}
        self.locks = collections.defaultdict(threading.RLock)
        self.snapshots = snapshots.Snapshots(work)

    def run(self, case, words, is_fine=(0, 3)):
        # Local times are none of these sentences' business, but a zone of the machine's would be.
        done = subprocess.run(words, cwd=self.work, capture_output=True, text=True, env=dict(os.environ, TZ="UTC"))
        if done.returncode not in is_fine:
            stop(case.line, f"{' '.join(words)} ended with {done.returncode}: {done.stderr}{done.stdout}")
        return done.stdout

    def edited(self, case, text):
        for line, edit in case.edits:
            if edit.startswith("+ "):
                text += edit[2:] + "\n"
                continue
            if edit.startswith("* "):
                text += repeated(line, edit)
                continue
            mark, *parts = edit[:1], *edit[1:].split(edit[:1])
            if len(parts) != 3 or parts[0] not in text:
                stop(line, f"'{edit}' changes nothing: |old|new| of what stands in {case.words[0]}")
            text = text.replace(parts[0], parts[1].replace(" ;; ", "\n"))
        return text

    def input_of(self, name):
        """The trace or snapshot of a case, made if it is not there yet."""
        with self.locks["input", name]:
            return self.make(name)

    def make(self, name):
        case = self.cases.get(name)
        if case is None:
            raise SystemExit(f"tests/sentences/cases.txt: there is no case {name}")
        path = f"{name}.pickle" if case.how in ("snapshot", "planted") else f"{name}.zst"
        if name in self.made:
            return self.made[name]
        if case.how == "changed":
            self.text_of(case.words[0], "screen")
            path = f"{name}.changed.db"
            shutil.copy(f"{self.work}/{case.words[0]}.db", f"{self.work}/{path}")
            with sqlite3.connect(f"{self.work}/{path}") as db:
                for _, statement in case.edits:
                    db.execute(statement)
            db.close()
        elif case.how in ("trace", "program"):
            at = case.words[0]
            base = self.cases.get(at)
            if case.how == "program":
                text = getattr(programs, at)(**{name: int(value) for name, value in (word.split("=") for word in case.words[1:])})
            elif base:
                text = self.trace_text(base)
            else:
                text = open(f"{self.source}/tests/{at}", encoding="utf-8").read()
            case.text = self.edited(case, text)
            with open(f"{self.work}/{name}.txt", "w", encoding="utf-8") as file:
                file.write(case.text)
            depth = [word.split("=")[1] for word in case.words if word.startswith("depth=")]
            self.run(case, [self.text2trace, f"{name}.txt", path, *(["1000"] + depth if depth else [])])
        elif case.how == "planted":
            planted.snapshot(f"{self.work}/{path}", *case.words)
        elif case.how == "damaged":
            whole = bytearray(open(f"{self.work}/{self.input_of(case.words[0])}", "rb").read())
            whole[len(whole) // 2] ^= 1
            with open(f"{self.work}/{path}", "wb") as file:
                file.write(whole)
        elif case.how == "log":
            path = f"{name}.log"
            shutil.copy(f"{self.source}/tests/{case.words[0]}", f"{self.work}/{path}")
        elif case.how == "cut":
            whole = open(f"{self.work}/{self.input_of(case.words[0])}", "rb").read()
            with open(f"{self.work}/{path}", "wb") as file:
                file.write(whole[:len(whole) - int(case.words[1])])
        elif case.how == "snapshot":
            self.snapshots.write(path, case.words[0], dict(word.split("=", 1) for word in case.words[1:]))
        else:
            stop(case.line, f"what is '{case.how}'?")
        self.made[name] = path
        return path

    def trace_text(self, case):
        self.input_of(case.name)
        return case.text

    def text_of(self, name, kind):
        """What is printed of a case, or what stands in the columns of its database."""
        with self.locks["text", name]:
            return self.find(name, kind)

    def find(self, name, kind):
        case = self.cases.get(name)
        if case is None:
            raise SystemExit(f"tests/sentences/cases.txt: there is no case {name}")
        if (name, "screen") not in self.texts:
            self.texts[name, "screen"] = self.load(case)
        if (name, kind) not in self.texts and kind in COLUMNS:
            db = sqlite3.connect(f"file:{self.work}/{name}.db?mode=ro", uri=True)
            self.texts[name, kind] = "\n".join(catalogue.flat(row[0]) for row in db.execute(COLUMNS[kind]) if row[0])
            db.close()
        if (name, kind) not in self.texts:
            stop(case.line, f"of {name} nothing is known that '{kind}' could be looked for in")
        return self.texts[name, kind]

    def load(self, case):
        if case.how == "tool":
            words = [f"{self.programs}/{TOOLS[case.words[0]]}"]
            for word in case.words[1:]:
                stem = word.split(":")[0]
                if stem.endswith(".changed.db"):
                    self.input_of(stem[:-len(".changed.db")])
                elif stem.endswith(".db") and stem[:-3] in self.cases:
                    self.text_of(stem[:-3], "screen")
                elif stem in self.cases and case.words[0] != "stack":  # whose words are no files
                    word = self.input_of(stem)
                words.append(word)
            text = self.lines(self.run(case, words, (0, 1, 3, 5)))
            self.texts[case.name, case.words[0]] = text
            return ""
        inputs = [self.input_of(word) for word in case.words if case.how == "inputs" and word in self.cases]
        options = [word for word in case.words[0 if case.how == "inputs" else 1:] if word.startswith("-")]
        if case.how == "loaded":
            inputs = [self.input_of(case.words[0])]
            options = case.words[1:]
        elif case.how != "inputs":
            inputs = [self.input_of(case.name)]
            options = [f"--threshold={measure}=0" for measure in MEASURES if "any" in case.words]
        return self.lines(self.run(case, [f"{self.programs}/npumem-ingest", "-o", f"{case.name}.db", *options, *inputs]))

    @staticmethod
    def lines(text):
        """A row of the screen without a label goes on with the one above."""
        return "\n".join(catalogue.flat(line) for line in text.replace("\n         ", " ").split("\n"))


def main():
    source, programs, text2trace, work = sys.argv[1:5]
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    sentences = catalogue.read(f"{source}/docs/sentences.txt")
    cases, told = read_cases(f"{source}/tests/sentences/cases.txt")
    runs = Runs(source, programs, text2trace, work, cases)
    failures = [f"{code} (line {told[code]['line']}) is no sentence of docs/sentences.txt" for code in told if code not in sentences]
    wanted = sorted({(name, place_of(sentences[code])) for code, tale in told.items() if code in sentences
                     for name in [name for name, _ in tale["said"]] + tale["not"]})
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for made in [pool.submit(runs.text_of, *one) for one in wanted]:
            made.result()
    for code, sentence in sentences.items():
        pattern, tale = sentence.pattern(), told.get(code, {"said": [], "not": []})
        if sentence.is_part() or sentence.kind == "page":  # of the page a script is asked: tests/web/
            continue
        if not tale["said"] or not tale["not"] and sentence.when != "always":
            failures.append(f"{code}: needs a case that says it ('said CASE: the words') and one near that which does not ('not CASE')")
        for name, said in tale["said"]:
            if said == "?":
                found = pattern.search(runs.text_of(name, place_of(sentence)))
                failures.append(f"{code}: {name} says: {found.group(0) if found else 'NOTHING of it in ' + runs.text_of(name, place_of(sentence))[:3000]}")
                continue
            if "{" in said:  # a figure that is as the machine will have it
                if not catalogue.Sentence(code, said, "").pattern().search(runs.text_of(name, place_of(sentence))):
                    failures.append(f"{code}: {name} does not say '{said}'")
                continue
            whole = re.fullmatch(pattern, said)
            if whole is None:
                failures.append(f"{code}: '{said}' is not the sentence of docs/sentences.txt: {sentence.text}")
            text = runs.text_of(name, place_of(sentence))
            if said not in text:
                near = [line for line in text.split("\n") if pattern.search(line)]
                failures.append(f"{code}: {name} does not say '{said}'" + (f" but: {near[0]}" if near else f":\n{text}"))
        for name in tale["not"]:
            found = pattern.search(runs.text_of(name, place_of(sentence)))
            if found:
                failures.append(f"{code}: {name} says it too: {found.group(0)}")
    unused = set(cases) - {name for name, _ in runs.texts} - set(runs.made)
    failures += [f"the case {name} is of no use" for name in sorted(unused)]
    print("\n".join(failures) if failures else f"{len(sentences)} sentences in {len(runs.texts)} texts of {len(cases)} cases")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
