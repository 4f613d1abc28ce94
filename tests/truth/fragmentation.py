#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fragmentation.py INGEST WORK_DIR [--seeds N] [--only NAME] [--samples DIR]: is fragmentation judged, and rightly?

Snapshots tell requested sizes alone; the model of the allocator that wrote them knows the blocks. So the truth of each
moment is counted from blocks: at the peak of what was live, when a part of the pool grew to its largest, when an
allocation failed, and when the pool held most. Prints a table; ends with 1 where too little is judged, or a verdict or a bound is wrong.
"""
import argparse
import os
import pickle
import random
import subprocess
import sys

from database import forget, rows
from pool import Pool

MB = 1 << 20
FLOOR = 64 * MB
FRAMES = [{"filename": "/w/train.py", "line": 7, "name": "train"}]
WORST = {"danger": 0, "warning": 1, "minor": 2, "good": 3}


class Watched(Pool):
    """Counts, in blocks, what is unused at the moments that are judged."""

    def __init__(self, seed):
        super().__init__()
        self.random = random.Random(seed)
        self.live, self.begin = {}, 0
        self.requested = self.peak = 0
        self.truth, self.largest = {}, {}
        self.at_peak = self.at_most = (0, 0)  # reserved, used
        self.hand = {}  # what a scenario knows by its own arithmetic
        self.settings, self.frames = "", FRAMES
        self.rounds = lambda requested: requested  # before the model rounds to 512
        self.is_open = False                       # it may be that nothing can be judged

    def reserved(self, is_small=None):
        return sum(s.size for s in self.segments if is_small in (None, s.is_small))

    def used(self, is_small=None):
        return sum(b.size for b in self.live.values() if is_small in (None, b.segment.is_small))

    def record(self):
        """What was before is the baseline; moments are of what is recorded."""
        self.begin, self.peak = len(self.entries), self.requested
        self.truth = {"peak": (self.reserved() - self.used(), self.reserved())}
        self.at_peak = self.at_most = (self.reserved(), self.used())
        self.largest = {}

    def new(self, requested):
        had = len(self.segments)
        block = self.alloc(self.rounds(requested), self.frames)
        block.requested = self.entries[-1]["size"] = requested
        self.live[block.address] = block
        self.requested += requested
        if self.requested > self.peak:
            self.peak = self.requested
            self.truth["peak"] = (self.reserved() - self.used(), self.reserved())
            self.at_peak = (self.reserved(), self.used())
        if self.reserved() > self.at_most[0]:
            self.at_most = (self.reserved(), self.used())
        if len(self.segments) > had:
            self.note_growth(block)
        return block

    def note_growth(self, block):
        is_small = block.segment.is_small
        size = self.reserved(is_small)
        unused = size - self.used(is_small) - (block.segment.size - block.size)
        old = self.largest.get(is_small, (0, 0, 0))
        if size > old[0] or (size == old[0] and unused > old[1]):
            self.largest[is_small] = (size, unused, self.reserved())
        self.truth["growth"] = max((unused, reserved) for _, unused, reserved in self.largest.values())

    def drop(self, *blocks):
        for block in blocks:
            del self.live[block.address]
            self.requested -= block.requested
            self.free(block, FRAMES)

    def fail(self, requested):
        """torch gives the cache back before it gives up."""
        self.empty_cache(FRAMES)
        self.say("oom", 0, requested, FRAMES)
        del self.entries[-1]["addr"]
        self.entries[-1]["device_free"] = 5 * MB
        split, reserved = self.reserved() - self.used(), self.reserved()
        if "failure" not in self.truth or split * self.truth["failure"][1] > self.truth["failure"][0] * reserved:
            self.truth["failure"] = (split, reserved)

    def write(self, path):
        if self.at_most[0] > self.at_peak[0]:  # what it needs at its peak is no waste
            self.truth["reserve"] = (self.at_most[0] - max(self.at_most[1], self.at_peak[1]), self.at_most[0])
        settings = {"PYTORCH_CUDA_ALLOC_CONF": self.settings, "max_split_size": -1, "expandable_segments": False}
        with open(path, "wb") as file:
            pickle.dump({"segments": self.state(), "device_traces": [self.entries[self.begin:]],
                         "allocator_settings": settings}, file, protocol=4)

    def large(self, low=1.1, high=9.5):
        return int(self.random.uniform(low, high) * MB)

    def small(self):
        return self.random.randint(1, MB)


SCENARIOS = {}


def scenario(function):
    SCENARIOS[function.__name__] = function
    return function


def some(p, blocks, share):
    return p.random.sample(blocks, int(len(blocks) * share))


@scenario
def steps_of_equal_sizes(p):
    """Healthy: what a step frees, the next one takes again."""
    weights = [p.new(p.large(2, 60)) for _ in range(20)]
    sizes = [p.large(4, 90) for _ in range(p.random.randint(20, 40))]
    for _ in range(4):
        p.drop(*[p.new(size) for size in sizes])
    assert weights


@scenario
def small_blocks_alone(p):
    """Healthy: nothing is freed in between, and small blocks are cut to size."""
    for _ in range(p.random.randint(600, 1200)):
        p.new(p.small())


@scenario
def holes_at_the_peak(p):
    """Blocks are freed out of the middle, then larger ones come: what is free does not fit."""
    blocks = [p.new(p.large(1.1, 9)) for _ in range(p.random.randint(80, 160))]
    p.drop(*some(p, blocks, p.random.uniform(0.1, 0.6)))
    for _ in range(p.random.randint(20, 60)):
        p.new(p.large(10, 30))


@scenario
def holes_of_small_blocks(p):
    """The same of small ones: 600 to 900 KiB do not fit into what smaller ones left."""
    blocks = [p.new(p.random.randint(1 << 17, 1 << 18)) for _ in range(p.random.randint(1500, 2500))]
    p.drop(*some(p, blocks, p.random.uniform(0.2, 0.6)))
    for _ in range(p.random.randint(300, 500)):
        p.new(p.random.randint(700 << 10, 900 << 10))


@scenario
def half_of_each_segment(p):
    """Known by hand: of each 20 MiB, 9 are in use; what the other block had, and 2 that nobody took, are split off."""
    count = p.random.randint(20, 60)
    pairs = [(p.new(9 * MB), p.new(9 * MB)) for _ in range(count)]
    p.drop(*[pair[1] for pair in pairs])
    p.fail(64 * MB)
    p.hand["failure"] = (count * 11 * MB, count * 20 * MB)


@scenario
def died_of_fragmentation(p):
    """Packed at its peak, and cut up when it failed."""
    blocks = [p.new(p.random.choice((2, 4, 5)) * MB) for _ in range(p.random.randint(100, 200))]
    p.drop(*some(p, blocks, p.random.uniform(0.3, 0.7)))
    p.fail(200 * MB)


@scenario
def died_full(p):
    """Healthy as far as this goes: it failed because all was in use."""
    for _ in range(p.random.randint(30, 60)):
        p.new(p.random.choice((20, 40, 64)) * MB)
    p.fail(500 * MB)


@scenario
def failed_and_went_on(p):
    """A failure in the middle, after which all is freed: the end tells nothing."""
    blocks = [p.new(p.large(1.5, 9)) for _ in range(p.random.randint(80, 120))]
    gone = some(p, blocks, p.random.uniform(0.2, 0.6))
    p.drop(*gone)
    p.fail(128 * MB)
    p.drop(*[block for block in blocks if block not in gone])
    p.empty_cache(FRAMES)
    p.drop(p.new(30 * MB))


@scenario
def grew_after_its_peak(p):
    """The most was live early; later and larger requests make the pool grow beside what is free."""
    blocks = [p.new(p.large(3, 9)) for _ in range(p.random.randint(100, 160))]
    p.drop(*some(p, blocks, p.random.uniform(0.6, 0.8)))
    for _ in range(p.random.randint(8, 14)):
        p.new(p.large(19, 26))


@scenario
def dynamic_shapes(p):
    """Each step asks for a little more than the last one: cached blocks never fit."""
    p.new(100 * MB)
    size = p.random.randint(16, 30)
    for step in range(p.random.randint(6, 12)):
        p.drop(*[p.new(int(size * (1.17 ** step)) * MB) for _ in range(3)])


@scenario
def begun_in_the_middle(p):
    """Recorded late: of what was there and is freed later, only the requested size is told."""
    blocks = [p.new(p.large(6, 60)) for _ in range(p.random.randint(60, 100))]
    p.drop(*some(p, blocks, p.random.uniform(0, 0.5)))
    p.record()
    rest = list(p.live.values())
    p.drop(*[p.new(p.large(2, 9)) for _ in range(20)])
    p.drop(*some(p, rest, 0.5))


@scenario
def mixed_small_and_large(p):
    """Both kinds, in turn, with half of it freed at random before the next round."""
    share = p.random.uniform(0.05, 0.6)
    for _ in range(4):
        for _ in range(60):
            p.new(p.small() if p.random.random() < 0.4 else p.large(1.1, 40))
        p.drop(*some(p, list(p.live.values()), share))


@scenario
def of_torch_npu(p):
    """It rounds what was asked for and 32 bytes more."""
    p.frames = [{"filename": "/env/torch_npu/npu/memory.py", "line": 7, "name": "alloc"}]
    p.rounds = lambda requested: requested + 32
    holes_at_the_peak(p)
    p.fail(128 * MB)


@scenario
def rounded_by_a_setting(p):
    """roundup_power2_divisions:1: blocks have up to twice what was asked for, so that only their neighbours bound them."""
    p.settings, p.is_open = "roundup_power2_divisions:1", True
    p.rounds = lambda requested: 1 << (requested - 1).bit_length()
    blocks = [p.new(p.large(2.1, 3.5)) for _ in range(120)]
    p.drop(*some(p, blocks, p.random.uniform(0.1, 0.7)))
    for _ in range(20):
        p.new(p.large(5, 7.5))
    p.fail(200 * MB)


@scenario
def little_memory(p):
    """Cut up, but there is too little of it to matter."""
    blocks = [p.new(p.large(2, 6)) for _ in range(10)]
    p.drop(*blocks[::2])
    p.fail(64 * MB)


def expected(unused, reserved):
    if unused * 10 < reserved:
        return "good"
    return "minor" if unused < FLOOR else "warning" if unused * 10 <= reserved * 3 else "danger"


def judge(p, database, counts):
    """What is wrong, in words."""
    wrong = []
    found = {row[0]: row[1:] for row in rows(database, "SELECT moment, reserved_bytes, min_unused_bytes, max_unused_bytes,"
                                                       " verdict FROM z_fragmentation_verdict")}
    for moment, (unused, reserved) in p.truth.items():
        if moment not in found:
            wrong.append(f"{moment}: no row")
            continue
        held, low, high, verdict = found[moment]
        if not p.is_open or verdict != "unknown":
            counts["moments"] += 1
            counts["judged"] += verdict != "unknown"
            counts["right"] += verdict == expected(unused, reserved)
        counts["unused"] += unused
        counts["unsure"] += high - low
        if held != reserved or not low <= unused <= high:
            wrong.append(f"{moment}: {low} to {high} of {held}, true {unused} of {reserved}")
        elif verdict not in ("unknown", expected(unused, reserved)):
            wrong.append(f"{moment}: {verdict}, true {expected(unused, reserved)}")
        if moment in p.hand and p.hand[moment] != (unused, reserved):
            wrong.append(f"{moment}: the model says {unused} of {reserved}, by hand {p.hand[moment]}")
    wrong += [f"{moment}: claimed, and never was" for moment in found if moment not in p.truth]
    worst = min((expected(*figures) for figures in p.truth.values()), key=WORST.get)
    said = rows(database, "SELECT verdict FROM health WHERE measure = 'fragmentation'")
    counts["files"] += not p.is_open
    counts["file right"] += said == [(worst,)] and not p.is_open
    if said not in ([(worst,)], [("unknown",)]):
        wrong.append(f"health: {said}, true {worst}")
    return wrong


# Real files: the verdict. The peak of the first is its last event, so what is unused then is what the file lists as free.
LISTED_FREE = ("torch/one_forward.pickle", 168671232)
SAMPLES = {"torch/one_forward.pickle": "good", "torch/one_training_step.pickle": "good",
           "torch/one_forward_12_layers.pickle": "good", "torch/inference_user_metadata.pickle": "good",
           "torch_npu/snapshot_no_leak.pkl": "minor",  # when it held most, 11 % of 526 MiB
           "torch_npu/snapshot_expandable.pkl": "good",
           "torch_npu/snapshot_with_empty_cache.pkl": "good"}


def ingest(options, path, database):
    forget()
    done = subprocess.run([options.ingest, "--quiet", "--force", "-o", database, path], capture_output=True, text=True)
    return [] if done.returncode == 0 else [f"exit {done.returncode}: {done.stderr.strip()}"]


def judge_samples(options):
    wrong = []
    for name, verdict in SAMPLES.items():
        path, database = f"{options.samples}/{name}", f"{options.work}/sample.db"
        if not options.samples or not os.path.exists(path):
            continue
        problems = ingest(options, path, database)
        said = rows(database, "SELECT verdict FROM health WHERE measure = 'fragmentation'") if not problems else problems
        if said != [(verdict,)]:
            wrong.append(f"{name}: {said}, not {verdict}")
        peak = rows(database, "SELECT min_unused_bytes, max_unused_bytes FROM z_fragmentation_verdict WHERE moment = 'peak'")
        if name == LISTED_FREE[0] and peak != [(LISTED_FREE[1], LISTED_FREE[1])]:
            wrong.append(f"{name}: {peak} unused at the peak, the file lists {LISTED_FREE[1]}")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ingest")
    parser.add_argument("work")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only")
    parser.add_argument("--samples")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    names = ("moments", "judged", "right", "files", "file right", "unused", "unsure")
    total, wrong = dict.fromkeys(names, 0), []
    print(f"{'scenario':26} {'moments':>7} {'judged':>7} {'right':>7} {'files':>7} {'right':>7} {'unsure':>7}")
    for name in [options.only] if options.only else SCENARIOS:
        counts = dict.fromkeys(names, 0)
        for seed in range(options.seeds):
            path, database = f"{options.work}/fragments.pickle", f"{options.work}/fragments.db"
            p = Watched(f"{name} {seed}")
            SCENARIOS[name](p)
            p.write(path)
            problems = ingest(options, path, database) or judge(p, database, counts)
            wrong += [f"{name} {seed}: {problem}" for problem in problems]
        print(f"{name:26} {counts['moments']:7} {counts['judged']:7} {counts['right']:7} {counts['files']:7}"
              f" {counts['file right']:7} {counts['unsure'] / max(counts['unused'], 1):7.1%}")
        for key in names:
            total[key] += counts[key]
    wrong += judge_samples(options)
    for problem in wrong:
        print("  " + problem)
    judged, right = (total[key] / max(total["moments"], 1) for key in ("judged", "right"))
    files = total["file right"] / max(total["files"], 1)
    print(f"judged {judged:.3f}, right {right:.3f}, files right {files:.3f}")
    return 0 if not wrong and min(judged, right, files) >= 0.95 else 1


if __name__ == "__main__":
    sys.exit(main())
