/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem.hpp: npumem.h for C++17, as classes that end what they began. Nothing is here that is not there: each member is
 * one call of it, or two.
 *
 * HOW TO USE
 *
 *     npumem::heap heap("my pool", 0);                           // device 0
 *     ...
 *     void *block = my_pool_allocate(bytes);
 *     heap.alloc(block, bytes);                                  // before anybody else learns the address
 *     ...
 *     heap.free(block);                                          // BEFORE the block can be handed out again
 *     my_pool_free(block);
 *     ...
 *     npumem::scoped_step step(n);                               // once a training step
 *     {
 *         npumem::scoped_module module("model.layers.3");        // to the end of the block
 *         npumem::scoped_category category("activation");
 *     }
 *
 * The rules of npumem.h hold. Nothing throws, nothing allocates, no class is larger than 8 bytes, and what has not begun
 * because nothing records ends without a call of the library. Header only: link as for npumem.h.
 */
#ifndef NPUMEM_HPP
#define NPUMEM_HPP

#include <cstdint>

#include "npumem.h"

/* What calls it is the site of an allocation, not the member itself: it is inlined, and marked as no place of its own. */
#if defined(__clang__)
#define NPUMEM_SEEN_AS_CALLER __attribute__((always_inline, nodebug)) inline
#elif defined(__GNUC__)
#define NPUMEM_SEEN_AS_CALLER __attribute__((always_inline, artificial)) inline
#else
#define NPUMEM_SEEN_AS_CALLER inline
#endif

namespace npumem
{

/*
 * A source of memory: a name for the memory that one pool hands out. Copies are the same heap; it is never undefined, since
 * what it handed out may outlive the object. One that was made while nothing recorded, or by the parent of a fork, records
 * nothing: assign a new one.
 */
class heap
{
  public:
    heap() noexcept = default; /* no heap: its calls record nothing */

    explicit heap(const npumem_heap_options &options) noexcept : handle_(npumem_heap_define(&options))
    {
    }

    /* `device` as the program counts (aclrtSetDevice); NPUMEM_NO_DEVICE for host memory. */
    heap(const char *name, std::int32_t device, npumem_level level = NPUMEM_LEVEL_POOL) noexcept
    {
        npumem_heap_options options = NPUMEM_HEAP_DEFAULTS;

        options.name = name;
        options.device = device;
        options.level = level;
        handle_ = npumem_heap_define(&options);
    }

    /* `address` was handed out: AFTER the allocation, before anybody else learns the address. */
    NPUMEM_SEEN_AS_CALLER void alloc(const void *address, std::uint64_t requested_bytes) const noexcept
    {
        npumem_alloc(handle_, address, requested_bytes, nullptr);
    }

    NPUMEM_SEEN_AS_CALLER void alloc(const void *address, std::uint64_t requested_bytes,
                                     const npumem_alloc_options &options) const noexcept
    {
        npumem_alloc(handle_, address, requested_bytes, &options);
    }

    /* `address` is given back: BEFORE the pool can hand it out again. */
    NPUMEM_SEEN_AS_CALLER void free(const void *address) const noexcept
    {
        npumem_free(handle_, address, nullptr);
    }

    NPUMEM_SEEN_AS_CALLER void free(const void *address, const npumem_free_options &options) const noexcept
    {
        npumem_free(handle_, address, &options);
    }

    /* A request that could not be served; error_code is the pool's or the runtime's (207001: out of memory). */
    NPUMEM_SEEN_AS_CALLER void alloc_failed(std::uint64_t requested_bytes, std::int64_t error_code) const noexcept
    {
        npumem_alloc_failed(handle_, requested_bytes, error_code);
    }

    npumem_heap handle() const noexcept
    {
        return handle_;
    }
    explicit operator bool() const noexcept
    {
        return handle_ != 0;
    }

  private:
    npumem_heap handle_ = 0;
};

/* A range of the thread that makes it, from here to the end of the object, which may be moved into another thread. */
class scoped_range
{
  public:
    explicit scoped_range(const char *name) noexcept : range_(npumem_range_begin(name))
    {
    }
    scoped_range(scoped_range &&other) noexcept : range_(other.range_)
    {
        other.range_ = 0;
    }
    ~scoped_range() noexcept
    {
        end();
    }

    scoped_range(const scoped_range &) = delete;
    scoped_range &operator=(const scoped_range &) = delete;
    scoped_range &operator=(scoped_range &&) = delete;

    /* Ends it now. Once is enough. */
    void end() noexcept
    {
        if (range_ != 0)
            npumem_range_end(range_);
        range_ = 0;
    }

  protected:
    struct begun {
        std::uint64_t range;
    };
    explicit scoped_range(begun that) noexcept : range_(that.range)
    {
    }

  private:
    std::uint64_t range_;
};

/* What the thread allocates until its end is what `name` says: see npumem_category_begin. */
class scoped_category : public scoped_range
{
  public:
    explicit scoped_category(const char *name) noexcept : scoped_range(begun{npumem_category_begin(name)})
    {
    }
};

/* The forward of a part of a model, `path` its place in it: see npumem_module_begin. */
class scoped_module : public scoped_range
{
  public:
    explicit scoped_module(const char *path) noexcept : scoped_range(begun{npumem_module_begin(path)})
    {
    }
};

/* A step of the process, and a range "step" that ends with the object. The step itself ends where the next one begins, so
 * that what lies between two objects (an evaluation, a checkpoint) belongs to the step before it, and to no range. */
class scoped_step : public scoped_range
{
  public:
    explicit scoped_step(std::int64_t number) noexcept : scoped_range((npumem_step(number), "step"))
    {
    }
};

} // namespace npumem

#undef NPUMEM_SEEN_AS_CALLER

#endif
