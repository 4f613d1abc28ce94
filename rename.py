#!/usr/bin/env python3
"""rename.py TREE: gives the internal tables and views of npumem's database their leading underscore. May run twice.

Words that can only be such a name (pool_step) are renamed wherever SQL or text about it stands: in SQL, in string literals
of C, in scripts, tests' answers and documents. Words that mean other things, too (pause, module, workspace), only where SQL
or a sentence names a table: after FROM, JOIN, INTO, UPDATE, TABLE, VIEW, table, view, and before `.column` in SQL.
"""
import os
import re
import subprocess
import sys

PLAIN = """allocation_cost allocation_cost_histogram allocation_kind allocation_kind_sum blocker_sample cann_module copy_sum
copy_total cost_histogram device_module device_moment device_sample device_sum early_free failed_allocation fragmentation_part
fragmentation_timeline fragmentation_usage fragmentation_verdict free_range graph_memory growth_step hardware_sample heap_place
heap_sample heap_sum leak_sum leaked_sum miss_cause named_moment note_kind operation_memory_by_step operation_memory_sum
operation_step_sum operation_sum out_of_memory_chain out_of_memory_component out_of_memory_leak out_of_memory_site
out_of_memory_stack outstanding_sum part_sample peak_by_category peak_by_module peak_by_package peak_by_rank peak_category peak_module
peak_stack pending_free pending_sum pool_bucket pool_by_class pool_by_size pool_by_step pool_by_stream pool_class pool_effort
pool_group pool_growth pool_hit pool_miss pool_miss_by_cause pool_miss_by_site pool_miss_sum pool_part pool_reuse
pool_reuse_distance pool_step pool_sum process_environment repeated_copy site_floor site_growth site_lifetime site_step
site_verdict slowest_allocation slowest_call stack_sum step_anchor step_stride step_sum step_trend step_usage stream_call_kind
stream_call_sum stream_call_total usage_average workspace_by_operator workspace_held workspace_hold_sum""".split()

AMBIGUOUS = """category environment gap graph left_out module module_sample note operation_source pause plumbing segment_kind
site_total stream_call threshold warm_up workspace wrapper""".split()

# Values and columns that are spelled as a plain name: said in these words, they are no table.
VALUES = {"pending_free", "early_free"}  # a miss's cause in quotes; part of a C identifier elsewhere

SQL_WORD = r"(?:FROM|JOIN|INTO|UPDATE|TABLE|VIEW|EXISTS|REFERENCES|[Tt]ables?|[Vv]iews?|in table)"
FOLDERS = ("schema/", "queries/", "src/", "tests/", "docs/", "python/", "bench/", "man/", "examples/", "fixtures/programs/",
           "cmake/")
FILES = ("README.md", "README.zh-CN.md", "demo.sh", "test.sh")
ENDS = (".c", ".h", ".sql", ".def", ".md", ".sh", ".py", ".js", ".csv", ".txt", ".in", ".1", ".cmake", "statement.sql", "parameters")
FILE_END = r"(?:sql|csv|py|c|h|txt|md|sh|zst|db|html|so|o|json)\b"

plain = re.compile(r"(?<![A-Za-z0-9_/%>-])(?:" + "|".join(sorted(PLAIN, key=len, reverse=True)) + r")(?![A-Za-z0-9_/=-]|\." + FILE_END
                   + r"| *\()")
named = r"(?:" + "|".join(sorted(AMBIGUOUS, key=len, reverse=True)) + r")"
after = re.compile(r"(\b" + SQL_WORD + r"(?:\s+|\"\s*\n\s*\"\s*|\s+\*\s+)[`']?(?:[a-z]+\.|\"%w\\\"\.)?)(" + named + r")(?![A-Za-z0-9_(=/-]|\." + FILE_END + ")")
created = re.compile(r"(\bCREATE (?:TABLE|VIEW) |INSERT INTO | ON )(" + named + r")(?= \()")
before = re.compile(r"(?<![A-Za-z0-9_./'\"`:-])(" + named + r")(?=\.[a-z])(?!\." + FILE_END + ")")
string = re.compile(r'"(?:[^"\\\n]|\\.)*"')
comment = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
token = re.compile(r"/\*.*?\*/|//[^\n]*|'(?:[^'\\\n]|\\.)'|\"(?:[^\"\\\n]|\\.)*\"", re.S)


def underscore(match):
    word = match.group(0)
    start = match.start()
    text = match.string
    if word in VALUES and start > 0 and text[start - 1] in "'\"" and match.end() < len(text) and text[match.end()] in "'\"":
        return word
    return "_" + word


def in_context(text):
    text = created.sub(r"\1_\2", text)
    return after.sub(r"\1_\2", text)


def in_sql(text):
    """SQL, with its comments."""
    out = []
    for line in text.split("\n"):
        code, dash, said = line.partition("--")
        out.append(before.sub(r"_\1", code) + dash + said)
    return in_context(plain_of_sql("\n".join(out)))


def plain_of_sql(text):
    # A name may stand before a parenthesis here: CREATE TABLE pool_step (, INSERT INTO pool_step (.
    text = re.sub(r"\b((?:CREATE (?:TABLE|VIEW)|INTO|ON|REFERENCES) +)(" + "|".join(sorted(PLAIN, key=len, reverse=True)) + r")(?= *\()",
                  r"\1_\2", text)
    return plain.sub(underscore, text)


def is_sql(text):
    return re.search(r"\b(SELECT|FROM|JOIN|WHERE|INSERT|UPDATE|CREATE|DELETE|EXISTS|ORDER BY|GROUP BY|AND|ON)\b", text)


def in_c(text):
    def one(match):
        piece = match.group(0)
        if piece[0] == '"':
            line_start = match.string.rfind("\n", 0, match.start()) + 1
            if match.string.startswith("#include", line_start):
                return piece
            if is_sql(piece):
                piece = before.sub(r"_\1", piece)
            return comment_of_c(in_context(plain_of_sql(piece)))
        if piece[0] == "/":
            return comment_of_c(piece)
        return piece

    text = token.sub(one, text)
    # What one literal begins and the next one ends.
    text = text.replace('table_read(place, "environment"', 'table_read(place, "_environment"')
    return re.sub(r"(\b(?:FROM|JOIN|INTO|UPDATE)\"\s*\n\s*\" )(" + named + r")\b(?!=)", r"\1_\2", text)


def comment_of_c(text):
    every = "|".join(sorted(PLAIN + AMBIGUOUS, key=len, reverse=True))
    text = re.sub(r"(\b(?:[Tt]ables?|[Vv]iews?) (?:`)?)(" + every + r")\b(?![/=-])", r"\1_\2", text)
    return text


def in_rows(text):
    every = "|".join(sorted(PLAIN + AMBIGUOUS, key=len, reverse=True))
    text = re.sub(r"^(ROW\(\w+, \w+, )(" + every + r")(?=,)", r"\1_\2", text, flags=re.M)
    return in_c(text)


def in_words(text):
    """A script or a document: SQL stands within."""
    out = []
    for line in text.split("\n"):
        if is_sql(line):
            line = before.sub(r"_\1", line)
            line = re.sub(r"(\b(?:INTO|TABLE|VIEW) +)(" + "|".join(PLAIN) + r")(?= *\()", r"\1_\2", line)
        out.append(plain.sub(underscore, line))
    return comment_of_c(in_context("\n".join(out)))


def in_lists(text):
    """Tables of words, as docs/sentences.txt and the cases of tests/sentences: SQL and sentences about a view alone."""
    out = []
    for line in text.split("\n"):
        if re.search(r"\b(SELECT|FROM|JOIN|INSERT|UPDATE|DELETE)\b", line):
            line = plain.sub(underscore, before.sub(r"_\1", line))
        out.append(line)
    return comment_of_c(in_context("\n".join(out)))


def renamed(path, text):
    name = os.path.basename(path)
    if path.endswith("rows.def"):
        return in_rows(text)
    if path.endswith((".c", ".h", ".def")):
        return in_c(text)
    if path.endswith(".sql") or name == "parameters":
        return in_sql(text)
    if path.endswith((".txt", ".csv")):
        return text if "expected" in name else in_lists(text)
    return in_words(text)


def main(tree):
    listed = subprocess.run(["git", "-C", tree, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True,
                            stdout=subprocess.PIPE).stdout
    for path in listed.decode().split("\0"):
        full = os.path.join(tree, path)
        if not (path.startswith(FOLDERS) or path in FILES) or not path.endswith(ENDS) or not os.path.isfile(full):
            continue
        if os.path.basename(path) in ("trace.txt", "also.txt", "base.txt", "CMakeLists.txt", "cann-functions.txt", "trace-format.md"):
            continue
        with open(full, encoding="utf-8", errors="surrogateescape", newline="") as file:
            text = file.read()
        new = renamed(path, text)
        if path.startswith("src/") and path.endswith((".c", ".h")):  # behind a schema of another literal
            new = re.sub(r'("|"%w\\"|\bmain)\.(plumbing|left_out)\b', r"\1._\2", new)
        if path.startswith("src/store/"):  # lists of tables by name
            new = re.sub(r"'(left_out|plumbing)'", r"'_\1'", new)
            new = new.replace("'copy', 'workspace', 'stream_call'", "'copy', '_workspace', '_stream_call'")
        if path.endswith("unit/test_columns.c"):
            new = re.sub(r'"(category|operation_source|segment_kind|threshold|plumbing|wrapper)"', r'"_\1"', new)
        if path.endswith("test_partial.c"):
            new = new.replace('{"pending_free",', '{"_pending_free",')
        if new != text:
            with open(full, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                file.write(new)
            print(path)


if __name__ == "__main__":
    main(sys.argv[1])
