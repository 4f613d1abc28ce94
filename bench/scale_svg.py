#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of scale.sh as a picture: for each curve, microseconds of the processor for an event, and below it memory.

    scale_svg.py TABLE PICTURE.svg
"""
import math
import sys

WIDTH, HEIGHT, LEFT, TOP, GAP = 880, 430, 58, 56, 22
PANEL_HEIGHT, ROW_GAP = 130, 66
NAMES = {"events": "events", "threads": "threads", "stacks": "stacks", "live_blocks": "blocks live at once"}
INK, GRID, LINES = "#333", "#ddd", ("#0060a8", "#b04000")
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def read(path):
    curves = {}
    for line in open(path):
        words = line.split()
        if len(words) == 7 and words[0] in NAMES:
            curves.setdefault(words[0], []).append((math.log10(int(words[1])), float(words[6]), float(words[5])))
    return curves


def round_up(value):
    """The next of 1, 2, 5, 10, 20, ..."""
    power = 10 ** math.floor(math.log10(value))
    return next(power * step for step in (1, 2, 5, 10) if power * step >= value)


def text(x, y, words, anchor="middle", size=11, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{INK}"{more}>{words}</text>'


def panel(out, left, top, width, points, column, most, is_first, color):
    """One curve; the axis of y is that of its row."""
    first, last = points[0][0], points[-1][0]
    for step in range(3):
        y = top + PANEL_HEIGHT * (1 - step / 2)
        out.append(f'<line x1="{left:.1f}" y1="{y:.1f}" x2="{left + width:.1f}" y2="{y:.1f}" stroke="{GRID}"/>')
        if is_first:
            out.append(text(left - 6, y + 4, f"{most * step / 2:g}", "end"))
    place = [(left + 8 + (p[0] - first) / ((last - first) or 1) * (width - 16), top + PANEL_HEIGHT * (1 - p[column] / most))
             for p in points]
    out.append(f'<polyline fill="none" stroke="{color}" stroke-width="2" points="'
               + " ".join(f"{x:.1f},{y:.1f}" for x, y in place) + '"/>')
    for (x, y), p in zip(place, points):
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{color}"/>')
        out.append(text(x, top + PANEL_HEIGHT + 15, "10" + str(round(p[0])).translate(SUPERSCRIPTS)))


def main():
    curves = read(sys.argv[1])
    width = (WIDTH - LEFT - 10 - GAP * (len(curves) - 1)) / len(curves)
    out = [text(LEFT - 40, 18, "npumem-ingest --detail live", "start", 14, ' font-weight="bold"')]
    for column, title, color in ((1, "µs of the processor for an event", LINES[0]), (2, "MiB of memory at the most", LINES[1])):
        top = TOP + (column - 1) * (PANEL_HEIGHT + ROW_GAP)
        most = round_up(max(p[column] for points in curves.values() for p in points))
        out.append(text(LEFT - 40, top - 14, title, "start", 12, f' font-weight="bold" style="fill:{color}"'))
        for index, (name, points) in enumerate(curves.items()):
            left = LEFT + index * (width + GAP)
            panel(out, left, top, width, points, column, most, index == 0, color)
            out.append(text(left + width / 2, top + PANEL_HEIGHT + 32, NAMES[name]))
    with open(sys.argv[2], "w", encoding="utf-8") as picture:
        picture.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">'
                      f'<title>How npumem-ingest scales</title><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>\n'
                      + "\n".join(out) + "\n</svg>\n")


if __name__ == "__main__":
    main()
