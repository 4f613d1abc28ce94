# SPDX-License-Identifier: Apache-2.0
"""table.py SOURCE_DIR [--update]: docs/sentences.txt against the sources. Every printable literal of the files that make sentences
stands in one, and every word of a sentence is made there: no sentence without its row, no row without its sentence. The sections of
the screen and of the page are made of src/say/sentences.def and src/say/page.def; --update makes them."""
import glob
import os
import re
import sys

import catalogue

IS_SQL = re.compile(r"\b(SELECT|FROM|WHERE|JOIN|ORDER BY|GROUP BY|UNION|UPDATE|INSERT|CREATE|DROP|EXISTS|AND|WITH \w+ AS|WHEN)\b")
TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<char>'(?:\\.|[^'\\\n])+')|"(?P<text>(?:\\.|[^"\\\n])*)"|"""
    r"""(?P<word>[A-Za-z_]\w*)|(?P<line>\\?\n)|(?P<space>[ \t]+)|(?P<other>.)""", re.S)
CONVERSION = re.compile(r"%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:ll|l|z|j|h)?[a-zA-Z](?: (?:GiB|MiB|KiB|B|s|ms|us)\b| \0)?")
# Words that stand in a cell by themselves: places, names of components, states.
CELLS = {
    "(no stack)", "(stack cut)", "(rest)", "(baseline)", "(all)", "(whole heap)", "(others)", "allocation cost", "pool hit rate",
    "zero copy", "not applicable", "not judged", "PAGE ROUNDING", "RECORDED PROCESSES", "OTHER PROCESSES", "DEVICE USED",
    "it grows", "it outlives what is freed", "out of memory", "all processes", "rank", "pid", "END", ",classes:[", "snapshot limit",
}


def is_words(text):
    """Something to read: a word that another, or a figure, stands beside; not a state, a name of a column or a unit."""
    return bool(re.search(r"[A-Za-z]{2,}", text)) and bool(re.search(r"[^\w%.-]", text)) and text.strip() not in CELLS


def pieces_of(text):
    """What is fixed of a format or a literal."""
    text = text.replace("%%", "\0")
    return [piece.replace("\0", "%") for piece in CONVERSION.split(text)]


def sql_literals(text, line=1):
    """(line, literal) of SQL: what stands in quotes and outside comments."""
    for match in re.finditer(r"--[^\n]*|'((?:[^']|'')*)'", text):
        if match.group(1) is not None:
            yield line + text.count("\n", 0, match.start()), match.group(1).replace("''", "'")


def c_literals(text):
    """(line, literal) of C: adjacent strings are one. Of those that are SQL, the literals in them."""
    line, at, first, is_run = 1, "", 0, False
    for match in TOKEN.finditer(text + "\n;"):
        if match.group("text") is not None:
            first = first if is_run else line
            value = match.group("text").replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
            at, is_run = at + value if is_run else value, True
        elif is_run and (match.group("char") or match.group("other")):
            if IS_SQL.search(at):
                yield from ((first, literal) for _, literal in sql_literals(without_compared(at)))
            else:
                yield first, at
            is_run = False
        elif is_run and match.group("word"):
            at += "%s" if match.group("word").startswith("PRI") else ""
            at = at[:-3] + at[-2:] if at.endswith("%%s") else at
        line += match.group(0).count("\n")


# Literals in these are not said of a recording: errors, options, and names of parameters.
NOT_SAID = re.compile(r"\b(nm_fail\w*|usage_error|nm_question_bind_\w+)\b|#\s*(include|error)")
# Nor what is compared with something.
COMPARED_SQL = re.compile(r"\bIN \([^()]*\)|(?:=|<>|\bIS|\bIS NOT|\bGLOB|\bWHEN) '[^']*'")
COMPARED_C = re.compile(r"\bstrn?cmp\((?:[^()]|\([^()]*\))*\)")


def without_compared(sql):
    return COMPARED_SQL.sub(lambda match: re.sub(r"'[^']*'", "''", match.group(0)), sql)


def is_for_programs(literal):
    """JSON and CSV."""
    return '"' in literal or "\\u" in literal or "\\r" in literal


def said_literals(path, text):
    if path.endswith(".sql"):
        yield from sql_literals(without_compared(text))
        return
    text = re.sub(r"/\*.*?\*/", lambda match: "\n" * match.group(0).count("\n"), text, flags=re.S)
    for line, statement in statements_of(text):
        if NOT_SAID.search(statement):
            continue
        for at, literal in c_literals(COMPARED_C.sub("0", statement)):
            if not is_for_programs(literal):
                yield line + at - 1, literal


def statements_of(text):
    """(line, text): C cut at what ends a statement outside quotes, so that a literal is known by its call."""
    begin, line, first = 0, 1, 1
    for match in TOKEN.finditer(text):
        line += match.group(0).count("\n")
        if match.group("other") and match.group("other") in ";{}":
            yield first, text[begin:match.end()]
            begin, first = match.end(), line
        elif match.group("line") and text[begin:match.start()].lstrip().startswith("#") and match.group(0) == "\n":
            yield first, text[begin:match.end()]
            begin, first = match.end(), line
    yield first, text[begin:]


def is_tiled(run, pieces):
    """Whether the run is made of pieces, one behind the other; it may begin or end within one."""
    if any(run in piece for piece in pieces):
        return True
    reached = {end for end in range(len(run)) if end == 0 or any(piece.endswith(run[:end]) for piece in pieces)}
    for at in range(len(run)):
        if at not in reached:
            continue
        if any(piece.startswith(run[at:]) for piece in pieces):
            return True
        reached.update(at + len(piece) for piece in pieces if piece and run.startswith(piece, at))
    return len(run) in reached


TEXT = r'"((?:[^"\\]|\\.)*)"'
ROW = re.compile(rf'^NM_SENTENCE\((\w+), "(screen\.[\w.]+)", {TEXT}, {TEXT},\n    {TEXT}\)$', re.M)
SAID_ROW = re.compile(rf'^NM_SAID\("(page\.[\w.]+)", {TEXT}, {TEXT},\n    {TEXT}\)$', re.M)
LABEL_ROW = re.compile(rf"^NM_LABEL\({TEXT}, {TEXT}\)$", re.M)
SCREEN_HEAD = "# ---- The screen, and table finding: made of src/say/sentences.def by tests/sentences/table.py SOURCE --update ----"
PAGE_HEAD = "# ---- The page of npumem report: made of src/say/page.def by tests/sentences/table.py SOURCE --update ----"
CHINESE = ("sentences.def", "page.def", "spoken.def")


def screen_rows(source):
    """Of the rows that say something: {code: (identifier, English, Chinese, when)}; and whether all were read."""
    with open(f"{source}/src/say/sentences.def", encoding="utf-8") as file:
        text = file.read()
    rows = {code: (name, *(re.sub(r"\\(.)", r"\1", part) for part in parts)) for name, code, *parts in ROW.findall(text)}
    return rows, len(rows) == text.count("\nNM_SENTENCE(")


def page_rows(source):
    """{code: (English, Chinese, when)} of what the page says of a recording, [(English, Chinese)] of its labels, and the whole file."""
    with open(f"{source}/src/say/page.def", encoding="utf-8") as file:
        text = file.read()
    return {code: tuple(parts) for code, *parts in SAID_ROW.findall(text)}, LABEL_ROW.findall(text), text


def sections(source):
    """What is made: (its first line, the whole of it)."""
    rows = {code: parts for code, (_, *parts) in screen_rows(source)[0].items()}
    for head, rows in ((SCREEN_HEAD, rows), (PAGE_HEAD, page_rows(source)[0])):
        lines = [head, ""]
        for code, (english, chinese, when) in rows.items():
            if english.strip():
                lines += [code, f"    {catalogue.flat(english)}", f"    zh {chinese.strip()}", f"    when {when}"]
        yield head, "\n".join(lines) + "\n"


def cut_section(text, head):
    """What is before a section, it itself, and what is behind it."""
    begin = text.index(head)
    end = text.find("\n# ----", begin)
    end = len(text) if end < 0 else end
    return text[:begin], text[begin:end], text[end:]


def pair_failures(where, english, chinese):
    if sorted(re.findall(r"\{\w+\}", english)) != sorted(re.findall(r"\{\w+\}", chinese)):
        yield f"{where}: the languages have other names in them"
    if re.search(r"\[[^\]]*/", chinese) or bool(english.strip()) != bool(chinese.strip()):
        yield f"{where}: the Chinese has [one/many], or one of both is empty"


def screen_failures(source):
    """The sentences of the screen: in both languages with the same names."""
    rows, is_all = screen_rows(source)
    if not is_all:
        yield "src/say/sentences.def: a row has another form, or a code stands twice"
    for code, (name, english, chinese, when) in rows.items():
        if name != code.removeprefix("screen.").replace(".", "_").upper():
            yield f"src/say/sentences.def: {code} is {name}"
        if bool(english.strip()) != bool(when):
            yield f"src/say/sentences.def: {code}: nothing says when it is said"
        yield from pair_failures(f"src/say/sentences.def: {code}", english, chinese)


def page_failures(source):
    """What the page says: each English once, and not what the screen has already, which is shared."""
    said, labels, text = page_rows(source)
    screen = screen_rows(source)[0]
    by_name = {name: english for name, english, _, _ in screen.values()}
    shared = re.findall(r"^NM_SHARED\((\w+)\)$", text, re.M)
    if len(said) + len(labels) + len(shared) != len(re.findall(r"^NM_", text, re.M)):
        yield "src/say/page.def: a row has another form, or a code stands twice"
    for english, chinese in [parts[:2] for parts in said.values()] + labels:
        yield from pair_failures(f"src/say/page.def: {english}", english, chinese)
        for code, (name, *parts) in screen.items():
            if english == parts[0]:
                yield f"src/say/page.def: {english}: {code} of sentences.def says it: NM_SHARED({name})"
    every = [english for english, *_ in said.values()] + [english for english, _ in labels] + [by_name.get(name, name) for name in shared]
    for english in sorted({english for english in every if every.count(english) > 1}):
        yield f"src/say/page.def: {english}: stands twice"
    for name in shared:
        if not by_name.get(name) or "[" in by_name[name]:
            yield f"src/say/page.def: {name} is no sentence, or one of [one/many], which the page does not know"


def catalogue_failures(source):
    with open(f"{source}/docs/sentences.txt", encoding="utf-8") as file:
        text = file.read()
    for head, section in sections(source):
        if cut_section(text, head)[1] != section:
            yield f"docs/sentences.txt: not as it is made: tests/sentences/table.py . --update: {head}"


def term_failures(source):
    """The Chinese has one word for a thing: none that docs/glossary.md says is not used."""
    with open(f"{source}/docs/glossary.md", encoding="utf-8") as file:
        rows = re.findall(r"^\|[^|\n]*\|[^|\n]*\| ([^|\n]+) \|$", cut_section(file.read() + "\n# ----", "## In Chinese")[1], re.M)
    words = [word.partition("（")[0] for row in rows[1:] for word in row.split("、")]
    for path in sorted([f"{source}/src/say/{name}" for name in CHINESE] + glob.glob(f"{source}/*.zh-CN.md") + glob.glob(f"{source}/docs/*.zh-CN.md")):
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                for word in words:
                    if word in line and not (word == "块数" and '"块数"' in line):
                        yield f"{os.path.relpath(path, source)}:{number}: {word}: docs/glossary.md has another word for it"


def update(source):
    path = f"{source}/docs/sentences.txt"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for head, section in sections(source):
        before, _, behind = cut_section(text, head)
        text = before + section + behind
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    source = sys.argv[1]
    if sys.argv[2:] == ["--update"]:
        update(source)
    sentences = catalogue.read(f"{source}/docs/sentences.txt")
    failures = [*screen_failures(source), *page_failures(source), *catalogue_failures(source), *term_failures(source)]
    sentences = {code: sentence for code, sentence in sentences.items() if sentence.kind not in catalogue.MADE}
    sources = {kind: [os.path.relpath(path, source) for pattern in patterns for path in sorted(glob.glob(f"{source}/{pattern}"))]
               for kind, patterns in catalogue.SOURCES.items()}
    pieces_by_path = {}
    for path in sorted({path for kind, paths in sources.items() for path in paths if kind not in catalogue.MADE}):
        kinds = [kind for kind, paths in sources.items() if path in paths]
        runs = [run for sentence in sentences.values() if sentence.kind in kinds for run in sentence.runs()]
        pieces_by_path[path] = set()
        with open(f"{source}/{path}", encoding="utf-8") as file:
            literals = list(said_literals(path, file.read()))
        for line, literal in literals:
            for piece in pieces_of(literal):
                for part in re.split(r"\n", piece):
                    pieces_by_path[path].add(catalogue.squeeze(part))
                    # What a sentence has as one run the source may join of several literals, so a piece is part of a run.
                    if is_words(part) and not any(catalogue.squeeze(part) in run for run in runs):
                        failures.append(f'{path}:{line}: "{part.strip()}" stands in no sentence of docs/sentences.txt\n'
                                        f"    add there: a code that begins with {' or '.join(k + '.' for k in kinds)},"
                                        f" under it the sentence that has these words, whole, with {{figures}}, and 'when ...';\n"
                                        f"    and to tests/sentences/cases.txt: the code, a case that says it ('said'),"
                                        f" and one near it that does not ('not')")
    for sentence in sentences.values():
        pieces = set().union(*(pieces_by_path[path] for path in sources[sentence.kind]))
        for run in sentence.runs():
            if not is_tiled(run, pieces):
                failures.append(f'docs/sentences.txt: {sentence.code}: "{run}" (without spaces) is made nowhere in'
                                f" {' '.join(catalogue.SOURCES[sentence.kind])}: mend the row, or drop it with its cases")
    print("\n".join(failures) if failures else f"{len(sentences)} sentences")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
