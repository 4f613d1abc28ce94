/* SPDX-License-Identifier: Apache-2.0
 *
 * The books of npu_train against a recount: every call that it made, as recount.c logged it, added up again in the slowest
 * and most obvious way. Other tests may then take the books for the truth.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEVICES_MAX 4
#define PINNED      DEVICES_MAX /* as a device */
#define LINES_MAX   400000
#define BUCKETS     4

typedef struct call { /* one line of the log */
    char name[16];
    int device;
    uint64_t address;
    uint64_t size_bytes;
    uint64_t block_bytes;
    int flag; /* error, hit, request, async */
    int error;
    char text[32];
} call;

typedef struct piece { /* an allocation of the driver or the pool */
    int device;
    uint64_t address;
    uint64_t size_bytes;
    uint64_t block_bytes;
    int is_segment; /* of the driver: ever holds a block */
    int segment;    /* of the pool: index of the driver's allocation that it lies in */
    int is_live;
} piece;

typedef struct sums {
    uint64_t allocation_count, allocated_bytes, allocated_block_bytes;
    uint64_t free_count, freed_bytes, freed_block_bytes;
    uint64_t live_count, live_bytes, live_block_bytes;
    uint64_t peak_bytes, peak_block_bytes, failure_count;
} sums;

typedef struct recount {
    piece *driver;
    size_t driver_count;
    piece *pool;
    size_t pool_count;
    sums driver_sums[DEVICES_MAX + 1];
    sums segment_sums[DEVICES_MAX + 1];
    sums pool_sums[DEVICES_MAX];
    uint64_t bucket[DEVICES_MAX][BUCKETS][3]; /* small, medium, large, all: allocations, hits, misses */
    uint64_t deferred_count[DEVICES_MAX];
    uint64_t copies[6][4]; /* kind, 5 is memset: count, bytes, async, failed */
    uint64_t reset_count[DEVICES_MAX + 1];
    uint64_t reset_bytes[DEVICES_MAX + 1];
    uint64_t peak_reserved_bytes[DEVICES_MAX];
    uint64_t reserved_at_peak_bytes[DEVICES_MAX];
    int is_finalized;
    uint64_t mark_count;
    char *expected; /* lines `key value` */
    size_t expected_bytes;
    FILE *out; /* to expected */
} recount;

static char log_path[] = "/tmp/npumem_recount_XXXXXX";
static call *calls;
static size_t call_count;

/* ---- Reading ---- */

static void parse_call(const char *line, call *into)
{
    int used = 0;

    *into = (call){0};
    ck_assert_int_eq(sscanf(line, "%15s %n", into->name, &used), 1);
    line += used;
    if (strcmp(into->name, "malloc") == 0)
        sscanf(line, "%d %" SCNx64 " %" SCNu64 " %d", &into->device, &into->address, &into->size_bytes, &into->error);
    else if (strcmp(into->name, "free") == 0)
        sscanf(line, "%" SCNx64 " %d", &into->address, &into->error);
    else if (strcmp(into->name, "copy") == 0)
        sscanf(line, "%d %" SCNu64 " %d %d", &into->device, &into->size_bytes, &into->flag, &into->error);
    else if (strcmp(into->name, "pool_alloc") == 0)
        sscanf(line, "%d %" SCNx64 " %" SCNu64 " %" SCNu64 " %d", &into->device, &into->address, &into->size_bytes,
               &into->block_bytes, &into->flag);
    else if (strcmp(into->name, "pool_free") == 0)
        sscanf(line, "%d %" SCNx64 " %d", &into->device, &into->address, &into->flag);
    else if (strcmp(into->name, "mark") == 0)
        sscanf(line, "%31s", into->text);
    else
        sscanf(line, "%d", &into->device);
    if (into->device < 0)
        into->device = PINNED;
}

static void read_log(void)
{
    FILE *in = fopen(log_path, "r");
    char line[256];

    ck_assert_ptr_nonnull(in);
    call_count = 0;
    while (fgets(line, sizeof line, in)) {
        ck_assert_uint_lt(call_count, LINES_MAX);
        parse_call(line, &calls[call_count++]);
    }
    fclose(in);
}

/* Runs the program with a fresh log; returns its output, for the caller to free, and its exit status as a shell has it. */
static char *run(const char *program, const char *options, int *status)
{
    char command[1024];
    size_t used = 0;
    char *out = calloc(1, 1 << 20);
    FILE *from;

    ck_assert_int_eq(truncate(log_path, 0), 0);
    snprintf(command, sizeof command, "RECOUNT_LOG=%s exec %s %s 2>/dev/null", log_path, program, options);
    from = popen(command, "r");
    ck_assert(out && from);
    while (fgets(out + used, (1 << 20) - (int)used, from))
        used += strlen(out + used);
    *status = pclose(from);
    *status = WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
    return out;
}

/* ---- Adding up ---- */

static uint64_t padded_bytes(const piece *one)
{
    return one->device == PINNED ? one->size_bytes : (one->size_bytes + 31) / 32 * 32 + 32;
}

static piece *find(piece *pieces, size_t count, uint64_t address)
{
    for (size_t i = 0; i < count; i++)
        if (pieces[i].is_live && pieces[i].address == address)
            return &pieces[i];
    return NULL;
}

/* Index of the live allocation of the driver that holds a block. */
static int segment_of(const recount *all, const piece *block)
{
    for (size_t i = 0; i < all->driver_count; i++) {
        const piece *one = &all->driver[i];

        if (one->is_live && one->device == block->device && one->address <= block->address &&
            block->address + block->block_bytes <= one->address + one->size_bytes)
            return (int)i;
    }
    ck_abort_msg("a block of the pool lies in no segment");
    return -1;
}

/* Sums up from the pieces themselves what is live on a device. */
static void sum_live(const piece *pieces, size_t count, int device, int segments_only, sums *into)
{
    into->live_count = 0;
    into->live_bytes = 0;
    into->live_block_bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (!pieces[i].is_live || pieces[i].device != device || (segments_only && !pieces[i].is_segment))
            continue;
        into->live_count++;
        into->live_bytes += pieces[i].size_bytes;
        into->live_block_bytes += pieces[i].block_bytes;
    }
    if (into->live_bytes > into->peak_bytes)
        into->peak_bytes = into->live_bytes;
    if (into->live_block_bytes > into->peak_block_bytes)
        into->peak_block_bytes = into->live_block_bytes;
}

static void add_allocation(sums *into, const piece *one)
{
    into->allocation_count++;
    into->allocated_bytes += one->size_bytes;
    into->allocated_block_bytes += one->block_bytes;
}

static void add_free(sums *into, const piece *one)
{
    into->free_count++;
    into->freed_bytes += one->size_bytes;
    into->freed_block_bytes += one->block_bytes;
}

static void sum_driver(recount *all, int device)
{
    sum_live(all->driver, all->driver_count, device, 0, &all->driver_sums[device]);
    sum_live(all->driver, all->driver_count, device, 1, &all->segment_sums[device]);
}

static void count_malloc(recount *all, const call *one, int is_segment)
{
    piece made = {.device = one->device,
                  .address = one->address,
                  .size_bytes = one->size_bytes,
                  .is_segment = is_segment,
                  .is_live = 1};

    if (one->error) {
        all->driver_sums[one->device].failure_count++;
        return;
    }
    made.block_bytes = padded_bytes(&made);
    all->driver[all->driver_count++] = made;
    add_allocation(&all->driver_sums[one->device], &made);
    if (is_segment)
        add_allocation(&all->segment_sums[one->device], &made);
    sum_driver(all, one->device);
    if (one->device != PINNED && all->segment_sums[one->device].live_bytes > all->peak_reserved_bytes[one->device])
        all->peak_reserved_bytes[one->device] = all->segment_sums[one->device].live_bytes;
}

static void count_free(recount *all, const call *one)
{
    piece *freed = one->error ? NULL : find(all->driver, all->driver_count, one->address);

    if (one->error)
        return;
    ck_assert_ptr_nonnull(freed);
    freed->is_live = 0;
    add_free(&all->driver_sums[freed->device], freed);
    if (freed->is_segment)
        add_free(&all->segment_sums[freed->device], freed);
    sum_driver(all, freed->device);
}

/* npumem's definition of a miss: the first block that touches a driver range since that range was allocated. */
static int touches_first(const recount *all, int segment)
{
    for (size_t i = 0; i < all->pool_count; i++)
        if (all->pool[i].segment == segment)
            return 0;
    return 1;
}

static void count_outcome(uint64_t bucket[3], int is_miss)
{
    bucket[0]++;
    bucket[is_miss ? 2 : 1]++;
}

static void count_pool_alloc(recount *all, const call *one)
{
    int bucket = one->size_bytes < 4096 ? 0 : one->size_bytes <= 1048576 ? 1 : 2;
    piece made = {.device = one->device,
                  .address = one->address,
                  .size_bytes = one->size_bytes,
                  .block_bytes = one->block_bytes,
                  .is_live = 1};
    sums *into = &all->pool_sums[one->device];
    uint64_t peak_bytes = into->peak_bytes;
    int is_miss;

    made.segment = segment_of(all, &made);
    is_miss = touches_first(all, made.segment);
    ck_assert_int_eq(is_miss, !one->flag);
    all->pool[all->pool_count++] = made;
    add_allocation(into, &made);
    sum_live(all->pool, all->pool_count, one->device, 0, into);
    if (into->peak_bytes > peak_bytes)
        all->reserved_at_peak_bytes[one->device] = all->segment_sums[one->device].live_bytes;
    count_outcome(all->bucket[one->device][bucket], is_miss);
    count_outcome(all->bucket[one->device][BUCKETS - 1], is_miss);
}

static void count_pool_free(recount *all, const call *one)
{
    piece *freed = find(all->pool, all->pool_count, one->address);

    if (one->flag)
        all->deferred_count[one->device]++;
    if (one->flag || !freed) /* a request, or a second free on purpose */
        return;
    freed->is_live = 0;
    add_free(&all->pool_sums[one->device], freed);
    sum_live(all->pool, all->pool_count, one->device, 0, &all->pool_sums[one->device]);
}

static void count_copy(recount *all, const call *one)
{
    uint64_t *into = all->copies[one->device];

    if (one->error) {
        into[3]++;
        return;
    }
    into[0]++;
    into[1] += one->size_bytes;
    into[2] += (uint64_t)one->flag;
}

static void count_finalize(recount *all)
{
    all->is_finalized = 1;
    for (int device = 0; device <= DEVICES_MAX; device++) {
        all->reset_count[device] = all->driver_sums[device].live_count;
        all->reset_bytes[device] = all->driver_sums[device].live_bytes;
    }
}

/* ---- The state of a pool at a moment ---- */

/* The live block of a segment that begins at `address` or is the next one behind it. */
static const piece *next_block(const recount *all, int segment, uint64_t address)
{
    const piece *next = NULL;

    for (size_t i = 0; i < all->pool_count; i++) {
        const piece *one = &all->pool[i];

        if (one->is_live && one->segment == segment && one->address >= address &&
            (!next || one->address < next->address))
            next = one;
    }
    return next;
}

typedef struct gaps {
    uint64_t free_bytes, largest_bytes, count;
} gaps;

static void add_gap(gaps *into, uint64_t bytes)
{
    if (bytes == 0)
        return;
    into->free_bytes += bytes;
    into->count++;
    if (bytes > into->largest_bytes)
        into->largest_bytes = bytes;
}

static gaps gaps_of(const recount *all, int segment)
{
    const piece *whole = &all->driver[segment];
    uint64_t at = whole->address;
    gaps found = {0};
    const piece *block;

    while ((block = next_block(all, segment, at))) {
        add_gap(&found, block->address - at);
        at = block->address + block->block_bytes;
    }
    add_gap(&found, whole->address + whole->size_bytes - at);
    return found;
}

static void expect(recount *all, const char *prefix, int number, const char *key, uint64_t value)
{
    if (number >= 0)
        fprintf(all->out, "%s.%d.%s %" PRIu64 "\n", prefix, number, key, value);
    else
        fprintf(all->out, "%s.%s %" PRIu64 "\n", prefix, key, value);
}

static void expect_moment(recount *all, const char *name, int device)
{
    uint64_t reserved_bytes = 0;
    uint64_t stuck_bytes = 0;
    gaps total = {0};
    char prefix[64];

    for (size_t i = 0; i < all->driver_count; i++) {
        gaps here;

        if (!all->driver[i].is_live || !all->driver[i].is_segment || all->driver[i].device != device)
            continue;
        here = gaps_of(all, (int)i);
        reserved_bytes += all->driver[i].size_bytes;
        total.free_bytes += here.free_bytes;
        total.count += here.count;
        total.largest_bytes = here.largest_bytes > total.largest_bytes ? here.largest_bytes : total.largest_bytes;
        stuck_bytes += here.free_bytes < all->driver[i].size_bytes ? here.free_bytes : 0;
    }
    snprintf(prefix, sizeof prefix, "moment.%s.pool", name);
    expect(all, prefix, device, "reserved_bytes", reserved_bytes);
    expect(all, prefix, device, "occupied_bytes", reserved_bytes - total.free_bytes);
    expect(all, prefix, device, "free_bytes", total.free_bytes);
    expect(all, prefix, device, "largest_free_bytes", total.largest_bytes);
    expect(all, prefix, device, "stuck_bytes", stuck_bytes);
    expect(all, prefix, device, "gap_count", total.count);
}

static void count_mark(recount *all, const call *one, int device_count)
{
    all->mark_count++;
    for (int device = 0; device < device_count; device++)
        expect_moment(all, one->text, device);
}

/* Whether an allocation ever holds a block of the pool: looks ahead to its free. */
static int becomes_segment(size_t at)
{
    const call *made = &calls[at];

    for (size_t i = at + 1; i < call_count && made->device != PINNED && !made->error; i++) {
        const call *one = &calls[i];

        if (strcmp(one->name, "free") == 0 && !one->error && one->address == made->address)
            return 0;
        if (strcmp(one->name, "pool_alloc") == 0 && one->address >= made->address &&
            one->address < made->address + made->size_bytes)
            return 1;
    }
    return 0;
}

static void count_calls(recount *all, int device_count)
{
    for (size_t i = 0; i < call_count; i++) {
        const call *one = &calls[i];

        if (strcmp(one->name, "malloc") == 0)
            count_malloc(all, one, becomes_segment(i));
        else if (strcmp(one->name, "free") == 0)
            count_free(all, one);
        else if (strcmp(one->name, "pool_alloc") == 0)
            count_pool_alloc(all, one);
        else if (strcmp(one->name, "pool_free") == 0)
            count_pool_free(all, one);
        else if (strcmp(one->name, "pool_fail") == 0)
            all->pool_sums[one->device].failure_count++;
        else if (strcmp(one->name, "copy") == 0)
            count_copy(all, one);
        else if (strcmp(one->name, "mark") == 0)
            count_mark(all, one, device_count);
        else if (strcmp(one->name, "finalize") == 0)
            count_finalize(all);
    }
}

/* ---- Comparing ---- */

static void expect_sums(recount *all, const char *prefix, const sums *from)
{
    expect(all, prefix, -1, "allocation_count", from->allocation_count);
    expect(all, prefix, -1, "allocated_bytes", from->allocated_bytes);
    expect(all, prefix, -1, "allocated_block_bytes", from->allocated_block_bytes);
    expect(all, prefix, -1, "free_count", from->free_count);
    expect(all, prefix, -1, "freed_bytes", from->freed_bytes);
    expect(all, prefix, -1, "freed_block_bytes", from->freed_block_bytes);
    expect(all, prefix, -1, "live_count", from->live_count);
    expect(all, prefix, -1, "live_bytes", from->live_bytes);
    expect(all, prefix, -1, "live_block_bytes", from->live_block_bytes);
    expect(all, prefix, -1, "peak_bytes", from->peak_bytes);
    expect(all, prefix, -1, "peak_block_bytes", from->peak_block_bytes);
    expect(all, prefix, -1, "failure_count", from->failure_count);
}

static void expect_driver(recount *all, int device)
{
    const sums *plain = &all->driver_sums[device];
    const sums *segments = &all->segment_sums[device];
    char prefix[64];

    snprintf(prefix, sizeof prefix, "driver.%d", device);
    expect_sums(all, prefix, plain);
    expect(all, prefix, -1, "reset_count", all->reset_count[device]);
    expect(all, prefix, -1, "reset_bytes", all->reset_bytes[device]);
    expect(all, prefix, -1, "outstanding_count", all->is_finalized ? 0 : plain->live_count - segments->live_count);
    expect(all, prefix, -1, "outstanding_bytes", all->is_finalized ? 0 : plain->live_bytes - segments->live_bytes);
    snprintf(prefix, sizeof prefix, "driver.%d.segment", device);
    expect_sums(all, prefix, segments);
}

static void expect_pool(recount *all, int device)
{
    static const char *const names[BUCKETS] = {"small", "medium", "large", "all"};
    char prefix[64];

    snprintf(prefix, sizeof prefix, "pool.%d", device);
    expect_sums(all, prefix, &all->pool_sums[device]);
    expect(all, prefix, -1, "deferred_free_count", all->deferred_count[device]);
    expect(all, prefix, -1, "peak_reserved_bytes", all->peak_reserved_bytes[device]);
    expect(all, prefix, -1, "reserved_at_peak_bytes", all->reserved_at_peak_bytes[device]);
    for (int i = 0; i < BUCKETS; i++) {
        snprintf(prefix, sizeof prefix, "pool.%d.%s", device, names[i]);
        expect(all, prefix, -1, "allocation_count", all->bucket[device][i][0]);
        expect(all, prefix, -1, "hit_count", all->bucket[device][i][1]);
        expect(all, prefix, -1, "miss_count", all->bucket[device][i][2]);
    }
}

static void expect_rest(recount *all)
{
    static const char *const names[] = {"copy.host_to_host",     "copy.host_to_device", "copy.device_to_host",
                                        "copy.device_to_device", "copy.default",        "memset"};

    expect_sums(all, "pinned", &all->driver_sums[PINNED]);
    expect(all, "pinned", -1, "reset_count", all->reset_count[PINNED]);
    expect(all, "pinned", -1, "reset_bytes", all->reset_bytes[PINNED]);
    for (int i = 0; i < 6; i++) {
        expect(all, names[i], -1, "count", all->copies[i][0]);
        expect(all, names[i], -1, "bytes", all->copies[i][1]);
        expect(all, names[i], -1, "async_count", all->copies[i][2]);
        expect(all, names[i], -1, "failed_count", all->copies[i][3]);
    }
    fprintf(all->out, "mark_count %" PRIu64 "\n", all->mark_count);
}

/* Whether the recount has nothing to say of this line: it says what was asked for, or what tests check by themselves. */
static int is_not_recounted(const char *line)
{
    static const char *const keys[] = {"steps ", "threads ", "devices ", "seed ", "verified_count ", "leak", "misuse."};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strncmp(line, keys[i], strlen(keys[i])) == 0)
            return 1;
    return 0;
}

static int has_line(const char *text, const char *line)
{
    size_t length = strlen(line);

    for (const char *at = text; (at = strstr(at, line)); at += length)
        if ((at == text || at[-1] == '\n') && at[length] == '\n')
            return 1;
    return 0;
}

/* Each line of the books stands in the recount, and the other way round. */
static void compare(const char *options, const char *books, const char *expected)
{
    size_t line_counts[2] = {0};
    const char *texts[2] = {books, expected};

    for (int i = 0; i < 2; i++) {
        char *copy = strdup(texts[i]);
        char *rest = copy;
        char *line;

        while ((line = strsep(&rest, "\n"))) {
            if (!*line || is_not_recounted(line))
                continue;
            line_counts[i]++;
            ck_assert_msg(has_line(texts[1 - i], line), "%s: only in the %s: %s", options, i ? "recount" : "books",
                          line);
        }
        free(copy);
    }
    ck_assert_uint_gt(line_counts[0], 50);
    ck_assert_uint_eq(line_counts[0], line_counts[1]);
}

static uint64_t value_of(const char *books, const char *key)
{
    size_t length = strlen(key);

    for (const char *at = books; (at = strstr(at, key)); at += length)
        if ((at == books || at[-1] == '\n') && at[length] == ' ')
            return strtoull(at + length + 1, NULL, 10);
    ck_abort_msg("the books have no %s", key);
    return 0;
}

static void check_run(const char *options, int expected_status)
{
    recount all = {0};
    int status = -1;
    char *books = run(NPU_TRAIN_RECOUNT, options, &status);
    int device_count;

    ck_assert_msg(status == expected_status, "%s: status %d", options, status);
    device_count = (int)value_of(books, "devices");
    read_log();
    all.driver = calloc(call_count, sizeof *all.driver);
    all.pool = calloc(call_count, sizeof *all.pool);
    all.out = open_memstream(&all.expected, &all.expected_bytes);
    ck_assert(all.driver && all.pool && all.out);
    count_calls(&all, device_count);
    for (int device = 0; device < device_count; device++) {
        expect_moment(&all, "end", device);
        expect_driver(&all, device);
        expect_pool(&all, device);
    }
    expect_rest(&all);
    fclose(all.out);
    compare(options, books, all.expected);
    free(all.expected);
    free(all.driver);
    free(all.pool);
    free(books);
}

/* ---- Tests ---- */

START_TEST(books_equal_a_recount_of_the_calls)
{
    static const struct {
        const char *options;
        int status;
    } cases[] = {
        {"", 0},
        {"--steps 0", 0},
        {"--steps 1 --seed 7 --layers 1", 0},
        {"--seed 2 --leak", 0},
        {"--seed 3 --leak --leak-driver", 0},
        {"--seed 3 --leak --leak-driver --reset", 0},
        {"--seed 4 --fragment", 0},
        {"--seed 5 --misuse", 0},
        {"--seed 6 --oom", 3},
        {"--seed 7 --no-cleanup --leak --fragment", 0},
        {"--seed 8 --abort", 134},
        {"--seed 9 --kill-self --fragment", 137},
        {"--seed 10 --threads 3 --steps 6", 0},
        {"--seed 11 --threads 4 --device-count 2 --steps 5 --leak --fragment --misuse", 0},
        {"--seed 12 --threads 2 --device-count 4 --steps 5 --oom", 3},
        {"--seed 13 --threads 4 --steps 5 --concurrent --leak", 0},
        {"--seed 14 --basis block --layers 3 --no-reset", 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_run(cases[i].options, cases[i].status);
}
END_TEST

START_TEST(books_equal_a_recount_on_a_small_device)
{
    setenv("NPUMEM_CANN_CAPACITY_BYTES", "48M", 1);
    check_run("--seed 1 --leak --steps 400", 3);
    check_run("--seed 2 --oom --fragment", 3); /* empties the cache and goes on */
    unsetenv("NPUMEM_CANN_CAPACITY_BYTES");
}
END_TEST

START_TEST(leaks_are_one_a_step_and_thread)
{
    int status = -1;
    char *books = run(NPU_TRAIN_RECOUNT, "--steps 9 --threads 2 --leak --leak-driver", &status);

    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(value_of(books, "leak.count"), 18);
    ck_assert_uint_eq(value_of(books, "leak.bytes"), 18 * 98304);
    ck_assert_uint_eq(value_of(books, "pool.0.live_bytes"), 18 * 98304);
    ck_assert_uint_eq(value_of(books, "leak_driver.count"), 18);
    ck_assert_uint_eq(value_of(books, "driver.0.outstanding_bytes"), 18 * 262144);
    ck_assert_uint_eq(value_of(books, "verified_count"), 18);
    free(books);
}
END_TEST

START_TEST(each_misuse_happens_once_and_the_runtime_refuses_what_it_can_see)
{
    static const struct {
        const char *name;
        uint64_t refused_count;
    } cases[] = {{"free_twice", 1},      {"free_host_as_device", 1}, {"free_device_as_host", 1},
                 {"free_unknown", 1},    {"free_inside", 1},         {"copy_over_limit", 1},
                 {"copy_past_end", 1},   {"copy_past_request", 0},   {"copy_after_free", 1},
                 {"pool_free_twice", 1}, {"pool_copy_past_end", 0},  {"pool_copy_after_free", 0}};
    int status = -1;
    char *books = run(NPU_TRAIN_RECOUNT, "--misuse", &status);
    char key[64];

    ck_assert_int_eq(status, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(key, sizeof key, "misuse.%s.count", cases[i].name);
        ck_assert_uint_eq(value_of(books, key), 1);
        snprintf(key, sizeof key, "misuse.%s.refused_count", cases[i].name);
        ck_assert_msg(value_of(books, key) == cases[i].refused_count, "%s", key);
    }
    free(books);
}
END_TEST

START_TEST(a_run_is_the_same_run_every_time_with_and_without_the_sdk)
{
    static const char options[] = "--threads 3 --device-count 2 --leak --fragment --misuse --oom";
    int status = -1;
    char *first = run(NPU_TRAIN_RECOUNT, options, &status);

    ck_assert_int_eq(status, 3);
    for (int i = 0; i < 5; i++) {
        char *again = run(i % 2 ? NPU_TRAIN : NPU_TRAIN_PLAIN, options, &status);

        ck_assert_int_eq(status, 3);
        ck_assert_str_eq(first, again);
        free(again);
    }
    free(first);
}
END_TEST

START_TEST(each_process_is_a_run_with_its_own_seed)
{
    int status = -1;
    char *all = run(NPU_TRAIN, "--processes 3 --seed 5 --steps 4", &status);
    char *one = run(NPU_TRAIN, "--seed 2005 --steps 4", &status);
    char *rest = one;
    char *line;

    while ((line = strsep(&rest, "\n"))) {
        char prefixed[300];

        if (!*line)
            continue;
        snprintf(prefixed, sizeof prefixed, "process.2.%s", line);
        ck_assert_msg(has_line(all, prefixed), "%s", prefixed);
    }
    free(all);
    free(one);
}
END_TEST

START_TEST(what_goes_wrong_shows_in_the_exit_status)
{
    static const struct {
        const char *options;
        int status;
    } cases[] = {{"--help", 0},
                 {"--unknown", 2},
                 {"extra", 2},
                 {"--steps -1", 2},
                 {"--threads 0", 2},
                 {"--oom", 3},
                 {"--basis neither", 2},
                 {"--report /nowhere/file", 1},
                 {"--processes 2 --oom", 3},
                 {"--threads 3 --device-count 3", 1},
                 {"--processes 2 --kill-self", 137}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = -1;

        free(run(NPU_TRAIN, cases[i].options, &status));
        ck_assert_msg(status == cases[i].status, "%s: status %d", cases[i].options, status);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("npu_train");
    TCase *tests = tcase_create("books");
    SRunner *runner;
    int failed_count;
    int fd = mkstemp(log_path);

    if (fd < 0 || !(calls = calloc(LINES_MAX, sizeof *calls)))
        return EXIT_FAILURE;
    close(fd);
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, books_equal_a_recount_of_the_calls);
    tcase_add_test(tests, books_equal_a_recount_on_a_small_device);
    tcase_add_test(tests, leaks_are_one_a_step_and_thread);
    tcase_add_test(tests, each_misuse_happens_once_and_the_runtime_refuses_what_it_can_see);
    tcase_add_test(tests, a_run_is_the_same_run_every_time_with_and_without_the_sdk);
    tcase_add_test(tests, each_process_is_a_run_with_its_own_seed);
    tcase_add_test(tests, what_goes_wrong_shows_in_the_exit_status);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    unlink(log_path);
    free(calls);
    return failed_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
