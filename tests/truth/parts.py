# SPDX-License-Identifier: Apache-2.0
"""What programs are made of: a network, an optimizer, a training loop with places for what may go wrong in it."""
from program import SITE_PACKAGES

KB, MB = 1 << 10, 1 << 20
TENSOR = SITE_PACKAGES + "torch/_tensor.py"
AUTOGRAD = SITE_PACKAGES + "torch/autograd/__init__.py"
OPTIMIZER = SITE_PACKAGES + "torch/optim/optimizer.py"
ADAM = SITE_PACKAGES + "torch/optim/adam.py"
SGD = SITE_PACKAGES + "torch/optim/sgd.py"
LINEAR = SITE_PACKAGES + "torch/nn/modules/linear.py"


class Net:
    """Layers, each a module; where there are gradients, what forward saves is given back layer by layer in backward."""

    def __init__(self, p, layers=None, width=None, file="/w/model.py"):
        self.p, self.file = p, file
        self.layers = layers or p.random.randint(2, 6)
        self.width = width or p.random.choice((96, 128, 200, 256)) * KB
        self.weights, self.grads, self.extra_saved = [], [], []
        self.made = None  # what a forward makes

    def build(self, line=8):
        with self.p.call(self.file, "__init__", line):
            for layer in range(self.layers):
                with self.p.at(line + 2).call("/w/block.py", "__init__", 5):
                    self.weights.append(self.p.new(self.width, is_a="weight"))
                    self.weights.append(self.p.new(2 * KB, is_a="weight"))
        return self

    def block(self, scale, layer, saved):
        p = self.p
        with p.module("/w/block.py", 12):
            with p.module(LINEAR, 125):
                saved.append(p.new(self.width * scale, "linear", is_a=self.made))
            work = p.at(14).new(self.width * scale / 2, "matmul", is_a="temporary")
            saved.append(p.at(15).new(self.width * scale / 2, "softmax", is_a=self.made))
            p.drop(work)
            saved.append(p.at(17).new(self.width * scale, "dropout", is_a=self.made))

    def forward(self, scale=1, grad=True):
        """Returns what is alive then: with gradients all that was saved, without the output alone."""
        p, saved = self.p, []
        self.made = "activation" if grad else "activation|temporary"  # without gradients it is called either
        with p.module(self.file, 30):
            saved.append(p.new(self.width * scale / 2, "embedding", is_a=self.made))
            for layer in range(self.layers):
                had = len(saved)
                p.at(33)
                self.block(scale, layer, saved)
                if not grad:
                    p.drop(*saved[had - 1:-1])
                    del saved[had - 1:-1]
            saved.append(p.at(36).new(self.width * scale / 4, "linear", is_a=self.made))
            if not grad:
                p.drop(*saved[:-1])
                del saved[:-1]
        return saved

    def backward(self, saved, keep=()):
        """loss.backward(): the first gradient is made by the caller, all else in autograd's thread."""
        p = self.p
        with p.call(TENSOR, "backward", 626), p.call(AUTOGRAD, "backward", 340):
            with p.call(AUTOGRAD, "_make_grads", 220):
                flow = p.new(4, "ones_like", is_a="temporary|gradient")
        is_first = not self.grads
        for i, tensor in enumerate(reversed(saved)):
            following = p.new_in_autograd(tensor.requested, ("Mm", "Bmm", "Softmax")[i % 3])
            p.drop_in_autograd(flow)
            if i < len(self.weights):
                grad = p.new_in_autograd(self.weights[i].requested, "Addmm")
                if is_first:
                    self.grads.append(p.known_as(grad, "gradient"))
                else:
                    p.drop_in_autograd(grad)
            if tensor not in keep:
                p.drop_in_autograd(tensor)
            flow = following
        p.drop_in_autograd(flow)

    def zero_grad(self):
        with self.p.call(OPTIMIZER, "zero_grad", 900):
            self.p.drop(*self.grads)
        self.grads = []


class Optimizer:
    def __init__(self, p, net, kind=None):
        self.p, self.net = p, net
        self.kind = kind or p.random.choice(("adam", "adam", "momentum", "own"))
        self.state = []

    def step(self):
        p, is_first = self.p, not self.state
        file = {"adam": ADAM, "momentum": SGD, "own": "/w/optimizers.py"}[self.kind]
        with p.call(OPTIMIZER, "wrapper", 493), p.call(file, "step", 234):
            if is_first:
                with p.call(file, "_init_group", 174):
                    for weight in self.net.weights:
                        self.state.append(p.at(174).new(weight.requested, "zeros_like", is_a="optimizer state"))
                        if self.kind != "momentum":
                            self.state.append(p.at(178).new(weight.requested, "zeros_like", is_a="optimizer state"))
            if self.kind == "adam":
                with p.at(240).call(file, "_multi_tensor_adam", 446):
                    work = [p.new(weight.requested, "_foreach_sqrt", is_a="temporary") for weight in self.net.weights]
                    p.drop(*work)
            elif self.kind == "own":
                for weight in self.net.weights:
                    work = p.at(90).new(weight.requested, "mul", is_a="temporary")
                    more = p.at(92).new(weight.requested, "sqrt", is_a="temporary")
                    p.drop(work, more)


class Loop:
    """A training loop; what `at` holds by the name of a point is called there with the number of the step.

    Shapes: "inline" (all in one function, whose variables live until they are set again), "function" (a step is a call)
    and "trainer" (a class with hooks).
    """

    def __init__(self, p, steps, net=None, optimizer=None, shape=None, file="/w/train.py", **at):
        self.p, self.steps, self.at, self.file = p, steps, at, file
        self.net, self.optimizer = net, optimizer
        self.shape = shape or p.random.choice(("inline", "function", "trainer"))
        self.accumulate, self.scale, self.skips = 1, lambda step: 1, lambda step: False
        self.variables = {}

    def set(self, name, tensor):
        self.p.drop(self.variables.get(name))
        self.variables[name] = tensor

    def say(self, point, step):
        if point in self.at:
            self.at[point](step)

    def make(self):
        if self.net is None:
            self.net = Net(self.p)
        if not self.net.weights:
            self.p.at(10)
            self.net.build()
        if self.optimizer is None:
            self.optimizer = Optimizer(self.p, self.net)

    def one(self, step, first=20):
        """One iteration, on lines from `first` on."""
        p, net = self.p, self.net
        if self.accumulate == 1:
            p.at(first)
            net.zero_grad()
        for micro in range(self.accumulate):
            scale = self.scale(step)
            self.set("batch", p.at(first + 1).new(net.width * scale / 4, "to"))
            saved = self.forward_at(first + 3, scale)
            self.say("after_forward", step)
            self.set("loss", p.at(first + 5).new(4, "cross_entropy", is_a="activation"))
            p.at(first + 6)
            if "backward" in self.at:
                self.at["backward"](step, saved)
            else:
                net.backward(saved)
        p.at(first + 8)
        p.core()
        if not self.skips(step):
            self.optimizer.step()
        if self.accumulate > 1:
            p.at(first + 9)
            net.zero_grad()
        p.at(first + 11)
        self.say("end", step)

    def forward_at(self, line, scale):
        self.p.at(line)
        return self.net.forward(scale)

    def leave(self):
        for name in list(self.variables):
            self.set(name, None)

    def run(self):
        """From the program's first line to its last."""
        p = self.p
        with p.call(self.file, "<module>", 99), p.call(self.file, "main", 80):
            self.make()
            p.at(84)
            self.fit()

    def fit(self, function="train"):
        p = self.p
        with p.call(self.file if self.shape != "trainer" else "/w/trainer.py", function, 15):
            if self.shape == "trainer":
                with p.at(44).call("/w/trainer.py", "run_epoch", 60):
                    for step in range(self.steps):
                        p.begin_step()
                        with p.at(63).call("/w/trainer.py", "training_step", 70):
                            self.one(step, 70)
                        p.at(65)
                        self.say("between", step)
            for step in range(self.steps if self.shape != "trainer" else 0):
                p.begin_step()
                if self.shape == "function":
                    with p.at(17).call(self.file, "train_one_step", 30):
                        self.one(step, 30)
                        self.leave()
                else:
                    self.one(step)
                p.at(40)
                self.say("between", step)
            p.end_steps()
        self.leave()
