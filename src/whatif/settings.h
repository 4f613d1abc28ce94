/* SPDX-License-Identifier: Apache-2.0
 *
 * What an allocator can be told. The caching allocator of torch_npu (PyTorch's) takes PYTORCH_NPU_ALLOC_CONF; what that
 * text means, and which combinations torch_npu refuses, is known here alone. The size-bucket pool takes a text of our own.
 */
#ifndef NM_WHATIF_SETTINGS_H
#define NM_WHATIF_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define NM_DIVISION_INTERVALS  16 /* of roundup_power2_divisions: from 1 MiB, each twice the one before */
#define NM_BUCKET_CLASSES_MAX  64
#define NM_SETTINGS_BYTES      512 /* room that nm_caching_settings_write needs */
#define NM_NO_SPLIT_LIMIT      UINT64_MAX

/* Sizes that the caching allocator does not let anybody change. Bytes. */
#define NM_BLOCK_UNIT_BYTES    512
#define NM_SMALL_BYTES_MAX     (UINT64_C(1) << 20) /* larger requests are served from another pool */
#define NM_SMALL_SEGMENT_BYTES (UINT64_C(2) << 20)
#define NM_LARGE_SEGMENT_BYTES (UINT64_C(20) << 20) /* of requests of less than 10 MiB, unless that is set */
#define NM_OWN_SEGMENT_BYTES   (UINT64_C(10) << 20) /* requests from here on get a segment of their own size, */
#define NM_OWN_SEGMENT_UNIT    (UINT64_C(2) << 20)  /* rounded up to this */

typedef struct nm_caching_settings {
    uint64_t max_split_bytes; /* blocks from this size on are not split; NM_NO_SPLIT_LIMIT */
    double collect_threshold; /* share of the allowed memory from which unused blocks are given back; 0: never */
    double memory_fraction; /* share of the device that the pool may take; 0: not set, so no limit and no collection */
    uint64_t alignment_bytes;     /* of large blocks in expandable segments; 0: none */
    uint64_t large_segment_bytes; /* segments of requests of more than 1 and less than 10 MiB */
    uint64_t page_bytes;          /* physical memory of the large pool's expandable segments comes in these */
    uint64_t spare_bytes;         /* a block that is not split may be larger than the request by less than this */
    bool has_gigabyte_pages;      /* page_size:1g */
    bool is_expandable;
    uint64_t divisions[NM_DIVISION_INTERVALS]; /* 0 or 1: sizes are rounded to 512 bytes */
    uint64_t pad_bytes; /* added to each request before it is rounded: 32 on most NPUs, 0 elsewhere */
    bool is_npu;        /* torch_npu's rules of what may stand together */
} nm_caching_settings;

typedef struct nm_bucket_settings {
    uint64_t initial_bytes; /* taken from the device at the start, in one piece */
    uint64_t maximum_bytes; /* that the pool takes in all; UINT64_MAX: no limit */
    uint64_t alignment_bytes;
    uint64_t slab_bytes; /* what a class takes from the device at once, unless one block is larger */
    uint64_t class_bytes[NM_BUCKET_CLASSES_MAX]; /* block sizes, ascending */
    size_t class_count;
} nm_bucket_settings;

/* What holds when nothing is set. */
nm_caching_settings nm_caching_settings_default(bool is_npu);
nm_bucket_settings nm_bucket_settings_default(void);

/*
 * Reads the text into *settings, which hold the defaults: "expandable_segments:True", "max_split_size_mb:128,
 * garbage_collection_threshold:0.8", "roundup_power2_divisions:[256:1,512:2,>:4]",
 * "large_segment_size_mb:40", "segment_size_mb:40" (the pages of expandable segments alone), "max_non_split_rounding_mb:40",
 * "base_addr_aligned_kb:0", "page_size:1g", "per_process_memory_fraction:0.9". Options without influence on device
 * memory (pinned_*, pin_memory_*, multi_stream_lazy_reclaim, throw_on_npumalloc_oom, release_lock_on_*) are passed over.
 * NM_ERR_USAGE: an option or a value that torch_npu would refuse, one that is not simulated, or a combination that cannot
 * be.
 */
nm_status nm_caching_settings_parse(const char *text, nm_caching_settings *settings, nm_error *err);

/* The text that stands for the settings; "" for the defaults. */
void nm_caching_settings_write(const nm_caching_settings *settings, char out[NM_SETTINGS_BYTES]);

/* "initial:1GiB,maximum:30GiB,alignment:512,slab:2MiB,classes:[512,4KiB,1MiB]"; classes:power2 is a class for each power of
 * two from the alignment to 64 MiB. NM_ERR_USAGE: wrong. */
nm_status nm_bucket_settings_parse(const char *text, nm_bucket_settings *settings, nm_error *err);

/* "30GiB", "512", "1.5MiB", "60.97 GiB" -> bytes. NM_ERR_USAGE: not a size. Decimal units (GB) are refused. */
nm_status nm_settings_size(const char *text, size_t len, uint64_t *bytes, nm_error *err);

/* The size of the block that a request gets; is_block_bytes: the request is that of a block already. */
uint64_t nm_caching_block_bytes(const nm_caching_settings *settings, uint64_t bytes, bool is_block_bytes);

/* The size of the segment that is made for a block of this size, outside expandable segments. */
uint64_t nm_caching_segment_bytes(const nm_caching_settings *settings, uint64_t block_bytes);

#endif
