# SPDX-License-Identifier: Apache-2.0
"""Programs as well-known frameworks shape them: many frames between the program's line and the allocation, loops that
are not the program's, a backward pass within an optimizer's step, threads that load, code that a compiler wrote.
"""
import contextlib

from parts import AUTOGRAD, KB, OPTIMIZER, TENSOR
from program import SITE_PACKAGES
from scenarios import scenario, some_steps

CONTEXT = SITE_PACKAGES + "torch/utils/_contextlib.py"
CHECKPOINT = SITE_PACKAGES + "torch/utils/checkpoint.py"
FUNCTION = SITE_PACKAGES + "torch/autograd/function.py"
ADAMW = SITE_PACKAGES + "torch/optim/adamw.py"
SCHEDULER = SITE_PACKAGES + "torch/optim/lr_scheduler.py"
MODELING = SITE_PACKAGES + "transformers/models/llama/modeling_llama.py"
GENERATION = SITE_PACKAGES + "transformers/generation/utils.py"
TRAINER = SITE_PACKAGES + "transformers/trainer.py"
DYNAMO = SITE_PACKAGES + "torch/_dynamo/eval_frame.py"
RUNTIME = SITE_PACKAGES + "torch/_functorch/_aot_autograd/runtime_wrappers.py"


@contextlib.contextmanager
def calls(p, *places):
    """Calls within each other, outermost first: (file, function, line)."""
    with contextlib.ExitStack() as stack:
        for place in places:
            stack.enter_context(p.call(*place))
        yield p


@contextlib.contextmanager
def thread(p, *places):
    """Another thread: nothing of the stack that is there lies below it."""
    held, p.calls = p.calls, []
    with calls(p, *places):
        yield p
    p.calls = held


class Llama:
    """A decoder as a library has it: modules within modules, one file, many lines."""

    def __init__(self, p, layers=None, hidden=None):
        self.p = p
        self.layers = layers or p.random.randint(2, 8)
        self.hidden = hidden or p.random.choice((32, 64, 160)) * KB
        self.weights, self.grads = [], {}
        self.around = lambda layer: contextlib.nullcontext()  # what a framework wraps a layer in
        self.is_checkpointed = False
        self.made = "activation|temporary"  # what a forward makes

    def load(self, line):
        p = self.p
        with p.at(line).call(SITE_PACKAGES + "transformers/modeling_utils.py", "from_pretrained", 4400):
            with p.call(SITE_PACKAGES + "torch/nn/modules/module.py", "_apply", 930):
                self.weights = [p.new(self.hidden * (1 + i % 3), "to", is_a="weight") for i in range(4 * self.layers + 2)]
        return self

    def mlp(self, scale, out):
        p = self.p
        with p.at(320).module(MODELING, 180):
            for line, name in ((180, "linear"), (181, "silu"), (182, "linear"), (183, "mul")):
                out.append(p.at(line).new(self.hidden * scale * 2, name, is_a=self.made))
            out.append(p.at(184).new(self.hidden * scale, "linear", is_a=self.made))

    def layer(self, scale):
        p, out = self.p, []
        with p.module(MODELING, 300):
            with p.at(302).module(MODELING, 70):
                out.append(p.new(self.hidden * scale, "pow", is_a=self.made))
                out.append(p.at(72).new(self.hidden * scale / 32, "rsqrt", is_a=self.made))
            with p.at(306).module(MODELING, 240):
                for line in (241, 242, 243):
                    out.append(p.at(line).new(self.hidden * scale, "linear", is_a=self.made))
                work = p.at(248).new(self.hidden * scale, "cat", is_a="temporary")
                with p.at(255).call(SITE_PACKAGES + "transformers/integrations/sdpa_attention.py",
                                    "sdpa_attention_forward", 54):
                    out.append(p.new(self.hidden * scale, "scaled_dot_product_attention", is_a=self.made))
                p.drop(work)
            self.mlp(scale, out)
        return out

    def forward(self, scale=1, grad=True):
        """A list of what each layer saved; without gradients the logits alone are left."""
        p, kept = self.p, []
        self.made = "activation" if grad and not self.is_checkpointed else "activation|temporary"
        with p.module(MODELING, 800), p.at(803).module(MODELING, 520):
            kept.append([p.new(self.hidden * scale, "embedding", is_a=self.made)])
            for layer in range(self.layers):
                p.at(545)
                with self.around(layer):
                    out = self.layer(scale)
                if not grad or self.is_checkpointed:
                    p.drop(*out[:-1])
                    out = out[-1:]
                if not grad:
                    p.drop(*kept.pop())
                kept.append(out)
        with p.module(MODELING, 820):
            logits = p.at(821).new(self.hidden * scale * 5, "linear", is_a=self.made)
        if not grad:
            p.drop(*kept.pop())
            return [logits]
        kept.append([logits, p.new(4, "cross_entropy", is_a=self.made)])
        return kept

    def recompute(self, kept, scale):
        """A layer's forward again, in autograd's thread; then backward through it, called from Python there."""
        p = self.p
        with thread(p, (FUNCTION, "apply", 306), (CHECKPOINT, "backward", 313)):
            with p.call(TENSOR.replace("_tensor", "utils/checkpoint"), "inner", 290):
                out = self.layer(scale)
            with p.at(320).call(AUTOGRAD, "backward", 347), p.call(AUTOGRAD, "_make_grads", 220):
                flow = p.new(512, "ones_like", is_a="temporary|gradient")
        return kept[:-1] + out[:-1] + [flow] + kept[-1:] + out[-1:]

    def backward(self, kept, scale=1, hook=None):
        p = self.p
        with calls(p, (TENSOR, "backward", 648), (AUTOGRAD, "backward", 353), (AUTOGRAD, "_make_grads", 220)):
            flow = p.new(4, "ones_like", is_a="temporary|gradient")
        for number, saved in enumerate(reversed(kept)):
            if self.is_checkpointed and len(saved) == 1 and 0 < number < len(kept) - 1:
                saved = self.recompute(saved, scale)
            for i, tensor in enumerate(reversed(saved)):
                following = p.new_in_autograd(tensor.requested, ("Mm", "Mul", "Softmax")[i % 3])
                p.drop_in_autograd(flow, tensor)
                flow = following
            for index in [i for i in range(len(self.weights)) if i % len(kept) == number]:
                grad = p.new_in_autograd(self.weights[index].requested, "Mm")
                if hook is not None:
                    hook(index, p.known_as(grad, "gradient|communication|temporary"))
                elif index in self.grads:
                    p.drop_in_autograd(grad)
                else:
                    self.grads[index] = p.known_as(grad, "gradient")
        p.drop_in_autograd(flow)

    def zero_grad(self):
        with self.p.call(SITE_PACKAGES + "torch/nn/modules/module.py", "zero_grad", 2900):
            self.p.drop(*self.grads.values())
        self.grads = {}


class AdamW:
    """Fused or for-each: the one allocates nothing once its state is there."""

    def __init__(self, p, model, kind=None):
        self.p, self.model, self.state = p, model, []
        self.kind = kind or p.random.choice(("foreach", "fused"))

    def step(self):
        p, weights = self.p, self.model.weights
        with calls(p, (SCHEDULER, "wrapper", 140), (OPTIMIZER, "wrapper", 493), (ADAMW, "step", 220)):
            if not self.state:
                with p.call(ADAMW, "_init_group", 150):
                    self.state = [p.at(line).new(weight.requested, "zeros_like", is_a="optimizer state") for weight in weights
                                  for line in (150, 154)]
            if self.kind == "foreach":
                with p.at(243).call(ADAMW, "adamw", 900), p.call(ADAMW, "_multi_tensor_adamw", 600):
                    p.drop(*[p.new(weight.requested, "_foreach_sqrt", is_a="temporary") for weight in weights])

    def clip(self):
        p = self.p
        with p.call(SITE_PACKAGES + "torch/nn/utils/clip_grad.py", "clip_grad_norm_", 60):
            norms = [p.new(4, "_foreach_norm") for _ in self.model.weights]
            total = p.at(70).new(4, "stack")
            scale = p.at(72).new(4, "clamp")
            p.drop(total, scale, *norms)


# ---- A trainer of a library -----------------------------------------------------------------------------------------


def library_trainer(p, steps, accumulate=1, on_step=None, every=10, evaluates=True):
    """Batches of a step are fetched first; losses are summed up, logged now and then; evaluations gather logits."""
    with calls(p, ("/job/run_clm.py", "<module>", 700), ("/job/run_clm.py", "main", 620)):
        model = Llama(p).load(430)
        optimizer = AdamW(p, model)
        with p.at(640).call(TRAINER, "train", 2200), p.call(TRAINER, "_inner_training_loop", 2500):
            total = p.at(2380).new(4, "tensor")
            for step in range(steps):
                p.begin_step()
                with p.at(2490).call(TRAINER, "get_batch_samples", 5200):
                    batches = [p.new(16 * KB, "to") for _ in range(accumulate)]
                for batch in batches:
                    with p.at(2510).call(TRAINER, "training_step", 3700):
                        with p.at(3709).call(TRAINER, "compute_loss", 3800):
                            kept = model.forward()
                        with p.at(3740).call(SITE_PACKAGES + "accelerate/accelerator.py", "backward", 2300):
                            loss = p.new(4, "div")
                            model.backward(kept)
                    following = p.at(2520).new(4, "add")
                    p.drop(total, batch, loss)
                    total = following
                p.at(2540)
                p.core()
                optimizer.clip()
                with p.at(2560).call(SITE_PACKAGES + "accelerate/optimizer.py", "step", 170):
                    optimizer.step()
                p.at(2570)
                model.zero_grad()
                if on_step is not None:
                    with p.at(2580).call(SITE_PACKAGES + "transformers/trainer_callback.py", "call_event", 519):
                        on_step(step)
                if evaluates and step % every == every - 1:
                    library_evaluation(p, model)
            p.end_steps()


def library_evaluation(p, model):
    with calls(p.at(2590), (TRAINER, "_maybe_log_save_evaluate", 3000), (TRAINER, "evaluate", 4100),
               (TRAINER, "evaluation_loop", 4300)):
        gathered = None
        for number in range(4):
            with p.at(4310).call(TRAINER, "prediction_step", 4600):
                logits = model.forward(1, grad=False)
            with p.at(4330).call(SITE_PACKAGES + "transformers/trainer_pt_utils.py", "nested_concat", 110):
                larger = p.new((number + 1) * 32 * KB, "cat")
            p.drop(gathered, *logits)
            gathered = larger
        p.at(4360).drop(gathered)


@scenario
def trainer_of_a_library(p):
    library_trainer(p, some_steps(p), every=p.random.choice((5, 10, 25)))


@scenario
def trainer_of_a_library_accumulating(p):
    library_trainer(p, some_steps(p, 8, 24), p.random.choice((2, 4)), evaluates=False)


@scenario
def trainer_of_a_library_that_leaks(p):
    def on_step(step):
        with p.call("/job/callbacks.py", "on_step_end", 33):
            p.leaks_here()
            p.new(24 * KB, "detach")
    library_trainer(p, some_steps(p, 16, 60), on_step=on_step)


# ---- Hooks: forward and backward within the optimizer's step --------------------------------------------------------


LIGHTNING = SITE_PACKAGES + "lightning/pytorch/"


def hooked(p, steps, on_step=None, validate=0):
    model = Llama(p)
    optimizer = AdamW(p, model)
    with calls(p, ("/job/fit.py", "<module>", 40), (LIGHTNING + "trainer/trainer.py", "fit", 560),
               (LIGHTNING + "trainer/trainer.py", "_run_stage", 1050), (LIGHTNING + "loops/fit_loop.py", "run", 216)):
        model.load(205)
        for step in range(steps):
            p.begin_step()
            with calls(p.at(455), (LIGHTNING + "loops/training_epoch_loop.py", "advance", 270)):
                batch = p.at(250).new(40 * KB, "to")
                with calls(p.at(320), (LIGHTNING + "loops/optimization/automatic.py", "_optimizer_step", 270),
                           (LIGHTNING + "core/module.py", "optimizer_step", 1300),
                           (LIGHTNING + "core/optimizer.py", "step", 154), (SCHEDULER, "wrapper", 140),
                           (OPTIMIZER, "wrapper", 493), (ADAMW, "step", 210),
                           (LIGHTNING + "loops/optimization/automatic.py", "closure", 129)):
                    model.zero_grad()
                    with p.at(131).call("/job/module.py", "training_step", 20):
                        kept = model.forward()
                        mean = p.at(22).new(4, "mean")
                    with p.at(139).call(LIGHTNING + "plugins/precision/precision.py", "backward", 72):
                        model.backward(kept)
                p.core()
                optimizer.step()
                with p.at(330).call("/job/module.py", "on_train_batch_end", 40):
                    if on_step is not None:
                        on_step(step)
                p.drop(batch, mean)
            if validate and step % validate == validate - 1:
                with calls(p.at(460), (LIGHTNING + "loops/evaluation_loop.py", "run", 150),
                           ("/job/module.py", "validation_step", 50)):
                    for _ in range(5):
                        p.drop(*model.forward(1, grad=False))
        p.end_steps()


@scenario
def hooks_within_the_optimizer(p):
    hooked(p, some_steps(p))


@scenario
def hooks_with_validation(p):
    hooked(p, some_steps(p, 16, 60), validate=p.random.choice((4, 8)))


@scenario
def hooks_that_leak(p):
    def on_step(step):
        p.leaks_here()
        p.new(2 * KB, "detach")
    hooked(p, some_steps(p), on_step)


# ---- Sampling -------------------------------------------------------------------------------------------------------


def diffusion(p, keeps):
    """Images; each of many denoising steps within one call, then a decoder with much larger blocks."""
    model, images = Llama(p, 3), p.random.randint(10, 24)
    times = p.random.choice((10, 20))
    pipe = SITE_PACKAGES + "diffusers/pipelines/stable_diffusion/pipeline_stable_diffusion.py"
    with calls(p, ("/job/sample.py", "<module>", 30), ("/job/sample.py", "main", 12)):
        model.load(8)
        for _ in range(images):
            p.begin_step()
            with p.at(14).call(CONTEXT, "decorate_context", 116), p.call(pipe, "__call__", 900):
                embeds = p.at(920).new(160 * KB, "cat")
                latents = p.at(950).new(64 * KB, "randn")
                for _ in range(times):
                    double = p.at(1010).new(128 * KB, "cat")
                    noise = p.at(1020) and model.forward(1, grad=False)
                    with p.at(1040).call(SITE_PACKAGES + "diffusers/schedulers/scheduling_ddim.py", "step", 420):
                        work = p.new(64 * KB, "sqrt")
                        following = p.at(430).new(64 * KB, "add")
                    p.drop(work, double, latents, *noise)
                    latents = following
                with p.at(1060).call(SITE_PACKAGES + "diffusers/models/autoencoder_kl.py", "decode", 300):
                    work = p.new(3000 * KB, "conv2d")
                    image = p.at(310).new(768 * KB, "conv2d")
                p.drop(work, latents, embeds)
            if keeps:
                p.at(16).leaks_here("autoencoder_kl.py:310 decode")
            else:
                p.at(16).drop(image)
        p.end_steps()
    p.is_steps_open = True
    if keeps:
        p.leaks = [frozenset(("autoencoder_kl.py:310 decode", "sample.py:14 main"))]


@scenario
def diffusion_sampling(p):
    diffusion(p, False)


@scenario
def diffusion_images_kept(p):
    diffusion(p, True)


def generate(p, requests, tokens_of):
    """Tokens one by one; keys and values of each layer are joined anew for each of them, and given back at the end."""
    model = Llama(p, p.random.randint(2, 4))
    with calls(p, ("/job/chat.py", "<module>", 30), ("/job/chat.py", "main", 12)):
        model.load(8)
        for _ in range(requests):
            p.begin_step()
            with calls(p.at(14), (CONTEXT, "decorate_context", 116), (GENERATION, "generate", 2400),
                       (GENERATION, "_sample", 3300)):
                ids, cache = p.at(3200).new(4 * KB, "cat"), []
                for token in range(tokens_of()):
                    with p.at(3310).module(MODELING, 800):
                        out = []
                        for layer in range(model.layers):
                            with p.at(545).call(SITE_PACKAGES + "transformers/cache_utils.py", "update", 120):
                                larger = p.new((token + 8) * 2 * KB, "cat", is_a="KV cache")
                            if token:
                                p.drop(cache[layer])
                                cache[layer] = larger
                            else:
                                cache.append(larger)
                            out += model.layer(1 / 8)
                            p.drop(*out[:-1])
                            del out[:-1]
                        logits = p.at(821).new(64 * KB, "linear", is_a="activation|temporary")
                        p.drop(*out)
                    following = p.at(3390).new(4 * KB + token * 8, "cat")
                    p.drop(ids, logits)
                    ids = following
                p.drop(*cache)
            p.at(16).drop(ids)
        p.end_steps()
    p.is_steps_open = True


@scenario
def one_generate(p):
    tokens = p.random.choice((20, 60, 150))
    generate(p, 1, lambda: tokens)
    p.steps, p.allows_steps = None, tokens


@scenario
def generate_of_many(p):
    generate(p, p.random.randint(10, 30), lambda: p.random.randint(5, 40))


# ---- Two loops in one iteration -------------------------------------------------------------------------------------


def rollouts(p, keeps):
    """A rollout without gradients into a buffer, then some epochs over it."""
    iterations, length, epochs = some_steps(p, 10, 24), p.random.choice((8, 16)), p.random.choice((2, 4))
    model = Llama(p, 2, 32 * KB)
    optimizer = AdamW(p, model)
    with calls(p, ("/job/ppo.py", "<module>", 90), ("/job/ppo.py", "learn", 40)):
        model.load(20)
        for _ in range(iterations):
            p.begin_step()
            with p.at(44).call("/job/rollout.py", "collect", 15):
                buffer = []
                for _ in range(length):
                    logits = p.at(18) and model.forward(1 / 2, grad=False)
                    action = p.at(20).new(512, "multinomial")
                    buffer.append(p.at(22).new(20 * KB, "clone"))
                    p.drop(action, *logits)
            with p.at(47).call("/job/ppo.py", "update", 60):
                for _ in range(epochs):
                    model.zero_grad()
                    batch = p.at(62).new(20 * KB * length, "stack")
                    p.at(64)
                    kept = model.forward()
                    p.at(66)
                    model.backward(kept)
                    p.at(68)
                    p.core()
                    optimizer.step()
                    p.at(70).drop(batch)
            if keeps:
                p.leaks_here()
            p.at(50).drop(*buffer[keeps:])
        p.end_steps()
    p.is_steps_open = True  # an update is one, too: all or none of them
    if keeps:
        p.leaks = [frozenset(("rollout.py:22 collect",))]


@scenario
def rollout_and_update(p):
    rollouts(p, 0)


@scenario
def rollout_that_leaks(p):
    rollouts(p, 3)


@scenario
def critic_more_often(p):
    """Five steps of one model for each of the other."""
    steps, often = some_steps(p, 8, 24), p.random.choice((3, 5))
    one, other = Llama(p, 2, 32 * KB), Llama(p, 3, 32 * KB)
    kind = p.random.choice(("foreach", "fused"))
    with calls(p, ("/job/wgan.py", "<module>", 90), ("/job/wgan.py", "train", 10)):
        one.load(5), other.load(6)
        critic, actor = AdamW(p, one, kind), AdamW(p, other, kind)
        for _ in range(steps):
            p.begin_step()
            for _ in range(often):
                fake = p.at(14) and other.forward(1 / 2, grad=False)
                kept = p.at(16) and one.forward()
                p.at(18)
                one.backward(kept)
                p.at(19)
                critic.step()
                p.at(20)
                one.zero_grad()
                p.drop(*fake)
            p.core()
            kept = p.at(24) and other.forward() + one.forward()
            p.at(26)
            other.backward(kept)
            p.at(27)
            actor.step()
            p.at(28)
            other.zero_grad()
        p.end_steps()


# ---- Sharded optimizers, buckets ------------------------------------------------------------------------------------


@scenario
def sharded(p):
    """Parameters are gathered before each layer and let go after it; gradients go into buckets that are sent when full."""
    sharding(p)


@scenario
def sharded_that_leaks(p):
    def on_step(step):
        with p.call("/job/monitor.py", "write_events", 61):
            p.leaks_here()
            p.new(512, "clone")
    sharding(p, on_step)


def sharding(p, on_step=None):
    zero = SITE_PACKAGES + "deepspeed/runtime/zero/"
    model, steps = Llama(p), some_steps(p)
    bucket = []

    @contextlib.contextmanager
    def around(layer):
        with calls(p, (zero + "parameter_offload.py", "_pre_forward_module_hook", 400),
                   (zero + "partitioned_param_coordinator.py", "fetch_sub_module", 290)):
            gathered = p.new(model.hidden * 6, "empty", is_a="weight|communication|temporary")
        yield
        with p.call(zero + "parameter_offload.py", "_post_forward_module_hook", 430):
            p.drop(gathered)

    def flush():
        out = p.at(1250).new(sum(grad.requested for grad in bucket) / 4, "empty", is_a="communication|temporary|gradient")
        p.drop(*bucket)
        p.drop(out)
        bucket.clear()

    def hook(index, grad):
        with thread(p, (zero + "stage3.py", "reduce_partition_and_remove_grads", 1170)):
            bucket.append(grad)
            if sum(held.requested for held in bucket) > model.hidden * 9:
                flush()
    model.around = around
    with calls(p, ("/job/pretrain.py", "<module>", 120), ("/job/pretrain.py", "main", 70)):
        model.load(30)
        state = [p.at(34).new(weight.requested / 2, "zeros", is_a="optimizer state") for weight in model.weights]
        for step in range(steps):
            p.begin_step()
            batch = p.at(72).new(24 * KB, "to")
            with p.at(74).module(SITE_PACKAGES + "deepspeed/runtime/engine.py", 1900):
                kept = model.forward()
            with p.at(76).call(SITE_PACKAGES + "deepspeed/runtime/engine.py", "backward", 2050):
                model.backward(kept, hook=hook)
                with p.call(zero + "stage3.py", "independent_gradient_partition_epilogue", 1100):
                    flush()
            p.core()
            with calls(p.at(78), (SITE_PACKAGES + "deepspeed/runtime/engine.py", "step", 2200),
                       (zero + "stage3.py", "step", 2100), (SITE_PACKAGES + "deepspeed/ops/adam/fused_adam.py", "step",
                                                            160)):
                for part in state[:2]:
                    p.drop(p.new(part.requested, "float", is_a="temporary"))
            if on_step is not None:
                p.at(80)
                on_step(step)
            p.at(82).drop(batch)
        p.end_steps()


# ---- Recomputing, compiled code, loaders ----------------------------------------------------------------------------


@scenario
def recomputed_in_autograd(p):
    """Checkpointed layers as the library does it: forward and a backward of its own, in autograd's thread."""
    model = Llama(p)
    model.is_checkpointed = True
    optimizer = AdamW(p, model)
    with calls(p, ("/job/train.py", "<module>", 90), ("/job/train.py", "main", 40)):
        model.load(20)
        for _ in range(some_steps(p)):
            p.begin_step()
            batch = p.at(42).new(24 * KB, "to")
            kept = p.at(43) and model.forward()
            p.at(44)
            model.backward(kept)
            p.core()
            p.at(45)
            optimizer.step()
            p.at(46)
            model.zero_grad()
            p.at(47).drop(batch)
        p.end_steps()


def compiled(p, steps, on_step=None):
    """Two generated files; buffers on their lines; few frames between."""
    random = p.random
    sizes = [random.choice((16, 64, 256)) * KB for _ in range(random.randint(8, 30))]
    forward, backward = "/tmp/torchinductor_u/qk/cqkx7.py", "/tmp/torchinductor_u/zb/czbh2.py"
    with calls(p, ("/job/train.py", "<module>", 50)):
        weights = [p.at(10).new(size, "to", is_a="weight") for size in sizes]
        state, is_fused = [], random.random() < 0.5
        for step in range(steps):
            p.begin_step()
            batch = p.at(22).new(24 * KB, "to")
            with calls(p.at(24), (DYNAMO, "_fn", 574), ("/job/model.py", "run", 31), (RUNTIME, "forward", 1580),
                       (forward, "call", 100)):
                saved = [p.at(100 + 7 * i).new(size, "empty_strided_cuda", is_a="activation" if i != 1 else "temporary")
                         for i, size in enumerate(sizes)]
                p.drop(saved.pop(1))
            with calls(p.at(26), (TENSOR, "backward", 648), (AUTOGRAD, "backward", 353),
                       (AUTOGRAD, "_make_grads", 220)):
                flow = p.new(4, "ones_like")
            with thread(p, (FUNCTION, "apply", 306), (RUNTIME, "backward", 1950), (backward, "call", 60)):
                grads = []
                for i, size in enumerate(sizes):
                    grads.append(p.at(60 + 9 * i).new(size, "empty_strided_cuda", is_a="gradient"))
                    if saved:
                        p.drop(saved.pop())
                p.drop(flow)
            p.core()
            with calls(p.at(27), (OPTIMIZER, "wrapper", 493), (ADAMW, "step", 220)):
                if not state:
                    state = [p.at(150).new(weight.requested, "zeros_like", is_a="optimizer state")
                             for weight in weights + weights]
                if not is_fused:
                    p.drop(*[p.at(600).new(weight.requested, "_foreach_sqrt", is_a="temporary") for weight in weights])
            p.at(28).drop(batch, *grads)
            if on_step is not None:
                p.at(30)
                on_step(step)
        p.end_steps()


@scenario
def compiled_code(p):
    compiled(p, some_steps(p))


@scenario
def compiled_code_that_leaks(p):
    def on_step(step):
        p.leaks_here()
        p.new(4, "detach")
    compiled(p, some_steps(p), on_step)


@scenario
def loader_in_a_thread(p):
    """A thread moves batches ahead, as it likes; the loop takes them."""
    depth, queue = p.random.randint(2, 8), []
    model = Llama(p, 2)
    optimizer = AdamW(p, model)

    def load():
        while len(queue) < depth and (not queue or p.random.random() < 0.7):
            with thread(p, ("/usr/lib/python3.11/threading.py", "_bootstrap_inner", 1038),
                        ("/usr/lib/python3.11/threading.py", "run", 975), ("/job/prefetch.py", "preload", 28)):
                queue.append([p.at(line).new(size * KB, "to") for line, size in ((28, 96), (29, 8), (30, 8))])
    with calls(p, ("/job/train.py", "<module>", 90), ("/job/train.py", "main", 40)):
        model.load(20)
        for _ in range(some_steps(p)):
            p.begin_step()
            load()
            batch = queue.pop(0)
            kept = p.at(43) and model.forward()
            load()
            p.at(44)
            model.backward(kept)
            p.core()
            p.at(45)
            optimizer.step()
            p.at(46)
            model.zero_grad()
            p.at(47).drop(*batch)
        p.end_steps()


@scenario
def trials(p):
    """A search: models are trained one after the other, and let go."""
    with calls(p, ("/job/search.py", "<module>", 60)):
        for _ in range(p.random.randint(3, 6)):
            with p.at(30).call("/job/search.py", "objective", 12):
                model = Llama(p, p.random.randint(2, 4)).load(13)
                optimizer = AdamW(p, model)
                for _ in range(p.random.randint(4, 12)):
                    p.begin_step()
                    kept = p.at(18) and model.forward()
                    p.at(19)
                    model.backward(kept)
                    p.core()
                    p.at(20)
                    optimizer.step()
                    p.at(21)
                    model.zero_grad()
                p.at(25).drop(*model.weights, *optimizer.state)
        p.end_steps()
    p.is_steps_open = True


@scenario
def notebook(p):
    """Cells: a loop on the top level of one, an evaluation in another, run some times."""
    model = Llama(p, 2)
    optimizer = AdamW(p, model)
    interactive = (SITE_PACKAGES + "IPython/core/interactiveshell.py", "run_code", 3577)
    with calls(p, interactive, ("/tmp/ipykernel_77/331.py", "<module>", 2)):
        model.load(2)
    with calls(p, interactive, ("/tmp/ipykernel_77/402.py", "<module>", 1)):
        for _ in range(some_steps(p)):
            p.begin_step()
            p.at(2)
            model.zero_grad()
            kept = p.at(3) and model.forward()
            p.at(4)
            model.backward(kept)
            p.core()
            p.at(5)
            optimizer.step()
        p.end_steps()
    for _ in range(3):
        with calls(p, interactive, ("/tmp/ipykernel_77/518.py", "<module>", 3)):
            p.drop(*model.forward(1, grad=False))
