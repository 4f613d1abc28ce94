# SPDX-License-Identifier: Apache-2.0
"""spoken.py SOURCE_DIR: src/say/spoken.def against the sources. Every text that programs speak (nm_spoken, the tables of options, what is
refused) and every error has its Chinese there, or stands in english.txt, which has those that no user meets; each pair has the same
conversions; and no pair is of a text that nobody says."""
import glob
import os
import re
import sys

import table

CALLS = re.compile(r"\b(nm_spoken|nm_fail\w*|options_refuse|complain|in_language|warn_of_part|selfcheck_say|say_both|say_runs|say_slowdown)\(")
CONVERSION = re.compile(r"%(?:(\d+)\$)?([-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:ll|l|z|j|h)?[a-zA-Z%])")
PAIR = re.compile(r'^NM_SPOKEN\((?P<english>"(?:[^"\\]|\\.|" PRI\w+ ")*"), (?P<chinese>"(?:[^"\\]|\\.|" PRI\w+ ")*")\)$', re.M)
ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "033": "\033"}


def literals_of(text):
    """The literals of C: adjacent ones are one, and a macro of inttypes.h among them is %s's s."""
    for run in re.findall(r'"(?:[^"\\]|\\.)*"(?:\s*(?:PRI\w+\s*)?"(?:[^"\\]|\\.)*")*(?:\s*PRI\w+)?', text):
        whole = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', re.sub(r"PRI([dux])\w+", r'"l\1"', run)))
        yield re.sub(r"\\(033|.)", lambda match: ESCAPES.get(match.group(1), match.group(1)), whole)


def call_texts(text):
    """The literals in the arguments of the calls that speak, but names of columns."""
    text = re.sub(r"\b(?:selfcheck_cell|nm_named_text)\([^()]*\)", "", text)
    for match in CALLS.finditer(text):
        depth, at = 1, match.end()
        for token in table.TOKEN.finditer(text, match.end()):
            depth += {"(": 1, ")": -1}.get(token.group("other"), 0)
            if depth == 0:
                at = token.start()
                break
        yield list(literals_of(text[match.end():at]))


def table_texts(text):
    """Of tables of options: what stands in their help and ends, whole statements."""
    for match in re.finditer(r"\.(?:help|about|ending)\s*=\s*\(?((?:\s*\"(?:[^\"\\]|\\.)*\")+)", text):
        yield from literals_of(match.group(1))
    for match in re.finditer(r"\.ends = \{(.*?)\}", text, re.S):
        yield from literals_of(match.group(1))
    for match in re.finditer(r"const option_command commands\[\] = \{(.*?)\n\};", text, re.S):
        yield from (re.findall(r'"([^"]*)"', line)[1] for line in match.group(1).split("\n") if line.count('"') == 4)
    for match in re.finditer(r"\bOPTIONS_THRESHOLDS\(([^()]*(?:\([^()]*\)[^()]*)*)\)", text):
        yield from literals_of(match.group(1))
    for match in re.finditer(r"^    RULE\(\"[^\"]*\", (?:NULL|\"[^\"]*\"),(.*?),\s*CHECK_\w+\)", text, re.M | re.S):
        yield from literals_of(match.group(1))


def is_text(literal):
    """Words to translate: not a name, a format of figures alone, or SQL."""
    words = CONVERSION.sub(" ", literal)
    return bool(re.search(r"[a-z]{2,} [a-z]|^[a-z]{2,}(?: [a-z]+)*$|[A-Za-z]{2,}.*\n", words)) and not table.IS_SQL.search(literal)


def said_in(source):
    """{text: where}, of all that is spoken or may be an error."""
    out, every = {}, set()
    for path in glob.glob(f"{source}/src/**/*.sql", recursive=True) + glob.glob(f"{source}/schema/*.sql") + glob.glob(f"{source}/queries/*.sql"):
        with open(path, encoding="utf-8") as file:
            every.update(literal for _, literal in table.sql_literals(file.read()))
    with open(f"{source}/src/tool/selfcheck/torch.py", encoding="utf-8") as file:
        whole = file.read()
        every.update(literal.replace("{}", module) for literal in literals_of(whole) for module in ("torch", "torch_npu"))
    for path in sorted(glob.glob(f"{source}/src/**/*.[ch]", recursive=True)):
        name = os.path.relpath(path, source)
        # What npumem-mcp answers is for assistants, in English.
        if name.startswith(("src/hook/", "src/record/", "src/tool/mcp/")) and name != "src/tool/mcp/options.c":
            continue
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S).replace("\\\n", "\n")
        for macro, literal in re.findall(r'^#define ([A-Z_]+) +("[^"\n]*")', text, re.M):
            text = re.sub(rf'(?<=") {macro}\b', lambda match: " " + literal, text)
        every.update(literals_of(text))
        for literals in call_texts(text):
            out.update({literal: name for literal in literals if is_text(literal)})
        if name.startswith("src/tool/"):
            out.update({literal: name for literal in table_texts(text) if literal})
    return out, every


def pairs_in(source):
    with open(f"{source}/src/say/spoken.def", encoding="utf-8") as file:
        text = file.read()
    rows = [[next(literals_of(half)) for half in match.groups()] for match in PAIR.finditer(text)]
    return rows, len(rows) == text.count("\nNM_SPOKEN(")


def conversions(text):
    """Its conversions in the order of the arguments."""
    found = [(match.group(1), match.group(2)) for match in CONVERSION.finditer(text) if match.group(2) != "%"]
    if any(number for number, _ in found):
        found.sort(key=lambda one: int(one[0] or 0))
    return [kind for _, kind in found]


def main():
    source, failures = sys.argv[1], []
    said, every = said_in(source)
    with open(f"{source}/tests/sentences/english.txt", encoding="utf-8") as file:
        english = {line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")}
    pairs = {}
    rows, is_all = pairs_in(source)
    if not is_all:
        failures.append("src/say/spoken.def: a row has another form")
    for text, chinese in rows:
        if text in pairs:
            failures.append(f"src/say/spoken.def: stands twice: {text!r}")
        pairs[text] = chinese
        if conversions(text) != conversions(chinese):
            failures.append(f"src/say/spoken.def: other conversions in the Chinese of {text!r}")
    for text, name in said.items():
        if text not in pairs and text.replace("\n", "\\n") not in english:
            failures.append(f"{name}: {text!r} has no Chinese: src/say/spoken.def, or tests/sentences/english.txt")
    # strerror's texts are the system's.
    system = {os.strerror(number) for number in range(1, 134)}
    for text in pairs:
        # What SQL, or C, puts around a word or a figure.
        is_around = text.count("%s") == 1 and all(any(run in one for one in every) for run in text.split("%s"))
        if text not in said and text not in every and text not in system and not is_around:
            failures.append(f"src/say/spoken.def: nobody says {text!r}")
    for text in english - {text.replace("\n", "\\n") for text in said}:
        failures.append(f"tests/sentences/english.txt: nobody says {text!r}")
    print("\n".join(failures) if failures else f"{len(pairs)} texts")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
