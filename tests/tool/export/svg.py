#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""svg.py NPUMEM_EXPORT DB [TEXT...]: the picture of a database against its rows: nothing in it but shapes and text, each column
of each heap as high as the most that was live in it, by the picture's own scale, and each TEXT is there as it is."""
import re
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree as tree

export, path, *texts = sys.argv[1:]
db = sqlite3.connect(path)
db.text_factory = lambda text: text.decode("utf-8", "replace")
failures = 0
LEFT, COLUMNS = 90, 890
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def check(what, got, wanted):
    global failures
    if got != wanted:
        failures += 1
        print(f"{path}: {what}: {str(got)[:1500]}\n  wanted: {str(wanted)[:1500]}", file=sys.stderr)


data = subprocess.run([export, "svg", path, "-o", "-"], stdout=subprocess.PIPE, check=True).stdout
with open("timeline.svg", "wb") as file:
    file.write(data)
root = tree.fromstring(data)
parts = [(part.tag.rsplit("}")[-1], part.attrib, part.text) for part in root.iter()]
check("kinds of parts", {tag for tag, _, _ in parts} - {"svg", "rect", "line", "path", "circle", "text"}, set())
check("what leads elsewhere", [v for _, a, _ in parts for k, v in a.items() if "href" in k or k.startswith("on") or "url(" in v],
      [])
said = [text for tag, _, text in parts if tag == "text"]
for text in texts:
    check(f"{text} is there", any(text in one for one in said), True)

# ---- Its charts: a label at the left for each line of sizes, from 0 on ------------------------------------------------------

has_times, end = db.execute("SELECT max(last_ns) IS NOT NULL, coalesce(max(last_ns), max(last_seq)) FROM usage").fetchone()


def column_of(at):
    return min(int((at or 0) / (end or 1) * COLUMNS), COLUMNS - 1)


def wanted_heights(heap):
    points = []
    for max_ns, max_seq, most, last_ns, last_seq, live in db.execute(
            "SELECT max_ns, max_seq, max_live_bytes, last_ns, last_seq, live_bytes FROM usage WHERE heap_id = ?"
            " ORDER BY last_seq", (heap,)):
        points.append((column_of(max_ns if has_times else max_seq), most))
        points.append((column_of(last_ns if has_times else last_seq), live))
    heights, last, at = [], 0, 0
    for column in range(COLUMNS):
        most = last
        while at < len(points) and points[at][0] == column:
            last = points[at][1]
            most = max(most, last)
            at += 1
        heights.append(most)
    return heights


def heights_of(shape):
    """The y of each column."""
    x, y, all_of = None, None, {}
    for step, first, second in re.findall(r"([MHV])([\d.]+)(?: ([\d.]+))?", shape):
        if step == "M":
            x, y = float(first), float(second)
        elif step == "V":
            y = float(first)
        else:
            all_of.update(dict.fromkeys(range(int(x) - LEFT, int(float(first)) - LEFT), y))
            x = float(first)
    return [all_of[column] for column in range(COLUMNS)]


def size_of(text):
    match = re.fullmatch(r"([\d.]+) (\w+)", text)
    return float(match[1]) * UNITS[match[2]] if match and match[2] in UNITS else None


charts, drawn = [], []
for tag, attributes, text in parts:
    if tag == "text" and attributes.get("font-weight") == "bold":
        charts.append([])
    elif tag == "text" and attributes["x"] == "84.0" and charts:
        charts[-1].append((float(attributes["y"]) - 4, size_of(text)))
    elif tag == "path" and attributes["fill"] != "none":
        (zero_y, zero), (one_y, one) = charts[-1][0], charts[-1][-1]
        check("the lowest size", zero, 0)
        drawn.append((one, [(zero_y - y) / (zero_y - one_y) * one for y in heights_of(attributes["d"])]))
wanted = [wanted_heights(heap) for heap, in db.execute("SELECT heap_id FROM z_heap_sum WHERE peak_bytes > 0")]
check("heaps", len(drawn), len(wanted))


def is_same(heights, should, top):
    """To a tenth of a pixel, of which there are 170 in a chart."""
    return all(abs(a - b) <= top / 800 + 0.6 for a, b in zip(heights, should))


for top, heights in drawn:
    found = next((should for should in wanted if is_same(heights, should, top)), None)
    check(f"a line with the peak {max(heights):.0f} is that of a heap", found is not None, True)
    if found is not None:
        wanted.remove(found)
sys.exit(1 if failures else 0)
