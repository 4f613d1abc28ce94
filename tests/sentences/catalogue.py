# SPDX-License-Identifier: Apache-2.0
"""Reads docs/sentences.txt: every sentence, or part of a line, that npumem says of a recording.

A block a sentence: its code at the begin of a line, then indented the sentence, then indented `when` and what makes it said.
In a sentence {...} stands for a figure or a name, and [a/b] for one of several words ([s/] for one or none). White space counts
for nothing: the screen aligns. What is said on the screen or the page has a second line, behind `zh`, in Chinese.
"""
import re

# What may stand for a placeholder; all others stand for any text on the line.
FIGURES = {
    "n": r"-?\d[\d,]*",
    "number": r"-?\d[\d.,e+]*",
    "bytes": r"-?[\d.,]+ (?:B|KiB|MiB|GiB|TiB|PiB)",
    "percent": r"-?[\d.]+ %",
    "time": r"-?[\d.,]+ (?:ns|us|ms|s|min|h)",
    "end": r"$",
    "place": r"\S(?:(?!: without).)*?",
    "segment": r"(?: \(a segment of [\d.]+ [GMK]iB\))?",
    "modules": r"(?: \([\d.]+ [GM]iB of it by modules seen to take it\))?",
    "pools": r"(?: \(up to [\d.]+ [GM]iB of it free inside its pools\))?",
}

# A placeholder that is named as a column stands for a value of its unit (src/say/said.h).
UNITS = {"bytes": "bytes", "ratio": "percent", "ns": "time", "hours": "number"}

# Where the sentences of a code's first word are made.
SOURCES = {
    "screen": ["src/say/sentences.def"],
    "page": ["src/say/page.def"],
    "health": ["schema/health.sql", "schema/fragmentation_verdict.sql"],
    "out_of_memory": ["schema/out_of_memory.sql"],
    "leak": ["schema/leak_by_site.sql"],
    "suspect": ["schema/suspect_by_site.sql"],
    "reason": ["src/store/verdicts/leaks.sql", "schema/leak_by_site.sql", "schema/suspect_by_site.sql", "src/store/verdicts/verdict.c",
               "src/store/verdicts/replaced.sql"],
    "steps": ["src/steps/anchor.c", "src/steps/anchor_judge.c"],
    "forecast": ["src/store/verdicts/trend.c"],
    "check": ["src/drain/state_words.c", "src/tool/check/results.c", "src/tool/check/rules.c", "src/tool/check/*.sql"],
    "whatif": ["src/tool/whatif/results.c"],
    "stack": ["src/tool/stack/answer.c", "src/tool/stack/print.c", "src/tool/stack/*.sql", "schema/stack_sum.sql"],
}

MADE = {"screen", "page"}  # of whose rows sections of docs/sentences.txt are made

PART = "as part of a line"


class Sentence:
    def __init__(self, code, text, when, chinese=None):
        self.code, self.text, self.when, self.chinese = code, text, when, chinese
        self.kind = code.split(".")[0]

    def is_part(self):
        """A label, or words that mean something behind others alone: no recording is named for it."""
        return self.when == PART

    def parts(self):
        """The text as ('text', words), ('figure', name) and ('one of', [words...]), in order."""
        for token in re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^{\[]+", self.text):
            if token[0] == "{":
                yield "figure", token[1:-1]
            elif token[0] == "[":
                yield "one of", token[1:-1].split("/")
            else:
                yield "text", token

    def runs(self):
        """The fixed words between placeholders, without white space, with each of several words."""
        texts = [[""]]
        for kind, value in self.parts():
            if kind == "figure":
                texts = [runs + [""] for runs in texts]
            else:
                texts = [runs[:-1] + [runs[-1] + words] for runs in texts for words in ([value] if kind == "text" else value)]
        return {squeeze(run) for runs in texts for run in runs if squeeze(run)}

    def pattern(self):
        """A pattern of what is said, of text whose white space is `flat`."""
        out = ""
        for kind, value in self.parts():
            if kind == "figure":
                out += "(?:" + FIGURES.get(UNITS.get(value.rpartition("_")[2], value), r"\S(?:.*?\S)??") + ")"
            elif kind == "one of":
                out += "(?:" + "|".join(re.escape(flat(words, False)) for words in value) + ")"
            else:
                out += re.escape(flat(value, False))
        return re.compile(out, re.M)


def squeeze(text):
    return re.sub(r"\s+", "", text)


def flat(text, is_whole=True):
    text = re.sub(r"[ \t]+", " ", text)
    return text.strip() if is_whole else text


def read(path):
    """The sentences by code; whoever breaks the form of the file is told the line."""
    out, code, lines = {}, None, []

    def close(number):
        if code is None:
            return
        at = next((i for i, line in enumerate(lines) if line.startswith("when ")), None)
        if not at or at != len(lines) - 1:
            raise SystemExit(f"{path}:{number}: {code} needs its sentence and then one line that begins with 'when'")
        if code in out:
            raise SystemExit(f"{path}:{number}: {code} stands twice")
        if code.split(".")[0] not in SOURCES:
            raise SystemExit(f"{path}:{number}: {code}: no source is known of {code.split('.')[0]}")
        chinese = next((line[3:] for line in lines[:at] if line.startswith("zh ")), None)
        text = flat(" ".join(line for line in lines[:at] if not line.startswith("zh ")))
        out[code] = Sentence(code, text, lines[at][5:], chinese)

    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        if line.startswith("#") or not line.strip():
            continue
        if line[0] != " ":
            close(number)
            code, lines = line.strip(), []
        else:
            lines.append(line.strip())
    close(0)
    return out
