# SPDX-License-Identifier: Apache-2.0
"""Programs with a loop for cases.txt, as text traces: what recurs in them as an iteration does, and what only looks so. Each is a
few lines; numbers that a case changes are its arguments."""
import random

STACKS = {
    **{site: f"/src/model.py:{site}:part{site} < /src/train.py:5:main" for site in range(1, 61)},
    100: "/env/torch/autograd/__init__.py:220:_make_grads < /env/torch/autograd/__init__.py:347:backward < /src/train.py:20:main",
    101: "/env/torch/optim/adam.py:619:_multi_tensor_adam < /env/torch/optim/adam.py:246:step < /src/train.py:21:main",
    103: "/env/torch/autograd/__init__.py:220:_make_grads < /env/torch/autograd/__init__.py:347:backward < /src/finetune.py:20:main",
    **{site: f"/src/block.py:{site}:forward < /env/torch/nn/modules/module.py:1750:_call_impl < /src/model.py:33:forward"
             f" < /src/train.py:9:main" for site in range(110, 115)},
    **{site: f":0:MmBackward{site} < :0:execute_native_thread_routine" for site in range(120, 125)},
}


class Program:
    def __init__(self, process=1):
        self.lines, self.live, self.sites, self.process = [], [], set(), process
        self.address = self.seq = 0
        self.random = random.Random(1)

    def say(self, text):
        self.lines.append(f"@{10 * self.seq} {text} thread={self.process}")
        self.seq += 1

    def take(self, site, size=1000):
        self.address += 0x2000000
        self.sites.add(site)
        self.say(f"alloc heap={self.process} address={self.address:#x} block={size}" + (f" stack={site}" if site else ""))
        self.live.append(self.address)

    def give(self, count):
        for _ in range(count):
            self.say(f"free heap={self.process} address={self.live.pop():#x}")

    def keep(self, site, size=1000):
        self.take(site, size)
        self.live.pop()

    def iteration(self, sites=6):
        for site in range(1, sites + 1):
            self.take(site)
        self.give(sites)

    def head(self):
        number = self.process
        return (f"process {number} pid={99 + number} host=h1 begin=0\n"
                f"device {number} process={number} ordinal=0 physical={number} kind=npu"
                f" capacity=8589934592\n"
                f"heap {number} process={number} device={number} level=pool basis=block name=\"caching pool\"\n"
                f"thread {number} process={number} tid={99 + number} name=main\n")

    def text(self):
        return text_of([self])


def text_of(programs):
    sites = set().union(*(program.sites for program in programs)) - {0}
    return ("".join(program.head() for program in programs) + "".join(f"stack {site}: {STACKS[site]}\n" for site in sorted(sites))
            + "".join(line + "\n" for program in programs for line in program.lines))


def loop(count=10, places=6, stacks=1, after=0):
    """`count` times so many places, freed again; then `after` blocks of others, as it comes."""
    program = Program()
    for _ in range(count):
        if stacks:
            program.iteration(places)
        else:
            for _ in range(places):
                program.take(0)
            program.give(places)
    for _ in range(after):
        program.take(10 + program.random.randrange(40), 1 + program.random.randrange(1000))
        program.give(program.random.randrange(2))
    return program.text()


def two(first=10, second=10):
    """Two processes with loops of their own; none if it has no turns."""
    programs = [Program(1), Program(2)]
    for program, count in zip(programs, (first, second)):
        for _ in range(count):
            program.iteration()
        if count == 0:
            program.keep(60)
    return text_of(programs)


def ranges(name=0, parts=3):
    """Five turns, each a range with `parts` in it that have names, too; 1: the name of the range says that it is a step."""
    program = Program()
    for i in range(5):
        program.say(f"range_begin name=\"{'ProfilerStep#' if name else 'batch '}{i}\" detail=annotation")
        for part in range(parts):
            program.say(f'range_begin name="part {"abc"[part]}" detail=annotation')
            for site in range(3):
                program.take(i * 9 + part * 3 + site + 1)
            program.say("range_end")
        program.give(3 * parts)
        program.say("range_end")
    return program.text()


def optimizer(site=101):
    """Seven iterations of which no two are alike, each with a backward pass and four blocks of an optimizer's step, or of another
    place."""
    program = Program()
    for _ in range(7):
        forward_count = 3 + program.random.randrange(30)
        for _ in range(forward_count):
            program.take(1 + program.random.randrange(40), 1 + program.random.randrange(9999))
        program.take(100, 4)
        program.give(forward_count + 1)
        for _ in range(4):
            program.take(site, 64)
        program.give(4)
    program.keep(5)
    return program.text()


def build(freed=1):
    """Twenty-four times six places, of which so many blocks are freed."""
    program = Program()
    for _ in range(24):
        for site in range(1, 7 - freed):
            program.keep(site)
        for site in range(7 - freed, 7):
            program.take(site)
        program.give(freed)
    return program.text()


def often(count=50001):
    """A loop of so many turns, of four places, that keeps all it takes."""
    program = Program()
    for _ in range(count):
        for site in range(1, 5):
            program.keep(site)
    return program.text()


def micro(grads=5, counts=(4,)):
    """Four micro-batches an iteration, or so many in turn; the first leaves gradients that the last gives back."""
    program = Program()
    for i in range(12):
        for turn in range(counts[i % len(counts)]):
            for site in range(1, 46):
                program.take(site, 100)
            program.take(100, 4)
            program.give(46)
            for _ in range(grads if turn == 0 else 0):
                program.take(0, 100)
        program.give(grads)
    return program.text()


def layers(around=0, first=110):
    """Layers that free what they take, within one call of a module; or with a line around each turn."""
    program = Program()
    program.keep(60)
    for _ in range(12):
        for _ in range(around):
            program.take(1, 64)
        for site in range(first, first + 5):
            program.take(site, 100)
        program.give(5 + around)
    return program.text()


def parameters(passes=1):
    """So many passes through modules, and then a loop over parameters, of each of which a block stays."""
    program = Program()
    for _ in range(20 * passes):
        for site in range(110, 115):
            program.take(site, 100)
        program.give(5)
    for _ in range(40):
        program.iteration(5)
        program.keep(6, 100)
    return program.text()


def alone(places=1):
    """One place that recurs, with others that hardly do between; or several that do."""
    program = Program()
    for i in range(10):
        for site in range(1, places + 1):
            program.take(site)
        for k in range(6 - places):
            program.take(10 + (5 * i + k) % 50)
        program.give(6)
    return program.text()


def uneven(most=40):
    """Turns of six places, and of up to `most` blocks without a stack, as it comes."""
    program = Program()
    for _ in range(12):
        program.iteration(6)
        for _ in range(program.random.randrange(most)):
            program.take(0)
            program.give(1)
    return program.text()


def steps(count=12, grow=0, noise=0, until=0, again=0, swing=0, scale=1 << 20, freed=0, before=0, weights=1, handles=0):
    """`count` marked steps, in each of which eight blocks come and go and one of `grow` bytes stays, but for those after step
    `until`, but for the one of index `again`; `swing` more in every second; `noise`: up to so many blocks more, as it comes. `freed`
    of those that stay are freed at once, `before` come before the first step, as do `weights`. `handles`: what stays is physical
    memory, and mapped."""
    program = Program()
    for _ in range(weights):
        program.keep(60, 16 * scale)
    for _ in range(before):
        program.keep(20, grow)
    for i in range(count):
        program.say(f"step number={i + 1}")
        for site in range(1, 9):
            program.take(site, scale)
        for _ in range(program.random.randrange(noise) if noise else 0):
            program.take(9, scale)
        for _ in range(1 if swing and i % 2 else 0):
            program.take(10, swing)
        stays = grow if not until or i < until or i == again > 0 else 0
        if stays and handles:
            program.say(f"alloc heap=5 address={i + 1:#x} requested={stays} block={stays} stack=20")
            program.say(f"map heap=6 address={(i + 1) << 40:#x} block={stays} stack=20")
            program.sites.add(20)
        elif stays:
            program.take(20, stays)
            program.live.insert(0, program.live.pop())
            if i < freed:
                program.say(f"free heap=1 address={program.live.pop(0):#x}")
            else:
                program.live.pop(0)
        program.give(len(program.live))
    program.say("process_end process=1 detail=exit error=0")
    heaps = ('heap 5 process=1 device=1 level=physical basis=block name="handles"\n'
             'heap 6 process=1 device=1 level=driver basis=block name="mapped memory"\n')
    return program.text().replace("thread 1 ", heaps + "thread 1 ", 1) if handles else program.text()


def renewed(ends=1):
    """Twenty-four marked steps, each of which leaves a block; in each so many end that another line had made before."""
    program = Program()
    for _ in range(30):
        program.take(50)
    for i in range(24):
        program.say(f"step number={i + 1}")
        program.iteration()
        program.keep(20)
        program.give(ends)
    return program.text()


def server(rise=1):
    """An hour of requests without steps, no two alike, of which one in a minute leaves a block of 1 MiB behind, or none does; in
    every sixth minute few come."""
    program = Program()
    for minute in range(60):
        program.seq = minute * 6000000000
        for _ in range(4 if minute % 6 else 1):
            count = 1 + program.random.randrange(9)
            for _ in range(count):
                program.take(30 + program.random.randrange(30), 1 + program.random.randrange(20 << 20))
            program.give(count)
        program.take(20, 3 << 20)
        if rise:
            program.keep(20, 1 << 20)
            program.live.append(program.live.pop())
        program.give(1)
    return program.text()


MIB = 1 << 20


class Caching(Program):
    """A caching allocator's pool, of which streams and segments are known. A request asks for 32 bytes less than its size, which
    is what such a pool adds."""

    def __init__(self):
        super().__init__()
        self.base = 1 << 40

    def head(self):
        return super().head() + 'heap 2 process=1 device=1 level=driver basis=block name="NPU memory"\n'

    def segment(self, size, is_mapped=False):
        self.base += size + (1 << 32)
        self.say(f"{'map' if is_mapped else 'alloc'} heap=2 address={self.base:#x}"
                 + ("" if is_mapped else f" requested={size} segment") + f" block={size} stream=1")
        return self.base

    def block(self, address, size, requested=0):
        self.sites.add(1)
        self.say(f"alloc heap=1 address={address:#x} block={size} requested={requested or size - 32} stack=1 stream=1")

    def free(self, address, heap=1):
        self.say(f"free heap={heap} address={address:#x} stream=1" + (" detail=device" if heap == 2 else ""))


def fit(mapped=0, failed=0, own=0, spare=0, baseline=0):
    """1 GiB of weights and 512 MiB that come and go in four steps, each in a segment of its own, as a caching pool does it.
    `failed` MiB: a request that the pool did not serve; `own`: it gave the second segment back by itself when it had to grow;
    `spare` MiB: the first segment is larger; `baseline`: the weights were there before."""
    program = Caching()
    weights = program.segment((1024 + spare) * MIB, mapped)
    program.block(weights, 1024 * MIB)
    if baseline:
        program.lines = ["- " + line.split(" ", 2)[1] + " baseline " + line.split(" ", 2)[2] for line in program.lines]
        program.seq = 0
    other = program.segment(512 * MIB, mapped)
    for step in range(4):
        program.say(f"step number={step + 1}")
        program.block(other, 512 * MIB)
        program.free(other)
    if failed:
        program.say(f"alloc_failed heap=1 requested={failed * MIB} stack=1 stream=1 error=207001")
    if own:
        program.free(other, 2)
        program.block(program.segment(600 * MIB), 600 * MIB)
    return program.text()


def growing():
    """A block that is 4 MiB larger in each of twelve steps, each in a segment of its own, and is freed when the next one is there."""
    program = Caching()
    kept = None
    for step in range(12):
        program.say(f"step number={step + 1}")
        place = program.segment((22 + 4 * step) * MIB)
        program.block(place, (20 + 4 * step) * MIB)
        if kept is not None:
            program.free(kept)
        kept = place
    return program.text()


def split(late=8):
    """Ten segments of 100 MiB that come to be free; ten blocks of 30 MiB are cut from four of them and stay; then `late` blocks of
    100 MiB, of which six find a whole segment."""
    program = Caching()
    places = []
    for _ in range(10):
        places.append(program.segment(100 * MIB))
        program.block(places[-1], 100 * MIB)
    for place in places:
        program.free(place)
    program.say("step number=1")
    for i in range(10):
        program.block(places[i // 3] + i % 3 * 30 * MIB, 30 * MIB)
    for step in (2, 3, 4):
        program.say(f"step number={step}")
        for i in range(late):
            if 4 + i >= len(places):
                places.append(program.segment(100 * MIB))
            program.block(places[4 + i], 100 * MIB)
        for i in range(late):
            program.free(places[4 + i])
    return program.text()


def graphs(waited=1):
    """Eight graphs are captured at one place, and executed, three times each; what comes of it is waited for, or never."""
    program = Program()
    program.sites |= {58, 59}
    for _ in range(12):
        program.keep(60)
    for graph in range(8):
        program.say("stream_call device=1 stream=7 detail=capture_begin stack=59")
        for _ in range(6):
            program.take(1)
        program.give(5)
        program.live.pop()
        program.say(f"stream_call device=1 stream=7 number={1000 + graph} detail=capture_end")
    for i in range(40):
        program.say(f"stream_call device=1 stream=7 number={1000 + i // 3 % 8} detail=graph_execute stack=58")
        if waited:
            program.say("stream_call device=1 stream=7 detail=synchronize")
    return program.text()


def uneven_micro(grads=5):
    """Micro-batches of an irregular number."""
    return micro(grads, (4, 2, 7, 3, 5, 2, 6, 4, 3, 7, 2, 5))


def backward(lines=1, is_regular=0):
    """Iterations of which no two are alike, or all are, with a backward pass; of two lines the second follows the first, of three
    turns it takes one in six."""
    program = Program()
    for i in range(48):
        count = 5 if is_regular else 3 + program.random.randrange(30)
        for k in range(count):
            program.take(1 + (k if is_regular else program.random.randrange(40)), 100 if is_regular else 1 + program.random.randrange(9999))
            program.give(1)
        program.take(50, 100)
        program.take(103 if lines == 2 and i >= 20 or lines == 3 and i % 6 == 5 else 100, 4)
        program.give(2)
    return program.text()


def aged(count=400, leaks=1):
    """Steps that leave a block of 64 MiB at most behind for up to three steps, and one in four a block of 1 KiB for ever."""
    program, held = Program(), []
    program.keep(60)
    for i in range(count):
        program.say(f"step number={i + 1}")
        for _ in range(len([until for until, _ in held if until <= i])):
            program.say(f"free heap=1 address={held.pop(0)[1]:#x}")
        program.take(20, 1 + program.random.randrange(64 << 20))
        held.append((i + 3, program.live.pop()))
        if leaks and program.random.random() < 0.25:
            program.keep(20, 1024)
    program.say("process_end process=1 detail=exit error=0")
    return program.text()
