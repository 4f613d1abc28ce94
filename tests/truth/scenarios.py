# SPDX-License-Identifier: Apache-2.0
"""Programs with known truth: which lines leak, and where iterations begin."""
from parts import KB, MB, Loop, Net, Optimizer

ALL = {}
RANKS = {}  # files of one run: how many, each by the same function, which looks at p.rank


def scenario(function):
    ALL[function.__name__] = function
    return function


def scenario_of_ranks(count):
    def keep(function):
        RANKS[function.__name__] = count
        return scenario(function)
    return keep


def some_steps(p, low=12, high=60):
    return p.random.randint(low, high)


# ---- Sound training -------------------------------------------------------------------------------------------------


@scenario
def plain_training(p):
    Loop(p, some_steps(p)).run()


@scenario
def few_steps(p):
    Loop(p, p.random.randint(3, 7)).run()


@scenario
def two_steps(p):
    Loop(p, 2).run()


@scenario
def history_that_was_cut(p):
    """A ring of so many entries: what was before is gone."""
    Loop(p, some_steps(p, 24, 60)).run()
    p.cut(len(p.pool.entries) // p.random.choice((2, 3)))


@scenario
def steps_skipped_now_and_then(p):
    """A scaler of losses: where gradients overflow the optimizer does not run."""
    loop = Loop(p, some_steps(p, 30, 80))
    skipped = p.random.sample(range(5, loop.steps), 2)
    loop.skips = lambda step: step in skipped
    loop.run()


@scenario
def one_full_step(p):
    p.allows_steps = 1
    net = Net(p, layers=p.random.choice((8, 16, 24)))
    Loop(p, 1, net, Optimizer(p, net, p.random.choice(("adam", "own")))).run()
    p.steps = None


@scenario
def gradient_accumulation(p):
    loop = Loop(p, some_steps(p, 8, 24))
    loop.accumulate = p.random.choice((2, 4, 8))
    loop.run()


@scenario
def fused_optimizer(p):
    net = Net(p)
    Loop(p, some_steps(p), net, Optimizer(p, net, "momentum")).run()


@scenario
def dynamic_shapes(p):
    loop = Loop(p, some_steps(p, 20, 80))
    scales = [p.random.uniform(0.3, 2.5) for _ in range(loop.steps)]
    loop.scale = lambda step: scales[step]
    loop.run()


@scenario
def warm_up_then_flat(p):
    """Buffers that grow until the longest sequence has come."""
    held = []
    longest = p.random.randint(4, 8)

    def warm(step):
        with p.call("/w/rotary.py", "cached_table", 25):
            if step < longest:
                held.append(p.new((step + 1) * 16 * KB, "cos"))
                if p.random.random() < 0.5 and len(held) > 1:
                    p.drop(held.pop(0))
    Loop(p, some_steps(p, 30, 80), after_forward=warm).run()


@scenario
def lazy_buffers_late(p):
    """A few tables that are made when first asked for, the last in the middle of the run."""
    loop = Loop(p, some_steps(p, 20, 80))
    births = sorted(p.random.sample(range(1, max(3, loop.steps // 2)), 3))

    def late(step):
        if step in births:
            with p.call("/w/tables.py", "get", 12 + births.index(step)):
                p.new(p.random.choice((64, 128, 512)) * KB)
    loop.at["after_forward"] = late
    loop.run()


@scenario
def cache_that_fills(p):
    """One entry a key: the keys are all known before the middle of the run."""
    loop = Loop(p, some_steps(p, 60, 160))
    keys = p.random.randint(6, 12)
    known = set()

    def lookup(step):
        key = p.random.randrange(keys) if step < loop.steps // 2 or len(known) == keys else None
        if step == loop.steps // 2:
            for key in set(range(keys)) - known:
                add(key)
        elif key is not None and key not in known:
            add(key)

    def add(key):
        known.add(key)
        with p.call("/w/cache.py", "lookup", 31):
            p.new((key + 1) * 24 * KB, "clone")
    loop.at["after_forward"] = lookup
    loop.run()


@scenario
def lru_cache(p):
    loop = Loop(p, some_steps(p, 50, 140))
    capacity, held = p.random.randint(5, 12), {}

    def use(step):
        key = p.random.randrange(3 * capacity)
        if key in held:
            held[key] = held.pop(key)
            return
        with p.call("/w/lru.py", "get", 19):
            held[key] = p.new(p.random.choice((64, 96, 128)) * KB, "to")
            if len(held) > capacity:
                p.at(22).drop(held.pop(next(iter(held))))
    loop.at["after_forward"] = use
    loop.run()


@scenario
def prefetch_queue(p):
    loop = Loop(p, some_steps(p))
    depth, queue = p.random.randint(2, 6), []

    def prefetch(step):
        with p.call("/w/loader.py", "prefetch", 40):
            while len(queue) < depth:
                queue.append(p.new(256 * KB, "to"))
            if p.random.random() < 0.9:
                p.drop(queue.pop(0))
    loop.at["between"] = prefetch
    loop.run()


@scenario
def replay_queue(p):
    """Reinforcement learning: the newest are kept; full before the middle."""
    loop = Loop(p, some_steps(p, 40, 120))
    capacity, queue = max(4, loop.steps // 3), []

    def remember(step):
        with p.call("/w/replay.py", "push", 16):
            queue.append(p.new(p.random.choice((32, 40)) * KB, "clone"))
            if len(queue) > capacity:
                p.drop(queue.pop(0))
    loop.at["end"] = remember
    loop.run()


@scenario
def running_average(p):
    """A list of the last losses, and a total that is made anew each step."""
    loop = Loop(p, some_steps(p))
    held = []

    def note(step):
        with p.call("/w/meter.py", "update", 9):
            held.append(p.new(4, "detach"))
            if len(held) > 10:
                p.drop(held.pop(0))
            total = p.at(12).new(4, "mean")
            p.drop(loop.variables.pop("mean", None))
            loop.variables["mean"] = total
    loop.at["end"] = note
    loop.run()


@scenario
def moving_average_of_weights(p):
    """A copy of the weights, made at a third of the run and kept up to date."""
    loop = Loop(p, some_steps(p, 15, 60))

    def average(step):
        if step == loop.steps // 3:
            with p.call("/w/ema.py", "start", 11):
                for weight in loop.net.weights:
                    p.new(weight.requested, "clone")
    loop.at["end"] = average
    loop.run()


@scenario
def evaluation_every_n(p):
    loop = Loop(p, some_steps(p, 16, 60))
    every, batches = p.random.choice((3, 5, 8)), p.random.choice((2, 4, 12))

    def evaluate(step):
        if step % every:
            return
        with p.call("/w/eval.py", "evaluate", 20):
            for _ in range(batches):
                batch = p.at(22).new(96 * KB, "to")
                out = p.at(24) and loop.net.forward(1, grad=False)
                score = p.at(25).new(4, "argmax")
                p.drop(batch, score, *out)
    loop.at["between"] = evaluate
    loop.run()


@scenario
def checkpoints_every_n(p):
    loop = Loop(p, some_steps(p, 16, 60))
    every = p.random.choice((4, 7, 10))

    def save(step):
        if step % every == every - 1:
            with p.call("/w/checkpoint.py", "save", 33):
                copies = [p.new(weight.requested, "contiguous") for weight in loop.net.weights]
                p.drop(*copies)
                p.at(36).empty_cache()
    loop.at["between"] = save
    loop.run()


@scenario
def two_phases(p):
    """Training, then fine-tuning with another optimizer: both are iterations."""
    loop = Loop(p, some_steps(p, 10, 30), shape="function")
    second = Loop(p, some_steps(p, 10, 30), shape="function", file="/w/finetune.py")
    with p.call("/w/main.py", "<module>", 9), p.call("/w/main.py", "main", 30):
        loop.make()
        p.at(33)
        loop.fit()
        second.net = loop.net
        loop.net.zero_grad()
        second.optimizer = Optimizer(p, second.net, loop.optimizer.kind)
        p.steps.pop()
        p.at(37)
        second.fit("finetune")
    p.is_steps_open = True


@scenario
def gan(p):
    """Two models in turn, each with its optimizer: one iteration has both."""
    steps = some_steps(p, 12, 40)
    one, other = Net(p, 3, file="/w/generator.py"), Net(p, 2, file="/w/discriminator.py")
    kinds = p.random.choice((("adam", "adam"), ("own", "own")))
    with p.call("/w/gan.py", "<module>", 90), p.call("/w/gan.py", "train", 5):
        one.build(), p.at(6) and other.build()
        makers = [Optimizer(p, one, kinds[0]), Optimizer(p, other, kinds[1])]
        for _ in range(steps):
            p.begin_step()
            p.at(20)
            other.zero_grad()
            real = p.at(21).new(128 * KB, "to")
            fake = p.at(22) and one.forward(1, grad=False)
            saved = p.at(23) and other.forward()
            p.at(24)
            other.backward(saved)
            p.at(25)
            makers[1].step()
            p.at(28)
            one.zero_grad()
            saved = p.at(29) and one.forward()
            more = p.at(30) and other.forward()
            p.at(31)
            one.backward(saved + more)
            p.at(32)
            makers[0].step()
            p.drop(real, *fake)
        p.end_steps()


@scenario
def pipeline_micro_batches(p):
    """All micro-batches forward, then all backward, then the optimizer."""
    steps, micro = some_steps(p, 8, 24), p.random.choice((2, 4, 8))
    net = Net(p)
    with p.call("/w/pipe.py", "<module>", 80), p.call("/w/pipe.py", "train", 5):
        net.build()
        optimizer = Optimizer(p, net, p.random.choice(("adam", "own")))
        for _ in range(steps):
            p.begin_step()
            with p.at(20).call("/w/schedule.py", "run", 30):
                waiting = []
                for _ in range(micro):
                    batch = p.at(31).new(64 * KB, "recv")
                    waiting.append((batch, p.at(33) and net.forward()))
                for batch, saved in waiting:
                    p.at(36)
                    net.backward(saved)
                    p.drop(batch)
            p.at(23)
            optimizer.step()
            p.at(24)
            net.zero_grad()
        p.end_steps()


@scenario
def layers_checkpointed(p):
    """Activation checkpointing: forward keeps little, backward runs forward again."""
    steps = some_steps(p, 10, 40)
    net = Net(p)
    with p.call("/w/train.py", "<module>", 80), p.call("/w/train.py", "train", 5):
        net.build()
        optimizer = Optimizer(p, net)
        for _ in range(steps):
            p.begin_step()
            p.at(20)
            net.zero_grad()
            batch = p.at(21).new(64 * KB, "to")
            out = p.at(22) and net.forward(1, grad=False)
            loss = p.at(23).new(4)
            saved = net.forward()
            p.at(24)
            net.backward(saved)
            p.at(25)
            optimizer.step()
            p.drop(batch, loss, *out)
        p.end_steps()


@scenario
def reload_of_weights(p):
    """Two models are loaded and left in turn."""
    with p.call("/w/serve.py", "<module>", 70), p.call("/w/serve.py", "main", 10):
        for _ in range(p.random.randint(2, 4)):
            net = Net(p, 5)
            p.at(12)
            net.build()
            for _ in range(3):
                p.drop(*(p.at(14) and net.forward(1, grad=False)))
            p.at(16).drop(*net.weights)
    p.steps, p.allows_steps, p.is_steps_open = None, 4, True


# ---- One pass -------------------------------------------------------------------------------------------------------


def one_pass(p, grad):
    net = Net(p, layers=p.random.choice((6, 12, 32)))
    with p.call("/w/bench.py", "<module>", 90), p.call("/w/bench.py", "run", 30):
        net.build()
        p.at(34)
        batch = p.new(64 * KB, "to")
        p.at(36)
        out = net.forward(1, grad)
        if p.random.random() < 0.5:
            p.drop(batch)
        if p.random.random() < 0.5 and not grad:
            p.drop(*out)


@scenario
def one_forward_with_grad(p):
    one_pass(p, True)


@scenario
def one_forward_without_grad(p):
    one_pass(p, False)


@scenario
def one_forward_of_a_deep_net(p):
    """Layers that are no modules: plain functions in a loop within one forward."""
    net = Net(p, 4)
    with p.call("/w/bench.py", "<module>", 90), p.call("/w/bench.py", "run", 30):
        net.build()
        p.at(36)
        with p.module("/w/deep.py", 20):
            first = p.new(64 * KB, is_a="activation|temporary")
            kept = []
            for _ in range(p.random.choice((12, 24, 48))):
                with p.at(24).call("/w/ops.py", "layer", 8):
                    work = [p.at(line).new(size * KB, name, is_a="activation|temporary")
                            for line, size, name in ((8, 128, "matmul"), (9, 64, "relu"), (10, 64, "norm"), (11, 32, "add"))]
                    if p.allows_steps and net.layers % 2 == 0:
                        p.drop(*work[:3])
                        kept.append(work[3])
            last = p.at(30).new(64 * KB, is_a="activation|temporary")
            p.drop(first, last, *kept)


@scenario
def model_is_built(p):
    """Weights alone, moved to the device layer by layer."""
    with p.call("/w/load.py", "<module>", 60), p.call("/w/load.py", "load", 12):
        for _ in range(p.random.choice((12, 32))):
            for line in (20, 21, 22, 23):
                staging = p.at(line).new(256 * KB, "to", is_a="temporary")
                p.at(line + 6).new(256 * KB, "copy_", is_a="weight")
                p.drop(staging)


# ---- Inference ------------------------------------------------------------------------------------------------------


@scenario
def inference_loop(p):
    steps = some_steps(p, 10, 60)
    net = Net(p)
    with p.call("/w/infer.py", "<module>", 60), p.call("/w/infer.py", "main", 5):
        net.build()
        for _ in range(steps):
            p.begin_step()
            batch = p.at(20).new(80 * KB, "to")
            out = p.at(22) and net.forward(1, grad=False)
            p.at(24).drop(batch, *out)
        p.end_steps()


def server(p, leaks, load_of, count=None):
    """Requests come and go; each holds pages of a cache, taken as it grows; an engine step serves all that are there."""
    net = Net(p, 3, 96 * KB)
    count = count or p.random.randint(150, 400)
    live, page = [], 64 * KB
    with p.call("/w/engine.py", "<module>", 70), p.call("/w/engine.py", "serve", 20):
        net.build()
        for step in range(count):
            p.begin_step()
            while len(live) < load_of(step / count):
                live.append([p.random.randint(3, 25), []])
            for request in live:
                if p.random.random() < 0.4:
                    with p.at(25).call("/w/kv.py", "allocate_page", 44):
                        request[1].append(p.new(page, "empty", is_a="KV cache"))
            out = p.at(28) and net.forward(max(1, len(live)) / 8, grad=False)
            p.at(29).drop(*out)
            for request in [request for request in live if request[0] == 0]:
                live.remove(request)
                with p.at(31).call("/w/kv.py", "release", 52):
                    kept = leaks and request[1] and p.random.random() < 0.5
                    p.drop(*request[1][1 if kept else 0:])
            for request in live:
                request[0] -= 1
        p.end_steps()
    p.is_steps_open = True


@scenario
def kv_server_falling_load(p):
    top = p.random.randint(8, 16)
    server(p, False, lambda part: top if part < 0.3 else 2 if part < 0.5 else top * 0.8 if part < 0.7 else 3)


def in_waves(top, waves):
    """Days and nights."""
    return lambda part: top if part * waves % 1 < 0.6 else 2


@scenario
def kv_server_for_hours(p):
    p.pool.tick_us = p.random.choice((1_000_000, 3_000_000))
    server(p, False, in_waves(p.random.randint(8, 14), p.random.randint(12, 24)), 900)


@scenario
def kv_server_rising_load(p):
    top = p.random.randint(8, 20)
    server(p, False, lambda part: 1 + top * part)


@scenario
def kv_server_random_load(p):
    state = [5.0]

    def load(part):
        state[0] = min(20, max(1, state[0] + p.random.uniform(-1.5, 1.5)))
        return state[0]
    server(p, False, load)


@scenario
def kv_server_that_leaks(p):
    top = p.random.randint(6, 10)
    server(p, True, lambda part: top)
    p.leaks.append(frozenset(("kv.py:44 allocate_page",)))


@scenario
def kv_server_that_leaks_for_hours(p):
    p.pool.tick_us = p.random.choice((1_000_000, 3_000_000))
    server(p, True, in_waves(p.random.randint(8, 14), p.random.randint(12, 24)), 900)
    p.leaks.append(frozenset(("kv.py:44 allocate_page",)))


def cached_server(p, entries, capacity, evicts):
    """Each request computes, and keeps what it has computed of a prompt that is new; `entries` says how many are known."""
    net = Net(p, 3, 96 * KB)
    count, cache, known = p.random.randint(150, 400), [], set()
    capacity = int(capacity * count)
    with p.call("/w/serve.py", "<module>", 70), p.call("/w/serve.py", "handle", 20):
        net.build()
        for request in range(count):
            p.begin_step()
            out = p.at(24) and net.forward(1, grad=False)
            key = p.random.randrange(entries(request / count))
            if key not in known and (evicts or len(cache) < capacity):
                known.add(key)
                with p.at(27).call("/w/prefix.py", "insert", 33):
                    cache.append((key, p.new(256 * KB, "empty")))
            if evicts and len(cache) > capacity:
                old, tensor = cache.pop(0)
                known.discard(old)
                with p.at(29).call("/w/prefix.py", "evict", 41):
                    p.drop(tensor)
            p.at(31).drop(*out)
        p.end_steps()
    p.is_steps_open = True


@scenario
def server_with_a_warm_cache(p):
    cached_server(p, lambda part: 40, 1, False)


@scenario
def server_with_a_prefix_cache(p):
    cached_server(p, lambda part: 100000, p.random.uniform(0.05, 0.2), True)


@scenario
def server_whose_pool_fills(p):
    cached_server(p, lambda part: 100000, p.random.uniform(0.3, 0.5), False)


@scenario
def graphs_captured_per_batch_size(p):
    """One graph a batch size, with memory of its own; then long replays with little of it."""
    sizes = p.random.choice((8, 16, 24))
    with p.call("/w/runner.py", "<module>", 70), p.call("/w/runner.py", "main", 10):
        net = Net(p, 4).build()
        with p.at(12).call("/w/graphs.py", "capture_all", 20):
            for size in range(sizes, 0, -1):
                with p.at(22).call("/w/graphs.py", "capture", 30):
                    saved = net.forward(size / 4, grad=False)
                    p.at(33).new(size * 32 * KB, "empty_like")
                    p.at(35).drop(*saved)
        replays = p.random.randint(100, 300)
        for _ in range(replays):
            p.begin_step()
            batch = p.at(16).new(32 * KB, "to")
            tokens = p.at(18).new(4 * KB, "argmax")
            lengths = p.at(19).new(2 * KB, "add")
            out = p.at(20).new(8 * KB, "index_select")
            p.at(21).drop(batch, tokens, lengths, out)
        p.end_steps()
    p.is_steps_open = True
    p.allows_steps = sizes


@scenario
def sleep_and_wake(p):
    """An engine gives all back and takes it again, some times."""
    with p.call("/w/engine.py", "<module>", 70), p.call("/w/engine.py", "main", 10):
        net = Net(p, 4)
        p.at(11)
        net.build()
        for _ in range(p.random.randint(3, 8)):
            pages = []
            with p.at(14).call("/w/kv.py", "wake_up", 12):
                for _ in range(12):
                    pages.append(p.new(512 * KB, "empty", is_a="KV cache"))
            for _ in range(p.random.randint(5, 9)):
                p.drop(*(p.at(16) and net.forward(1, grad=False)))
            with p.at(18).call("/w/kv.py", "sleep", 20):
                p.drop(*pages[:-1])
                p.drop(pages[-1])
                p.empty_cache()
    p.steps, p.is_steps_open, p.allows_steps = None, True, 80


# ---- Leaks ----------------------------------------------------------------------------------------------------------


def leaking_loop(p, steps, leak, point="end", **options):
    loop = Loop(p, steps, **options)
    loop.at[point] = leak
    loop.run()


def keep_at(p, file, function, line, size, operator="detach"):
    with p.call(file, function, line):
        p.leaks_here()
        return p.new(size, operator)


@scenario
def metric_kept_each_step(p):
    leaking_loop(p, some_steps(p), lambda step: keep_at(p, "/w/metrics.py", "log", 14, 4))


@scenario
def metric_kept_by_the_loop(p):
    """In the line of the loop itself, beside others that are freed."""
    def keep(step):
        p.leaks_here()
        p.new(4, "detach")
    leaking_loop(p, some_steps(p), keep)


@scenario
def leak_in_few_steps(p):
    size = p.random.choice((512, 96 * KB, 3 * MB))
    leaking_loop(p, p.random.randint(4, 7), lambda step: keep_at(p, "/w/metrics.py", "log", 14, size))


@scenario
def outputs_kept(p):
    size = p.random.choice((64, 300, 5000)) * KB
    leaking_loop(p, some_steps(p, 12, 40), lambda step: keep_at(p, "/w/history.py", "append", 21, size))


@scenario
def leak_every_10th_step(p):
    every = 10
    leaking_loop(p, p.random.choice((80, 120, 200, 300)),
                 lambda step: keep_at(p, "/w/summary.py", "write", 31, 40 * KB) if step % every == 3 else None, "between")


@scenario
def leak_late(p):
    steps = some_steps(p, 40, 120)
    begin = int(steps * p.random.uniform(0.2, 0.5))
    leaking_loop(p, steps, lambda step: keep_at(p, "/w/stats.py", "collect", 17, 12 * KB) if step >= begin else None)


@scenario
def leak_of_three_sizes(p):
    leaking_loop(p, some_steps(p, 15, 80),
                 lambda step: keep_at(p, "/w/buffers.py", "make", 26, (8, 24, 56)[step % 3] * KB))


@scenario
def leak_of_random_sizes(p):
    leaking_loop(p, some_steps(p, 20, 80),
                 lambda step: keep_at(p, "/w/buffers.py", "make", 27, p.random.randint(1, 90) * KB))


@scenario
def leak_now_and_then(p):
    leaking_loop(p, some_steps(p, 60, 160),
                 lambda step: keep_at(p, "/w/retry.py", "again", 8, 30 * KB) if p.random.random() < 0.35 else None)


@scenario
def leak_by_callback(p):
    def run(step):
        with p.call("/w/callbacks.py", "fire", 12), p.call("/w/callbacks.py", "on_batch_end", 40):
            work = p.new(16 * KB)
            p.at(41).leaks_here()
            p.new(16 * KB, "clone")
            p.at(42).drop(work)
    leaking_loop(p, some_steps(p), run)


@scenario
def leak_in_a_helper_of_all(p):
    """A helper that others call too; what one caller is given is never freed."""
    loop = Loop(p, some_steps(p, 15, 60))

    def helper(size):
        with p.call("/w/helper.py", "to_device", 7):
            return p.new(size, "to")

    def use(step):
        for line in (50, 51, 52, 53):
            tensor = p.at(line) and helper(48 * KB)
            p.drop(tensor)
        with p.at(55).call("/w/history.py", "remember", 13):
            p.leaks.append(frozenset(("helper.py:7 to_device", "history.py:13 remember"))) if step == 0 else None
            helper(48 * KB)
    loop.at["end"] = use
    loop.run()


@scenario
def leak_beside_weights(p):
    """One line makes weights before the loop and a block that stays in each step."""
    loop = Loop(p, some_steps(p, 12, 60))

    def make(size):
        with p.call("/w/factory.py", "make", 18):
            return p.new(size, "zeros")
    with p.call("/w/train.py", "<module>", 99), p.call("/w/train.py", "main", 80):
        loop.make()
        p.at(82)
        for size in (512, 1024, 3072, 512):
            make(size * KB)
        loop.at["end"] = lambda step: make(3 * KB)
        p.leaks.append(frozenset(("factory.py:18 make",)))
        p.at(84)
        loop.fit()


@scenario
def graph_retained(p):
    """loss is summed up without detach: all that forward saved stays. Which of its lines are named is left open."""
    loop = Loop(p, some_steps(p, 8, 30))

    def backward(step, saved):
        loop.net.backward(saved, keep=saved)
    loop.at["backward"] = backward
    loop.run()
    p.leaks += [frozenset(("linear.py:125 forward", "block.py:12 forward")), frozenset(("block.py:15 forward",)),
                frozenset(("block.py:17 forward",)), frozenset(("model.py:30 forward",)),
                frozenset(("model.py:36 forward",))]


@scenario
def cat_growth(p):
    """x = torch.cat([x, new]): one block, each step a larger one."""
    held = []

    def grow(step):
        with p.call("/w/collect.py", "add", 22):
            p.leaks_here()
            new = p.at(21).new(8 * KB, "detach")
            larger = p.at(22).new((step + 1) * 8 * KB, "cat")
            if held:
                p.drop(held.pop())
            held.append(larger)
            p.at(23).drop(new)
    leaking_loop(p, some_steps(p, 12, 70), grow)


@scenario
def leak_with_dynamic_shapes(p):
    loop = Loop(p, some_steps(p, 25, 80))
    loop.scale = lambda step: p.random.uniform(0.3, 2.5)
    loop.at["end"] = lambda step: keep_at(p, "/w/history.py", "append", 21, p.random.randint(10, 80) * KB)
    loop.run()


@scenario
def leak_with_evaluation(p):
    """Scores of each evaluation are kept."""
    loop = Loop(p, some_steps(p, 40, 80))

    def evaluate(step):
        if step % 4 == 0:
            with p.call("/w/eval.py", "evaluate", 20):
                for _ in range(3):
                    out = p.at(24) and loop.net.forward(1, grad=False)
                    p.at(25).leaks_here()
                    p.new(20 * KB, "argmax")
                    p.drop(*out)
    loop.at["between"] = evaluate
    loop.run()


@scenario
def leak_in_inference(p):
    steps = some_steps(p, 12, 60)
    net = Net(p)
    with p.call("/w/infer.py", "<module>", 60), p.call("/w/infer.py", "main", 5):
        net.build()
        for _ in range(steps):
            p.begin_step()
            batch = p.at(20).new(80 * KB, "to")
            out = p.at(22) and net.forward(1, grad=False)
            p.at(24).drop(batch)
            p.at(25).leaks_here()
            p.new(6 * KB, "cpu")
            p.drop(*out)
        p.end_steps()


@scenario
def leak_beside_a_cache(p):
    """A bounded cache and a leak in one program: one of them is named."""
    loop = Loop(p, some_steps(p, 40, 100))
    held = []

    def both(step):
        with p.call("/w/cache.py", "put", 31):
            held.append(p.new(64 * KB, "clone"))
            if len(held) > 9:
                p.drop(held.pop(0))
        keep_at(p, "/w/metrics.py", "log", 14, 2 * KB)
    loop.at["end"] = both
    loop.run()


@scenario
def leak_with_accumulation(p):
    loop = Loop(p, some_steps(p, 10, 24))
    loop.accumulate = p.random.choice((2, 4))
    loop.at["end"] = lambda step: keep_at(p, "/w/metrics.py", "log", 14, 2 * KB)
    loop.run()


@scenario
def leak_in_a_history_that_was_cut(p):
    leaking_loop(p, some_steps(p, 24, 60), lambda step: keep_at(p, "/w/metrics.py", "log", 14, 4 * KB))
    p.cut(len(p.pool.entries) // p.random.choice((2, 3)))


@scenario_of_ranks(8)
def leak_in_one_of_8_ranks(p):
    """One program, eight files; one of them has a hook that the others have not."""
    loop = Loop(p, 24)
    if p.rank == 5:
        loop.at["end"] = lambda step: keep_at(p, "/w/monitor.py", "on_rank", 14, 2 * KB)
    loop.run()


@scenario
def leak_of_a_gan(p):
    steps = some_steps(p, 12, 40)
    with p.call("/w/run.py", "<module>", 3):
        one, other = Net(p, 3, file="/w/generator.py"), Net(p, 2, file="/w/discriminator.py")
        with p.call("/w/gan.py", "train", 5):
            one.build(), p.at(6) and other.build()
            makers = [Optimizer(p, one, "adam"), Optimizer(p, other, "adam")]
            for _ in range(steps):
                p.begin_step()
                for line, net, maker in ((20, other, makers[1]), (28, one, makers[0])):
                    p.at(line)
                    net.zero_grad()
                    saved = p.at(line + 2) and net.forward()
                    p.at(line + 3)
                    net.backward(saved)
                    p.at(line + 4)
                    maker.step()
                p.at(35).leaks_here()
                p.new(24 * KB, "detach")
            p.end_steps()


@scenario
def long_run(p):
    """5,000 steps of a small model, one block in seven kept."""
    net = Net(p, 1, 64 * KB)
    Loop(p, 5000 if p.style == "python" else 1500, net, Optimizer(p, net, "momentum"), shape="function",
         end=lambda step: keep_at(p, "/w/metrics.py", "log", 14, 512) if step % 7 == 0 else None).run()
