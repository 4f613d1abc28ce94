/* SPDX-License-Identifier: Apache-2.0
 *
 * whatif_bench [REQUESTS [LIVE_BLOCKS]]: how many requests a second the simulated allocators serve, in processor time, for
 * blocks from 512 bytes to 24 MiB that come and go at random; and what the search for a packing takes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "whatif/packing.h"
#include "whatif/simulate.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t pick(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void expect(nm_status status)
{
    if (status == NM_OK)
        return;
    fprintf(stderr, "whatif_bench: failed\n");
    exit(EXIT_FAILURE);
}

static uint64_t pick_size(void)
{
    switch (pick(4)) {
    case 0:
        return 512 * (1 + pick(100));
    case 1:
        return 1 + pick(1 << 20);
    case 2:
        return (1 + pick(8)) << 20;
    default:
        return 1 + pick(UINT64_C(24) << 20);
    }
}

static nm_workload *make_workload(long request_count, long live_count)
{
    nm_workload *workload = calloc(1, sizeof *workload);
    uint32_t *live = calloc((size_t)live_count, sizeof *live);

    if (workload == NULL || live == NULL)
        exit(EXIT_FAILURE);
    workload->is_npu = true;
    expect(nm_workload_add_lane(workload, (nm_lane){0, 1}, NULL));
    for (long i = 0; i < request_count; i++) {
        uint32_t *block = &live[pick((uint64_t)live_count)]; /* 1 + the slot of what lives there */
        uint32_t slot;

        if (*block != 0)
            expect(nm_workload_add_op(workload, NM_OP_FREE, *block - 1, NULL));
        expect(nm_workload_ask(workload, NM_OP_ALLOC, (nm_request){.bytes = pick_size()}, i, &slot, NULL));
        *block = slot + 1;
    }
    free(live);
    return workload;
}

static uint64_t measure(const nm_workload *workload, const char *name, const nm_setting *setting, uint64_t capacity)
{
    double begin_s = now_s();
    nm_sim_result result;

    expect(nm_simulate(workload, setting, &(nm_sim_options){capacity, 0}, &result, NULL));
    double taken_s = now_s() - begin_s;
    printf("%-66s %6.2f M requests/s, %lu MiB reserved, %lu misses\n", name,
           (double)result.request_count / taken_s / 1e6, (unsigned long)(result.peak_reserved_bytes >> 20),
           (unsigned long)result.miss_count);
    return result.peak_reserved_bytes;
}

int main(int argc, char **argv)
{
    static const char *const confs[] = {"expandable_segments:True", "max_split_size_mb:32",
                                        "roundup_power2_divisions:8",
                                        "garbage_collection_threshold:0.6,per_process_memory_fraction:0.9"};
    nm_workload *workload = make_workload(argc > 1 ? atol(argv[1]) : 1000000, argc > 2 ? atol(argv[2]) : 3000);
    nm_setting setting = {.caching = nm_caching_settings_default(true), .bucket = nm_bucket_settings_default()};
    uint64_t reserved = measure(workload, "default", &setting, NM_WHATIF_UNLIMITED);
    nm_packing packing;
    double begin_s;

    for (size_t i = 0; i < sizeof confs / sizeof confs[0]; i++) {
        setting.caching = nm_caching_settings_default(true);
        expect(nm_caching_settings_parse(confs[i], &setting.caching, NULL));
        measure(workload, confs[i], &setting, i < 3 ? NM_WHATIF_UNLIMITED : reserved + reserved / 4);
    }
    setting.is_bucket = true;
    measure(workload, "bucket", &setting, NM_WHATIF_UNLIMITED);
    begin_s = now_s();
    expect(nm_packing_find(workload, &packing, NULL));
    printf("packing: %.2f s, %.1f %% above what is live at once\n", now_s() - begin_s,
           100 * ((double)packing.packed_bytes / (double)packing.peak_live_bytes - 1));
    nm_workload_free(workload);
    return EXIT_SUCCESS;
}
