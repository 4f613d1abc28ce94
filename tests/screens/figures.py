# SPDX-License-Identifier: Apache-2.0
"""The figures of a screen, worked out of its text trace alone, slowly and plainly: which sizes, counts, times and shares may stand
on it. Knows the few kinds of events that the traces beside it have: one device, one pool, segments of 2^20 bytes and more."""
import re
import shlex


def size(value):
    """As people read bytes: three digits at most, one behind the point."""
    unit = 0
    names = ["B", "KiB", "MiB", "GiB"]
    while value >= 999.5 and unit < 3:
        value, unit = value / 1024, unit + 1
    return f"{value:.1f} {names[unit]}" if unit and value < 99.95 else f"{value:.0f} {names[unit]}"


def share(value):
    return f"{100 * value:.1f} %" if 100 * value < 9.95 else f"{100 * value:.0f} %"


class Heap:
    def __init__(self, level):
        self.level, self.live, self.peak, self.peak_ns, self.at_peak = level, {}, 0, 0, {}

    def bytes(self):
        return sum(block[0] for block in self.live.values())

    def take(self, address, bytes_, site, ns):
        self.live[address] = (bytes_, site, ns)
        if self.bytes() > self.peak:
            self.peak, self.peak_ns, self.at_peak = self.bytes(), ns, dict(self.live)


def by_site(blocks):
    sums = {}
    for bytes_, site, _ in blocks.values():
        count, total = sums.get(site, (0, 0))
        sums[site] = (count + 1, total + bytes_)
    return sums


class Trace:
    """Reads the text; `sizes`, `times`, `shares` and `counts` are what the screen may say."""

    def __init__(self, text):
        self.heaps, self.sites, self.sizes, self.times, self.shares, self.counts = {}, {}, set(), set(), {share(1)}, set()
        self.steps, self.processes, self.step_seen, self.costs, self.takes = 0, 0, {}, 0, 0
        self.capacity, self.told, self.free, self.codes, self.grew = 0, [], 0, set(), False
        self.freed, self.last_ns = {}, 0  # blocks freed by site
        self.take_steps, self.grow_steps = [], []  # in which step each block was taken, and each segment
        for line in text.splitlines():
            words = shlex.split(line, comments=True)
            if words:
                self.read(words, dict(word.split("=", 1) for word in words if "=" in word))
        self.conclude()

    def read(self, words, keys):
        if words[0] == "process":
            self.processes += 1
        elif words[0] == "device":
            self.capacity = int(keys["capacity"])
        elif words[0] == "heap":
            self.heaps[words[1]] = Heap(keys["level"])
        elif words[0] == "stack":
            place = re.match(r"([^:]*/)?([^:/]+):(\d+):(\S+)", " ".join(words[2:]))
            self.sites[words[1].rstrip(":")] = f"{place[2]}:{place[3]} {place[4]}"
        elif words[0][0] == "@":
            self.happen(int(words[0][1:]), words[1], keys)

    def pool(self):
        return next(heap for heap in self.heaps.values() if heap.level == "pool")

    def reserved(self):
        return sum(heap.bytes() for heap in self.heaps.values() if heap.level == "driver")

    def unused(self):
        """What the pool has and nobody uses: said of its peak, of its growth and of a failure."""
        reserved, used = self.reserved(), self.pool().bytes()
        if reserved:
            self.sizes |= {size(reserved), size(used), size(reserved - used)}
            self.shares |= {share((reserved - used) / reserved)}

    def largest_free(self):
        blocks = sorted((address, bytes_) for address, (bytes_, _, _) in self.pool().live.items())
        found = 0
        for start, (length, _, _) in (item for heap in self.heaps.values() if heap.level == "driver" for item in heap.live.items()):
            at = start
            for address, bytes_ in [block for block in blocks if start <= block[0] < start + length] + [(start + length, 0)]:
                found, at = max(found, address - at), address + bytes_
        return found

    def happen(self, ns, verb, keys):
        heap = self.heaps.get(keys.get("heap"))
        self.last_ns = ns
        if verb == "alloc":
            was_pool_peak = self.pool().peak
            heap.take(int(keys["address"], 16), int(keys["block"]), self.sites[keys["stack"]], ns)
            self.costs += int(keys.get("cost", 0))
            self.takes += heap.level == "pool"
            if heap.level == "driver" or self.grew or self.pool().peak > was_pool_peak:
                self.unused()
            self.grew = heap.level == "driver"
            if heap.level == "pool":
                self.step_seen.setdefault(self.sites[keys["stack"]], set()).add(self.steps)
                self.take_steps.append(self.steps)
            else:
                self.grow_steps.append(self.steps)
        elif verb == "free":
            site = heap.live.pop(int(keys["address"], 16))[1]
            self.freed[site] = self.freed.get(site, 0) + 1
        elif verb == "step":
            self.steps += 1
        elif verb == "loss":
            self.counts.add(int(keys["number"]))
        elif verb == "process_end":
            self.counts.add(int(keys["error"]))
        if "free" in keys:
            self.tell(ns, int(keys["free"]), int(keys["total"]))
        if verb in ("alloc_failed", "stream_call") and "error" in keys:
            self.fail(ns, keys)

    def tell(self, ns, free, total):
        """The device's own word: what is in use, and what of that is not the program's."""
        self.told.append((total, total - free - self.reserved()))
        self.free = free
        self.sizes |= {size(free), size(total), size(total - free), size(abs(total - free - self.reserved()))}
        self.times.add(f"{ns / 1e6:.1f} ms")

    def fail(self, ns, keys):
        self.unused()
        self.times.add(f"{ns / 1e6:.1f} ms")
        self.codes.add(int(keys["error"]))
        self.sizes |= {size(self.largest_free())} | ({size(int(keys["requested"]))} if "requested" in keys else set())
        if "requested" in keys:  # by how much less would have to be held
            self.sizes.add(size(max(0, int(keys["requested"]) - self.free - (self.reserved() - self.pool().bytes()))))
        self.known_sites(self.pool().live)
        leaked = sum(total for count, total in by_site(self.pool().live).values() if count > 1)
        self.sizes |= {size(leaked), size(self.reserved() - leaked)}

    def known_sites(self, blocks):
        for count, total in by_site(blocks).values():
            self.sizes.add(size(total))
            self.counts.add(count)

    def conclude_server(self):
        """Without steps: what is live at the end of a site, but for the first and the last twentieth of the time; how fast it came,
        in an hour; and in how many the device is full."""
        hour = 3600 * 10**9
        for site in {block[1] for block in self.pool().live.values()}:
            kept = [block for block in self.pool().live.values() if block[1] == site]
            middle = [block for block in kept if self.last_ns / 20 <= block[2] <= self.last_ns * 19 / 20]
            a_minute = sum(block[0] for block in middle) / ((middle[-1][2] - middle[0][2]) / 60e9 + 1)
            self.sizes |= {size(sum(block[0] for block in middle)), size(60 * a_minute)}
            self.counts |= {len(middle), self.freed.get(site, 0)}
            self.times.add(f"{(self.capacity - self.pool().peak) / (60 * a_minute):.0f} h")
        self.times.add(f"{60 * self.pool().peak_ns / hour:.1f} min")

    def conclude(self):
        self.sizes |= {size(self.capacity), size(self.pool().bytes())}
        self.counts |= {self.steps, self.processes, 1, len(self.pool().live)} | self.codes
        self.known_sites(self.pool().live)
        for heap in self.heaps.values():
            self.sizes |= {size(heap.peak), size(self.capacity - heap.peak)}
            self.times.add(f"{heap.peak_ns / 1e6:.1f} ms")
            self.known_sites(heap.at_peak)
        for site, (count, total) in by_site(self.pool().live).items():
            self.sizes.add(size(total / count))  # a block a step
            self.counts.add(len(self.step_seen[site]))
        if self.takes:
            self.times.add(f"{self.costs / self.takes / 1e3:.1f} us")
        if not self.steps:
            self.conclude_server()
        best = max((heap.peak for heap in self.heaps.values() if heap.level == "driver"), default=0)
        for total, others in self.told:  # what others hold stays as it was told
            self.sizes |= {size(best + others), size(total - best - others)}
        for first in range(self.steps):  # a segment's first block is a miss; from the end of each step on
            takes = sum(step > first for step in self.take_steps)
            if takes:
                self.shares.add(share(1 - sum(step > first for step in self.grow_steps) / takes))


def wrong_figures(trace, screen):
    """Figures of the screen that the trace does not have."""
    facts = Trace(trace)
    body = re.sub(r"\w+\.(?:py|zst|db|pickle):?\d*", " ", screen).replace("小时", "h")
    found = [("size", text) for text in re.findall(r"\d[\d.,]* (?:B|[KMG]iB)\b", body) if text not in facts.sizes]
    found += [("time", text) for text in re.findall(r"\d[\d.,]* (?:us|ms|s|min|h)\b", body) if text not in facts.times]
    found += [("share", text) for text in re.findall(r"\d[\d.,]* %", body) if text not in facts.shares]
    rest = re.sub(r"\d[\d.,]* (?:B|[KMG]iB|us|ms|s|min|h|%)(?![a-z])|(?:NPU|GPU|pid|rank) \d+|sqlite3|^\d ", " ", body, flags=re.M)
    found += [("count", text) for text in re.findall(r"(?<!\w)\d(?:[\d,]*\d)?", rest) if int(text.replace(",", "")) not in facts.counts]
    return [f"{kind} {text}" for kind, text in found]
