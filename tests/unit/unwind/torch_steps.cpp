/* SPDX-License-Identifier: Apache-2.0
 *
 * A few steps of training on the processor, in a libtorch that was built without frame pointers. Its allocator is ours, so that each
 * allocation is looked at: convolutions, a backward pass, sorting, and what these call from threads of their own.
 */
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

namespace
{

void (*look)();

struct watched_allocator final : at::Allocator {
    at::DataPtr allocate(size_t bytes) const override
    {
        void *memory = c10::alloc_cpu(bytes);

        look();
        return {memory, memory, &c10::free_cpu, at::Device(at::kCPU)};
    }
    at::DeleterFnPtr raw_deleter() const override
    {
        return &c10::free_cpu;
    }
};

} // namespace

/* The sum of the losses, so that nothing of it is left out. */
extern "C" double torch_steps(void (*look_at_caller)(), int step_count)
{
    static watched_allocator watched;
    double sum = 0;

    look = look_at_caller;
    c10::SetCPUAllocator(&watched, 100);
    at::set_num_threads(2);
    at::manual_seed(1);
    auto first = at::randn({16, 3, 3, 3}).requires_grad_(), second = at::randn({32, 16, 3, 3}).requires_grad_();
    auto last = at::randn({10, 32}).requires_grad_(), images = at::randn({4, 3, 12, 12});
    for (int step = 0; step < step_count; step++) {
        auto hidden = at::relu(at::conv2d(images, first, {}, 1, 1));
        hidden = at::max_pool2d(at::relu(at::conv2d(hidden, second, {}, 1, 1)), 2);
        auto scores = at::matmul(hidden.mean({2, 3}), last.t());
        auto sorted = std::get<0>(at::einsum("bi,bj->ij", {scores, scores}).sort(1));
        auto loss = at::log_softmax(scores, 1).pow(2).sum() + at::cumsum(scores, 1).std() + sorted.sum() * 1e-6;

        loss.backward();
        sum += loss.item<double>();
        for (auto *weight : {&first, &second, &last})
            weight->mutable_grad() = at::Tensor();
    }
    return sum;
}
