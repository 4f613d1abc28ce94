/* SPDX-License-Identifier: Apache-2.0
 *
 * own_pool in C++17, with npumem.hpp: a class that cuts what it hands out from segments of the device and keeps what it
 * gets back. A loop of training steps uses it, forgets one block a step, and prints what npumem should find.
 *
 *     c++ -std=c++17 -g -o own_pool own_pool.cpp $(pkg-config --cflags --libs npumem)
 *     npumem record -o run.zst -- ./own_pool
 *     npumem ingest --site-rules pool.rules run.zst
 *
 * Host memory stands for that of the device, so that it runs anywhere. With CANN, take_segment calls aclrtMalloc, which
 * npumem-record sees by itself: then there is no heap of the driver to tell of. Here npumem finds out by itself which
 * requests were hits: the first block in a segment is a miss.
 */
#include <npumem.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

class Pool
{
  public:
    struct Figures {
        std::size_t requests, hits, live_bytes, peak_bytes;
    };

    void *allocate(std::size_t bytes)
    {
        const std::size_t block_bytes = round_up(bytes);
        auto &idle = free_[block_bytes];
        void *address = nullptr;

        figures_.requests++;
        if (idle.empty()) {
            address = cut(block_bytes);
        } else {
            address = idle.back();
            idle.pop_back();
            figures_.hits++;
        }
        live_[address] = {bytes, block_bytes};
        figures_.live_bytes += bytes;
        figures_.peak_bytes = std::max(figures_.peak_bytes, figures_.live_bytes);

        npumem_alloc_options details = NPUMEM_ALLOC_DEFAULTS;
        details.block_bytes = block_bytes;
        heap_.alloc(address, bytes, details); // npumem: before anybody else learns the address
        return address;
    }

    void deallocate(void *address)
    {
        heap_.free(address); // npumem: before it can be handed out again
        const auto block = live_.find(address);
        figures_.live_bytes -= block->second.requested_bytes;
        free_[block->second.block_bytes].push_back(address);
        live_.erase(block);
    }

    const Figures &figures() const
    {
        return figures_;
    }

  private:
    struct Block {
        std::size_t requested_bytes, block_bytes;
    };

    static constexpr std::size_t segment_bytes = std::size_t{2} << 20;

    static std::size_t round_up(std::size_t bytes)
    {
        std::size_t block_bytes = 512;
        while (block_bytes < bytes)
            block_bytes *= 2;
        return block_bytes;
    }

    std::byte *take_segment()
    {
        segments_.push_back(std::make_unique<std::byte[]>(segment_bytes));
        driver_.alloc(segments_.back().get(), segment_bytes); // npumem: a segment came (not with aclrtMalloc)
        return segments_.back().get();
    }

    void *cut(std::size_t block_bytes)
    {
        if (cut_bytes_ + block_bytes > segment_bytes) {
            take_segment();
            cut_bytes_ = 0;
        } else {
            figures_.hits++;
        }
        cut_bytes_ += block_bytes;
        return segments_.back().get() + (cut_bytes_ - block_bytes);
    }

    npumem::heap driver_{"device memory", 0, NPUMEM_LEVEL_DRIVER}; // npumem: once for each heap of a process
    npumem::heap heap_{"my pool", 0};
    std::vector<std::unique_ptr<std::byte[]>> segments_;
    std::size_t cut_bytes_ = segment_bytes; // of the last segment
    std::map<std::size_t, std::vector<void *>> free_;
    std::unordered_map<void *, Block> live_;
    Figures figures_{};
};

constexpr int steps = 40, layers = 6;

static void *load_weight(Pool &pool, int layer)
{
    return pool.allocate(100000 + 1000 * static_cast<std::size_t>(layer));
}

/* The bug: nobody remembers the block. */
static void *forget_block(Pool &pool)
{
    return pool.allocate(3000);
}

static void run_step(Pool &pool, int number)
{
    std::vector<void *> activations;

    npumem::scoped_step step(number); // npumem: so that growth is told from warming up
    {
        npumem::scoped_category category("activation"); // npumem: what the memory is for, to the end of the block
        for (int layer = 0; layer < layers; layer++)
            activations.push_back(pool.allocate(20000 + 30000 * static_cast<std::size_t>(layer)));
    }
    forget_block(pool);
    for (void *activation : activations)
        pool.deallocate(activation);
}

int main()
{
    Pool pool;
    std::vector<void *> weights;

    for (int layer = 0; layer < layers; layer++) {
        npumem::scoped_module part("model.layers"); // npumem: which part of the model
        npumem::scoped_category category("weight");
        weights.push_back(load_weight(pool, layer));
    }
    npumem_mark("loaded"); // npumem: a moment to look at later
    for (int number = 0; number < steps; number++)
        run_step(pool, number);
    for (void *weight : weights)
        pool.deallocate(weight);

    const Pool::Figures &figures = pool.figures();
    std::printf("requests %zu\nhits %zu\n", figures.requests, figures.hits);
    std::printf("live_bytes %zu\npeak_bytes %zu\n", figures.live_bytes, figures.peak_bytes);
    std::printf("leaked_blocks %d\nleaked_bytes %d\n", steps, steps * 3000);
    return 0;
}
