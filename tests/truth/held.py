# SPDX-License-Identifier: Apache-2.0
"""Programs that replace what they hold, that come to hold more bit by bit, and that hold it by mistake."""
from parts import ADAM, KB, OPTIMIZER, Loop, Net
from scenarios import keep_at, leaking_loop, scenario, some_steps

INDUCTOR = "/tmp/torchinductor_u/xy/cgm4.py"
RELOADER = "/w/convert.py"
OWN_FILES = ("/w/optimizer.py", "/w/my_optimizer.py", "/w/train.py", "/w/adamw.py", "/w/cs/optim.py")
STATE = "optimizer state|temporary"


class OwnAdamW:
    """One parameter after the other; m and v are made anew each time, and what was there before is dropped."""

    def __init__(self, p, net):
        self.p, self.net = p, net
        self.file, self.is_wrapped = p.random.choice(OWN_FILES), p.random.random() < 0.6
        self.state = []

    def build(self):
        with self.p.call(self.file, "__init__", 30):
            self.state = [[self.p.at(line).new(weight.requested, "zeros_like", is_a=STATE) for line in (32, 33)]
                          for weight in self.net.weights]
        return self

    def renew(self, line, old, temporaries):
        work = [self.p.at(line).new(old.requested, "mul", is_a=STATE) for _ in range(temporaries)]
        made = self.p.at(line).new(old.requested, "add", is_a=STATE)
        self.p.replaces_here()
        self.p.drop(*work, old)
        return made

    def update(self):
        for weight, state in zip(self.net.weights, self.state):
            state[0] = self.renew(74, state[0], 2)
            state[1] = self.renew(75, state[1], 3)
            work = self.p.at(78).new(weight.requested, "sqrt", is_a=STATE)
            more = self.p.at(80).new(weight.requested, "div", is_a=STATE)
            self.p.drop(work, more)

    def step(self):
        if self.is_wrapped:
            with self.p.call(OPTIMIZER, "wrapper", 526), self.p.call(self.file, "step", 60):
                self.update()
        else:
            with self.p.call(self.file, "step", 60):
                self.update()


class CompiledNet(Net):
    """No module is called: one function that a compiler wrote."""

    def forward(self, scale=1, grad=True):
        with self.p.call(INDUCTOR, "call", 54):
            return [self.p.at(54 + i % 3).new(self.width * scale, "empty_strided_cuda", is_a="activation|temporary")
                    for i in range(4 * self.layers)]


def own_optimizer(p, steps):
    """Built before the history begins."""
    net = (CompiledNet if p.random.random() < 0.4 else Net)(p, p.random.choice((4, 8, 16, 24)))
    with p.call("/w/train.py", "<module>", 90), p.call("/w/train.py", "main", 40):
        p.at(42)
        net.build()
        optimizer = OwnAdamW(p, net)
        p.at(44)
        optimizer.build()
        begin = len(p.pool.entries) if p.random.random() < 0.7 else 0
        p.at(50)
        Loop(p, steps, net, optimizer, shape="function").fit()
    p.cut(begin)


@scenario
def one_step_of_an_own_optimizer(p):
    own_optimizer(p, 1)
    p.steps, p.allows_steps = None, 1


@scenario
def two_steps_of_an_own_optimizer(p):
    own_optimizer(p, 2)
    p.steps, p.allows_steps = None, 2


@scenario
def own_optimizer_that_renews_state(p):
    own_optimizer(p, some_steps(p, 8, 30))


@scenario
def state_renewed_beside_a_leak(p):
    net = Net(p)
    optimizer = OwnAdamW(p, net)
    with p.call("/w/train.py", "<module>", 90), p.call("/w/train.py", "main", 40):
        net.build()
        optimizer.build()
        p.at(50)
        Loop(p, some_steps(p, 12, 40), net, optimizer, end=lambda step: keep_at(p, "/w/log.py", "add", 14, net.width)).fit()


@scenario
def weights_converted_one_a_step(p):
    """Each step another weight is made anew with its size, on another line."""
    loop = Loop(p, p.random.randint(10, 20))
    net = loop.net = Net(p, 30, 64 * KB)

    def convert(step):
        with p.call(RELOADER, "convert", 21):
            p.replaces_here()
            made = p.new(net.weights[2 * step].requested, "clone", is_a="weight|temporary")
            p.at(23).drop(net.weights[2 * step])
            net.weights[2 * step] = made
    loop.at["between"] = convert
    loop.run()


@scenario
def queue_filled_before_the_history(p):
    """Replayed samples: the newest are kept; as many as there are were made before."""
    loop = Loop(p, some_steps(p, 30, 60))
    queue, begin = [], []

    def remember(step):
        with p.call("/w/replay.py", "push", 16):
            queue.append(p.new(40 * KB, "clone"))
            p.replaces_here()
            if len(queue) > loop.steps + 20:
                p.drop(queue.pop(0))
    loop.at["end"] = remember
    with p.call("/w/train.py", "<module>", 99), p.call("/w/train.py", "main", 80):
        loop.make()
        for step in range(loop.steps + 20):
            p.at(82)
            remember(step)
        begin = len(p.pool.entries)
        p.at(84)
        loop.fit()
    p.cut(begin)


@scenario
def buckets_rebuilt(p):
    """Gradients are gathered in buckets, made anew when the order is known, or now and then."""
    loop = Loop(p, some_steps(p, 12, 60))
    every = p.random.choice((0, 0, 7))
    sizes = [p.random.choice((128, 256, 512)) * KB for _ in range(p.random.randint(3, 8))]
    buckets = []

    def rebuild(step):
        if step == 0 or (every and step % every == 1):
            for i, size in enumerate(sizes):
                with p.call("/w/ddp.py", "_rebuild_buckets", 205):
                    p.replaces_here()
                    p.drop(buckets[i])
                    buckets[i] = p.new(size, "empty", is_a="gradient|temporary|communication")
    loop.at["end"] = rebuild
    with p.call("/w/train.py", "<module>", 99), p.call("/w/train.py", "main", 80):
        loop.make()
        with p.at(82).call("/w/ddp.py", "__init__", 90):
            buckets += [p.new(size, "empty", is_a="gradient|temporary|communication") for size in sizes]
        p.at(84)
        loop.fit()


@scenario
def unfreezing(p):
    """Layers learn one after the other, until the last at 60 % of the run: each then has gradients and state."""
    layers = p.random.choice((6, 12))
    net, steps = Net(p, layers, p.random.choice((64, 128)) * KB), p.random.choice((30, 60, 90))
    every, kind = max(1, int(0.6 * steps) // layers), p.random.choice(("momentum", "fused", "adam"))
    has_line, state, grads = p.random.random() < 0.5, {}, {}  # a backward pass may show no line of the program

    def train(step):
        learns = net.weights[-2 * min(layers, 1 + step // every):]
        with p.call("/w/train.py", "train_step", 58):
            batch = p.at(58).new(net.width / 4, "to")
            p.at(60)
            saved = net.forward()
            loss = p.at(61).new(4, "cross_entropy")
            p.at(63)
            if has_line:
                held, net.weights, net.grads = net.weights, [], []
                net.backward(saved)
                net.weights = held
            else:
                for tensor in reversed(saved):
                    p.drop_in_autograd(p.new_in_autograd(tensor.requested, "Mm"), tensor)
            for weight in learns:
                if weight not in grads:
                    grads[weight] = p.new_in_autograd(weight.requested, "Addmm", is_a="gradient")
            p.at(66)
            p.core()
            with p.call(OPTIMIZER, "wrapper", 493), p.call(ADAM, "step", 223):
                for weight in learns:
                    if weight not in state:
                        with p.call(ADAM, "_init_group", 174):
                            state[weight] = [p.at(174).new(weight.requested, "zeros_like", is_a="optimizer state")
                                             for _ in range(1 if kind == "momentum" else 2)]
                if kind == "adam":
                    p.drop(*[p.at(446).new(weight.requested, "_foreach_sqrt", is_a="temporary") for weight in learns])
            p.at(68).drop(batch, loss)
    with p.call("/w/train.py", "<module>", 99), p.call("/w/train.py", "main", 30):
        net.build()
        for step in range(steps):
            p.begin_step()
            p.at(40)
            train(step)
        p.end_steps()


@scenario
def curriculum(p):
    """Sequences become longer up to 60 % of the run, and what was made for the shorter ones is made anew."""
    loop = Loop(p, some_steps(p, 30, 90))
    stages, masks = p.random.choice((3, 5, 8)), []

    def stage_of(step):
        return min(stages, int(step * stages / (0.6 * loop.steps)))
    loop.scale = lambda step: 1 + stage_of(step) / 2

    def mask(step):
        if len(masks) == 0 or masks[-1][0] != stage_of(step):
            with p.call("/w/mask.py", "make", 12):
                made = p.new((1 + stage_of(step)) * 64 * KB, "tril")
                if masks:
                    p.drop(masks[-1][1])
                masks.append((stage_of(step), made))
    loop.at["after_forward"] = mask
    loop.run()


# ---- Adapters -------------------------------------------------------------------------------------------------------


def adapters(p, capacity):
    """Requests, each with an adapter that may have to be loaded first."""
    net, requests = Net(p, p.random.choice((6, 8))), p.random.randint(60, 140)
    count = int(requests * p.random.uniform(0.35, 0.5)) if capacity is None else 3 * capacity
    size, held = p.random.choice((16, 32)) * KB, {}
    wanted = list(range(count)) if capacity is None else []
    with p.call("/w/serve.py", "<module>", 99), p.call("/w/serve.py", "handle", 80):
        net.build()
        for request in range(requests):
            p.begin_step()
            key = wanted[request * count // requests] if wanted else p.random.randrange(count)
            if key not in held:
                with p.at(82).call("/w/lora.py", "load_adapter", 25):
                    if capacity is None:
                        p.leaks_here()
                    held[key] = [p.new(size, "to", is_a="weight|temporary|activation") for _ in range(net.layers)]
                    if capacity is not None and len(held) > capacity:
                        p.at(29).drop(*held.pop(next(iter(held))))
            p.core()
            with p.at(84).call("/w/serve.py", "infer", 60):
                p.drop(*net.forward(1, grad=False))
        p.end_steps()
    p.is_steps_open = True


@scenario
def adapters_never_unloaded(p):
    adapters(p, None)


@scenario
def adapters_of_which_the_newest_stay(p):
    adapters(p, p.random.randint(4, 8))


# ---- Held by mistake ------------------------------------------------------------------------------------------------


@scenario
def leak_in_evaluation_alone(p):
    """Every so many steps some batches are looked at, and of each the scores stay."""
    loop = Loop(p, some_steps(p, 60, 100))
    every, batches = p.random.choice((5, 8)), p.random.choice((2, 4))

    def evaluate(step):
        if step % every == every - 1:
            with p.call("/w/eval.py", "evaluate", 20):
                for _ in range(batches):
                    batch = p.at(22).new(96 * KB, "to")
                    out = p.at(24) and loop.net.forward(1, grad=False)
                    p.at(26).leaks_here()
                    p.new(24 * KB, "softmax")
                    p.drop(batch, *out)
    loop.at["between"] = evaluate
    loop.run()


@scenario
def leak_of_a_side_stream(p):
    """Copies to the host by a stream of their own, whose sources are kept."""
    def copy(step):
        with p.call("/w/offload.py", "copy_out", 31), p.pool.on_stream(0x7E0):
            staging = p.new(256 * KB, "empty")
            p.at(33).leaks_here()
            p.new(48 * KB, "clone")
            p.at(35).drop(staging)
    leaking_loop(p, some_steps(p), copy)


def failing(p, keeps):
    """Every so many steps a forward pass fails in its middle; the exception holds what was made until then."""
    loop = Loop(p, some_steps(p, 40, 80))
    every, held = p.random.choice((3, 4, 5)), []

    def attempt(step):
        if step % every:
            return
        with p.call("/w/retry.py", "attempt", 18):
            made = []
            with p.module(loop.net.file, 30):
                made.append(p.at(31).new(loop.net.width / 2, "embedding", is_a="activation|temporary"))
                for layer in range(loop.net.layers // 2 + 1):
                    p.at(33)
                    loop.net.made = "activation|temporary"
                    loop.net.block(1, layer, made)
            if held and not keeps:
                p.at(24).drop(*held.pop())
            held.append(made)
    loop.at["between"] = attempt
    loop.run()
    if keeps:
        p.leaks += [frozenset(("model.py:31 forward",)), frozenset(("linear.py:125 forward", "block.py:12 forward")),
                    frozenset(("block.py:15 forward",)), frozenset(("block.py:17 forward",))]


@scenario
def exceptions_that_hold_activations(p):
    failing(p, True)


@scenario
def last_exception_holds_activations(p):
    failing(p, False)
