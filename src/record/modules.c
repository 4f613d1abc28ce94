/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of mapped code. A scan makes a new table and puts it in the place of the old one; who reads a table says so by
 * a hazard pointer, and a table is unmapped when it is neither current nor read. One thread scans at a time, and no other
 * waits for it: a stack that needs the scan is then taken for what it is worth and looked at again next time.
 */
#include "record/modules.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "base/text.h"
#include "record/maps.h"
#include "record/text.h"
#include "record/thread.h"
#include "record/writer.h"

#define SCAN_PAUSE_NS      INT64_C(10000000) /* at least so long between two scans */
#define FIRST_SCAN_WAITS   20
#define FIRST_SCAN_WAIT_US 100
#define SCAN_SHARE         20                  /* and at least so many times the last one's duration */
#define SCAN_AGE_NS        INT64_C(1000000000) /* a new stack looks again at a table that is older */
#define CODE_BEFORE_BYTES  8                   /* of code looked at before and after a return address */
#define CODE_BYTES         16
#define CODE_BATCH         16

#define INDEX_NONE         1 /* it was looked for */

struct nm_module {
    uintptr_t begin, end;             /* of the code */
    uintptr_t base;                   /* where offset 0 of the file is */
    uintptr_t image_begin, image_end; /* what can be read of the same file around it, without a gap */
    uint64_t device, inode;
    const char *path; /* in the table, behind the modules */
    size_t path_bytes;
    /* Of .eh_frame_hdr, at first sight: its address, which is stored last, INDEX_NONE, or 0; and how it begins. */
    _Atomic uintptr_t index;
    _Atomic uintptr_t index_bytes;
    _Atomic uint64_t index_head[2];
};

struct nm_module_table {
    size_t mapped_bytes;
    nm_module_table *next_retired;
    uint64_t generation;
    size_t count;
    nm_module modules[]; /* by address */
};

static _Atomic(nm_module_table *) current_table;
static _Atomic uint64_t table_generation;
static _Atomic uint32_t is_scanning;
static _Atomic int64_t next_scan_ns, last_scan_ns;
static _Atomic uint64_t change_count;
static nm_module_table *retired; /* of the thread that scans */

uint64_t nm_modules_generation(void)
{
    /* relaxed: a thread that sees it late describes a stack by the older view, as if it had been a moment earlier. */
    return atomic_load_explicit(&table_generation, memory_order_relaxed);
}

void nm_modules_note_change(void)
{
    /* relaxed, all: whoever sees the new generation looks at its stacks again, and the times let it scan at once. */
    atomic_fetch_add_explicit(&change_count, 1, memory_order_relaxed);
    atomic_store_explicit(&next_scan_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&last_scan_ns, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&table_generation, 1, memory_order_relaxed);
}

void nm_modules_note_load(void)
{
    atomic_store_explicit(&next_scan_ns, 0, memory_order_relaxed); /* relaxed: a time, for scans to come */
}

void nm_modules_forget_all(void)
{
    /* relaxed: the generation of the process publishes it. Tables of the parent stay, in the child's copy of the memory. */
    atomic_store_explicit(&current_table, NULL, memory_order_relaxed);
    atomic_store_explicit(&is_scanning, 0, memory_order_relaxed);
    atomic_store_explicit(&next_scan_ns, 0, memory_order_relaxed);
    retired = NULL;
}

/* ---- Tables -------------------------------------------------------------------------------------------------------- */

/* What a table of this text takes, with the paths; not the text itself, most of which is no code and grows with the program. */
static size_t bytes_of_table(const char *text, size_t *code_count)
{
    size_t path_bytes = 0;
    nm_mapping mapping;

    *code_count = 0;
    for (const char *line = text; (line = nm_maps_next(line, &mapping)) != NULL;) {
        if (!mapping.is_executable)
            continue;
        ++*code_count;
        path_bytes += mapping.path_bytes < NM_RING_TEXT_BYTES_MAX ? mapping.path_bytes : NM_RING_TEXT_BYTES_MAX;
    }
    return sizeof(nm_module_table) + *code_count * sizeof(nm_module) + path_bytes;
}

/* `run`: what can be read of one file without a gap, up to this mapping, which is of it if the file is the same. Modules that
 * lie in it, from the table's last one on, reach to its new end. */
static void extend_run(nm_module_table *table, nm_mapping *run, const nm_mapping *mapping)
{
    bool is_next = mapping->is_readable && run->end == mapping->begin && run->inode == mapping->inode &&
                   run->device == mapping->device;

    if (!is_next) {
        *run = *mapping;
        if (!mapping->is_readable)
            run->end = run->begin;
        return;
    }
    run->end = mapping->end;
    for (size_t i = table->count; i > 0 && table->modules[i - 1].begin >= run->begin; i--)
        table->modules[i - 1].image_end = run->end;
}

/* `path`: where the paths begin. */
static void fill_table(nm_module_table *table, char *path, const char *text)
{
    nm_mapping mapping, zero = {0}, run = {0};

    for (const char *line = text; (line = nm_maps_next(line, &mapping)) != NULL;) {
        bool is_file = mapping.path_bytes > 0;

        extend_run(table, &run, &mapping);
        if (is_file && mapping.offset == 0)
            zero = mapping;
        if (!mapping.is_executable)
            continue;
        table->modules[table->count++] = (nm_module){
            .begin = mapping.begin,
            .end = mapping.end,
            .base = is_file && zero.inode == mapping.inode && zero.device == mapping.device && zero.begin != 0
                        ? zero.begin
                        : mapping.begin - mapping.offset,
            .image_begin = run.begin,
            .image_end = run.end,
            .device = mapping.device,
            .inode = mapping.inode,
            .path = path,
            .path_bytes = nm_text_cut(mapping.path, mapping.path_bytes, NM_RING_TEXT_BYTES_MAX, path),
        };
        path += table->modules[table->count - 1].path_bytes;
    }
}

static void free_table(nm_module_table *table)
{
    nm_system_unmap(table, table->mapped_bytes);
}

static nm_module_table *make_table(void)
{
    size_t text_bytes, mapped_bytes, code_count;
    char *text = nm_maps_read(&text_bytes, &mapped_bytes);

    if (text == NULL)
        return NULL;
    size_t table_bytes = bytes_of_table(text, &code_count);
    nm_module_table *table = nm_system_memory(table_bytes);
    if (table != NULL) {
        table->mapped_bytes = table_bytes;
        fill_table(table, (char *)&table->modules[code_count], text);
    }
    nm_system_unmap(text, mapped_bytes);
    return table;
}

static bool is_same_module(const nm_module *a, const nm_module *b)
{
    return a->begin == b->begin && a->end == b->end && a->base == b->base && a->inode == b->inode &&
           a->device == b->device && a->path_bytes == b->path_bytes && memcmp(a->path, b->path, a->path_bytes) == 0;
}

static bool is_same_table(const nm_module_table *a, const nm_module_table *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (!is_same_module(&a->modules[i], &b->modules[i]))
            return false;
    }
    return true;
}

static bool is_in_use(const nm_module_table *table)
{
    for (nm_recorded_thread *thread = nm_thread_first(); thread != NULL; thread = thread->next) {
        /* seq_cst: pairs with nm_modules_hold; either it sees that the table is no longer current, or we see its hazard. */
        if (atomic_load_explicit(&thread->modules_in_use, memory_order_seq_cst) == table)
            return true;
    }
    return false;
}

static void free_unused_tables(void)
{
    nm_module_table **link = &retired;

    while (*link != NULL) {
        nm_module_table *table = *link;

        if (is_in_use(table)) {
            link = &table->next_retired;
        } else {
            *link = table->next_retired;
            free_table(table);
        }
    }
}

static void replace_table(nm_module_table *old, nm_module_table *made)
{
    /* relaxed: see nm_modules_generation. */
    made->generation = atomic_fetch_add_explicit(&table_generation, 1, memory_order_relaxed) + 1;
    /* seq_cst: see is_in_use. */
    atomic_store_explicit(&current_table, made, memory_order_seq_cst);
    if (old != NULL) {
        old->next_retired = retired;
        retired = old;
    }
    free_unused_tables();
}

static void scan_blocked(void)
{
    nm_module_table *old =
        atomic_load_explicit(&current_table, memory_order_relaxed); /* relaxed: we alone replace it */
    int64_t begin_ns = nm_system_now_ns(), end_ns, pause_ns;
    uint64_t change = atomic_load_explicit(&change_count, memory_order_relaxed);
    nm_module_table *made = make_table();

    if (made != NULL && old != NULL && is_same_table(old, made))
        free_table(made);
    else if (made != NULL)
        replace_table(old, made);
    if (atomic_load_explicit(&change_count, memory_order_relaxed) != change)
        return; /* what was read may be what was before: the next stack scans again */
    end_ns = nm_system_now_ns();
    pause_ns = (end_ns - begin_ns) * SCAN_SHARE;
    /* relaxed: times, for scans to come. */
    atomic_store_explicit(&last_scan_ns, end_ns, memory_order_relaxed);
    atomic_store_explicit(&next_scan_ns, end_ns + (pause_ns > SCAN_PAUSE_NS ? pause_ns : SCAN_PAUSE_NS),
                          memory_order_relaxed);
}

/* False: not now; another thread is at it, or the last one is too recent. */
static bool scan(void)
{
    uint32_t nobody = 0;
    uint64_t mask;

    /* relaxed: a time. */
    if (nm_system_now_ns() < atomic_load_explicit(&next_scan_ns, memory_order_relaxed))
        return false;
    mask = nm_system_block_signals();
    /* acquire, release: `retired` belongs to who holds the flag. */
    bool is_mine =
        atomic_compare_exchange_strong_explicit(&is_scanning, &nobody, 1, memory_order_acquire, memory_order_relaxed);
    if (is_mine) {
        scan_blocked();
        atomic_store_explicit(&is_scanning, 0, memory_order_release);
    }
    nm_system_restore_signals(mask);
    return is_mine;
}

/* Threads that begin at once: the first scan is worth waiting for, a little. */
bool nm_modules_look_again(void)
{
    /* acquire, both: pairs with replace_table. */
    bool is_first = atomic_load_explicit(&current_table, memory_order_acquire) == NULL;

    if (scan())
        return true;
    for (unsigned i = 0; is_first && i < FIRST_SCAN_WAITS; i++) {
        if (atomic_load_explicit(&current_table, memory_order_acquire) != NULL)
            return true;
        nm_system_sleep_us(FIRST_SCAN_WAIT_US);
    }
    return false;
}

/* The current table, which stays until nm_modules_release. NULL: none yet. */
nm_module_table *nm_modules_hold(nm_recorded_thread *thread)
{
    nm_module_table *table;

    do {
        /* seq_cst: pairs with is_in_use. */
        table = atomic_load_explicit(&current_table, memory_order_seq_cst);
        atomic_store_explicit(&thread->modules_in_use, table, memory_order_seq_cst);
    } while (atomic_load_explicit(&current_table, memory_order_seq_cst) != table);
    return table;
}

void nm_modules_release(nm_recorded_thread *thread)
{
    atomic_store_explicit(&thread->modules_in_use, NULL, memory_order_release); /* release: our reads are over */
}

/* ---- Addresses ----------------------------------------------------------------------------------------------------- */

nm_module *nm_modules_find(nm_module_table *table, uintptr_t address)
{
    size_t low = 0, high = table != NULL ? table->count : 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        nm_module *module = &table->modules[middle];

        if (address < module->begin)
            high = middle;
        else if (address >= module->end)
            low = middle + 1;
        else
            return module;
    }
    return NULL;
}

/* Copies what the kernel can read of others' memory. Where it refuses to be asked, the mappings are believed. */
static size_t copy_from(uintptr_t address, void *to, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *)address, bytes};
    int pid = nm_process_state.pid != 0 ? nm_process_state.pid : nm_system_pid(); /* one that has joined knows it */
    long got = nm_call(SYS_process_vm_readv, pid, (long)&here, 1, (long)&there, 1, 0);

    if (got >= 0)
        return (size_t)got;
    if (got == -EFAULT)
        return 0;
    memcpy(to, (const void *)address, bytes);
    return bytes;
}

/* At first sight. Of several threads that do this all store the same. */
static void find_index(nm_module *module, nm_unwind_image *image, uint8_t head[NM_THREAD_HEAD_BYTES])
{
    bool is_inside = module->base >= image->begin && module->base < image->end;
    size_t bytes = is_inside ? image->end - module->base : 0;
    uint64_t begin[2];
    uintptr_t index;

    if (bytes > 0)
        bytes = copy_from(module->base, head, bytes < NM_THREAD_HEAD_BYTES ? bytes : NM_THREAD_HEAD_BYTES);
    index = nm_unwind_find_index(image, head, bytes, module->base, &image->index_bytes);
    if (index != 0 && copy_from(index, begin, sizeof begin) < sizeof begin)
        index = 0;
    if (index == 0)
        begin[0] = begin[1] = 0;
    /* relaxed: the index publishes them; release: pairs with the load in nm_modules_open. */
    atomic_store_explicit(&module->index_bytes, image->index_bytes, memory_order_relaxed);
    atomic_store_explicit(&module->index_head[0], begin[0], memory_order_relaxed);
    atomic_store_explicit(&module->index_head[1], begin[1], memory_order_relaxed);
    atomic_store_explicit(&module->index, index == 0 ? INDEX_NONE : index, memory_order_release);
}

bool nm_modules_open(nm_module *module, uint8_t head[NM_THREAD_HEAD_BYTES], nm_unwind_image *image)
{
    uint64_t begin[2];

    *image = (nm_unwind_image){.begin = module->image_begin, .end = module->image_end};
    /* acquire, both: what else is known of it, which is relaxed then. */
    if (atomic_load_explicit(&module->index, memory_order_acquire) == 0)
        find_index(module, image, head);
    image->index = atomic_load_explicit(&module->index, memory_order_acquire);
    image->index_bytes = atomic_load_explicit(&module->index_bytes, memory_order_relaxed);
    return image->index != INDEX_NONE && copy_from(image->index, begin, sizeof begin) == sizeof begin &&
           begin[0] == atomic_load_explicit(&module->index_head[0], memory_order_relaxed) &&
           begin[1] == atomic_load_explicit(&module->index_head[1], memory_order_relaxed);
}

/* Describes a module, once in every ring that refers to it: so its record always precedes the stack that needs it. Code
 * that no file holds (made at run time) has no module to name. */
static void send_module(nm_recorded_thread *thread, const nm_module_table *table, const nm_module *module)
{
    size_t index = (size_t)(module - table->modules);
    nm_ring_module record;

    if (module->path_bytes == 0)
        return;
    if (thread->module_generation != table->generation) {
        memset(thread->sent_modules, 0, sizeof thread->sent_modules);
        thread->module_generation = table->generation;
    }
    if (index < NM_THREAD_MODULES_MAX && (thread->sent_modules[index / 64] >> (index % 64) & 1) != 0)
        return;
    record = (nm_ring_module){
        .base = module->base,
        .bytes = module->end - module->base,
        .inode = module->inode,
        .device = module->device,
        .text_bytes = module->path_bytes,
    };
    if (nm_writer_define(thread, NM_RING_MODULE, &record, sizeof record, module->path, module->path_bytes) &&
        index < NM_THREAD_MODULES_MAX)
        thread->sent_modules[index / 64] |= UINT64_C(1) << (index % 64);
}

#if defined(__x86_64__)
/* `code` is the 8 bytes before a return address and the 8 behind: E8 disp32, or FF /2 of any length. */
static bool follows_call(const uint8_t *code)
{
    static const uint8_t sigreturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00};

    if (code[3] == 0xe8)
        return true;
    for (unsigned len = 2; len <= 7; len++) {
        const uint8_t *at = code + CODE_BEFORE_BYTES - len;
        unsigned mod = at[1] >> 6, rm = at[1] & 7, expected = 2;

        if (at[0] != 0xff || (at[1] & 0x38) != 0x10)
            continue;
        if (mod != 3 && rm == 4)
            expected++;
        if (mod == 1)
            expected++;
        else if (mod == 2 || (mod == 0 && (rm == 5 || (rm == 4 && len > 2 && (at[2] & 7) == 5))))
            expected += 4;
        if (expected == len)
            return true;
    }
    /* The frame of a signal handler returns here, and nothing called it. */
    return memcmp(code + CODE_BEFORE_BYTES, sigreturn, sizeof sigreturn) == 0;
}
#else
static bool follows_call(const uint8_t *code)
{
    uint32_t before, behind;

    memcpy(&before, code + CODE_BEFORE_BYTES - 4, 4);
    memcpy(&behind, code + CODE_BEFORE_BYTES, 4);
    /* bl; blr and its authenticated forms; mov x8, #139, where the frame of a signal handler returns. */
    return (before & 0xfc000000) == 0x94000000 || (before & 0xfefff000) == 0xd63f0000 || behind == 0xd2801168;
}
#endif

/* How many of `count` (at most CODE_BATCH) addresses follow a call. The code is read by the kernel: were it unmapped by
 * another thread just now, a read of our own would be fatal. Where that is not allowed, all are believed. */
static unsigned check_calls(const uint64_t *addresses, unsigned count)
{
    uint8_t code[CODE_BATCH][CODE_BYTES];
    struct iovec here = {code, count * CODE_BYTES};
    struct iovec there[CODE_BATCH];
    long got;

    for (unsigned i = 0; i < count; i++)
        there[i] = (struct iovec){(void *)(uintptr_t)(addresses[i] - CODE_BEFORE_BYTES), CODE_BYTES};
    got = nm_call(SYS_process_vm_readv, nm_system_pid(), (long)&here, 1, (long)there, count, 0);
    if (got < 0)
        return count;
    for (unsigned i = 0; i < count; i++) {
        if ((size_t)got < (i + 1) * CODE_BYTES)
            return count; /* a hole in the code: no reason to doubt */
        if (!follows_call(code[i]))
            return i;
    }
    return count;
}

/* `bytes` of the module at an address; false: they are not to be had. */
static bool read_code(const nm_module *module, uintptr_t address, void *code, size_t bytes)
{
    return address >= module->image_begin && address < module->image_end && module->image_end - address >= bytes &&
           copy_from(address, code, bytes) == bytes;
}

bool nm_modules_follows_call(const nm_module *module, uintptr_t address)
{
    uint8_t code[CODE_BYTES];

    return !read_code(module, address - CODE_BEFORE_BYTES, code, sizeof code) || follows_call(code);
}

bool nm_modules_is_sigreturn(const nm_module *module, uintptr_t address)
{
#if defined(__x86_64__)
    static const uint8_t expected[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00,
                                       0x00, 0x00, 0x0f, 0x05}; /* mov $15, %rax; syscall */
#else
    static const uint8_t expected[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4}; /* mov x8, #139; svc #0 */
#endif
    uint8_t code[sizeof expected];

    return read_code(module, address, code, sizeof code) && memcmp(code, expected, sizeof code) == 0;
}

static unsigned check_all_calls(const uint64_t *addresses, unsigned count)
{
    for (unsigned done = 0; done < count; done += CODE_BATCH) {
        unsigned batch = count - done < CODE_BATCH ? count - done : CODE_BATCH;
        unsigned good = check_calls(addresses + done, batch);

        if (good < batch)
            return done + good;
    }
    return count;
}

/* How many of the addresses lie in known code, from the innermost on. */
static unsigned count_known(nm_module_table *table, const uint64_t *addresses, unsigned count)
{
    unsigned known = 0;

    while (known < count && nm_modules_find(table, addresses[known] - 1) != NULL)
        known++;
    return known;
}

unsigned nm_modules_check(nm_recorded_thread *thread, const uint64_t *addresses, unsigned count, bool is_by_rules,
                          bool *is_certain)
{
    nm_module_table *table = nm_modules_hold(thread);
    unsigned known = is_by_rules ? count : count_known(table, addresses, count);
    /* relaxed: a time. */
    int64_t age_ns = nm_system_now_ns() - atomic_load_explicit(&last_scan_ns, memory_order_relaxed);

    if (known < count || age_ns > SCAN_AGE_NS) {
        nm_modules_release(thread);
        *is_certain = scan() || known == count;
        table = nm_modules_hold(thread);
        known = is_by_rules ? count : count_known(table, addresses, count);
    }
    if (!is_by_rules)
        known = check_all_calls(addresses, known);
    for (unsigned i = 0; i < known; i++) {
        const nm_module *module = nm_modules_find(table, addresses[i] - 1);

        if (module != NULL)
            send_module(thread, table, module);
    }
    nm_modules_release(thread);
    return known == 0 && count > 0 ? 1 : known; /* the caller is a fact, whatever code it is */
}
