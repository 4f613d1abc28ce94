/* SPDX-License-Identifier: Apache-2.0
 *
 * A message is known by words of it that only it has; figures are known by the words beside them, wherever they stand, so that a
 * version that leaves one out or adds one is read as well.
 */
#include "source/log_failure.h"

#include <ctype.h>
#include <string.h>

#include "trace/event.h"

#define ERROR_OOM_NPU     207001 /* ACL_ERROR_RT_MEMORY_ALLOCATION */
#define ERROR_OOM_GPU     2      /* cudaErrorMemoryAllocation */
#define MESSAGE_BYTES_MAX 4096   /* behind its first words */
#define DIGITS_MAX        18
#define BYTES_MAX         (UINT64_C(1) << 44)

static nm_bytes from(nm_bytes text, size_t at)
{
    return at >= text.len ? (nm_bytes){text.data + text.len, 0} : (nm_bytes){text.data + at, text.len - at};
}

static bool begins(nm_bytes text, const char *with)
{
    return text.len >= strlen(with) && memcmp(text.data, with, strlen(with)) == 0;
}

static bool ends(nm_bytes text, const char *with)
{
    return text.len >= strlen(with) && memcmp(text.data + text.len - strlen(with), with, strlen(with)) == 0;
}

/* Where the words stand; text.len: nowhere. */
static size_t find(nm_bytes text, const char *words)
{
    const uint8_t *found = text.len == 0 ? NULL : memmem(text.data, text.len, words, strlen(words));

    return found == NULL ? text.len : (size_t)(found - text.data);
}

static bool has(nm_bytes text, const char *words)
{
    return find(text, words) < text.len;
}

/* ---- Figures ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    uint64_t bytes;
} units[] = {
    {"bytes", 1},
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"TiB", UINT64_C(1) << 40},
    {"KB", UINT64_C(1) << 10},
    {"MB", UINT64_C(1) << 20},
    {"GB", UINT64_C(1) << 30},
    {"B", 1},
};

/* Digits and decimals as a whole number of 10^-decimals. Gives the length. */
static size_t read_decimal(nm_bytes text, uint64_t *number, uint64_t *scale)
{
    size_t at = 0;
    bool has_point = false;

    *number = 0;
    *scale = 1;
    for (size_t digits = 0; at < text.len && digits < DIGITS_MAX; at++) {
        if (text.data[at] == '.' && !has_point && digits > 0 && at + 1 < text.len && isdigit(text.data[at + 1])) {
            has_point = true;
            continue;
        }
        if (!isdigit(text.data[at]))
            break;
        *number = *number * 10 + (uint64_t)(text.data[at] - '0');
        *scale *= has_point ? 10 : 1;
        digits++;
    }
    return at < text.len && isdigit(text.data[at]) ? 0 : at;
}

size_t nm_log_amount_read(nm_bytes text, nm_log_amount *out)
{
    uint64_t number, scale, unit = 1;
    size_t at = read_decimal(text, &number, &scale);
    size_t behind = at + (at < text.len && text.data[at] == ' ');

    *out = (nm_log_amount){0};
    if (at == 0)
        return 0;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (begins(from(text, behind), units[i].text)) {
            unit = units[i].bytes;
            at = behind + strlen(units[i].text);
            break;
        }
    unsigned __int128 bytes = (unsigned __int128)number * unit / scale;
    if (bytes > BYTES_MAX)
        return 0;
    *out = (nm_log_amount){.bytes = (uint64_t)bytes, .doubt_bytes = unit == 1 ? 0 : unit / scale / 2, .is_known = true};
    return at;
}

static bool whole_number(nm_bytes text, int64_t *out)
{
    uint64_t number, scale;

    if (read_decimal(text, &number, &scale) == 0 || scale != 1 || number > BYTES_MAX)
        return false;
    *out = (int64_t)number;
    return true;
}

/* The whole number behind the words, and what stands between: "size:12", "size[12]", "device_id = 3". */
static bool number_behind(nm_bytes text, const char *words, int64_t *out)
{
    for (size_t at; (at = find(text, words)) < text.len;) {
        text = from(text, at + strlen(words));
        size_t gap = 0;

        while (gap < text.len && text.data[gap] != 0 && strchr(" :=[(", text.data[gap]) != NULL)
            gap++;
        if (whole_number(from(text, gap), out))
            return true;
    }
    return false;
}

static void amount_behind(nm_bytes text, const char *words, nm_log_amount *out)
{
    int64_t number;

    if (number_behind(text, words, &number))
        *out = (nm_log_amount){.bytes = (uint64_t)number, .is_known = true};
}

static void add(nm_log_amount *to, const nm_log_amount *more)
{
    if (!more->is_known)
        return;
    to->bytes += more->bytes;
    to->doubt_bytes += more->doubt_bytes;
    to->is_known = true;
}

/* ---- PyTorch and torch_npu --------------------------------------------------------------------------------------- */

typedef enum figure { CAPACITY, FREE, ALLOCATED, ACTIVE, RESERVED, IDLE, OWN, FIGURE_COUNT } figure;

/* What stands before and behind a figure. */
static const struct {
    const char *before, *behind;
    figure figure;
} figures[] = {
    {"", " total capacity", CAPACITY},
    {"total capacity of ", "", CAPACITY},
    {"total capacty of ", "", CAPACITY}, /* as torch 2.1 wrote it */
    {"", " already allocated", ALLOCATED},
    {"", " is allocated by PyTorch", ALLOCATED}, /* with private pools */
    {"", " current active", ACTIVE},
    {"", " reserved in total by PyTorch", RESERVED},
    {"", " cached", IDLE}, /* before torch 1.4 */
    {"", " is reserved by PyTorch but unallocated", IDLE},
    {"", " is free", FREE},
    {"", " free;", FREE},
    {"", " free)", FREE},
    {"this process has ", " memory in use", OWN},
};

static void note_process(nm_bytes before, const nm_log_amount *used, nm_log_failure *out)
{
    size_t begin = before.len - strlen(" has ");
    int64_t pid = 0;

    for (size_t digits = 0; begin > 0 && isdigit(before.data[begin - 1]) && digits < DIGITS_MAX; digits++)
        begin--;
    nm_bytes digits = {before.data + begin, before.len - strlen(" has ") - begin};
    if (!ends((nm_bytes){before.data, begin}, "Process ") || !whole_number(digits, &pid))
        return;
    if (out->process_count < NM_LOG_PROCESSES_MAX) {
        out->processes[out->process_count].pid = pid;
        out->processes[out->process_count].used = *used;
    }
    out->process_count++;
}

static void note_figure(nm_bytes before, nm_bytes behind, const nm_log_amount *amount, nm_log_amount *to,
                        nm_log_failure *out)
{
    if (ends(before, " has ") && begins(behind, " memory in use") && !ends(before, "this process has "))
        note_process(before, amount, out);
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        if (!to[figures[i].figure].is_known && ends(before, figures[i].before) && begins(behind, figures[i].behind))
            to[figures[i].figure] = *amount;
}

/* "NPU 3", "GPU 0": which device. */
static void read_device(nm_bytes text, nm_log_failure *out)
{
    static const char *const words[] = {"NPU ", "GPU ", "XPU ", "device "};

    for (size_t i = 0; i < sizeof words / sizeof words[0] && out->device == NM_UNKNOWN_NUMBER; i++)
        number_behind(text, words[i], &out->device);
}

/* `text` is what stands behind "Tried to allocate ". */
static void read_torch(nm_bytes text, nm_log_failure *out)
{
    nm_log_amount found[FIGURE_COUNT] = {0}, amount;
    size_t at = nm_log_amount_read(text, &out->tried);

    read_device(text, out);
    while (at < text.len) {
        size_t len = isdigit(text.data[at]) ? nm_log_amount_read(from(text, at), &amount) : 0;

        if (len > 0)
            note_figure((nm_bytes){text.data, at}, from(text, at + len), &amount, found, out);
        for (at += len > 0 ? len : 1; at < text.len && isalnum(text.data[at - 1]) && isdigit(text.data[at]);)
            at++; /* the rest of a word or a number */
    }
    out->capacity = found[CAPACITY];
    out->free = found[FREE];
    out->allocated = found[ALLOCATED];
    out->active = found[ACTIVE];
    out->reserved = found[RESERVED];
    out->own = found[OWN];
    if (!out->reserved.is_known && out->allocated.is_known && found[IDLE].is_known) {
        add(&out->reserved, &found[ALLOCATED]);
        add(&out->reserved, &found[IDLE]);
    }
}

static bool is_torch(nm_bytes line, size_t *at, nm_log_failure *out)
{
    static const char words[] = " out of memory. Tried to allocate ";
    size_t found = find(line, words);

    if (found == line.len)
        return false;
    nm_bytes before = {line.data, found}, text = from(line, found + strlen(words));
    size_t next = find(text, words);
    text.len = next < MESSAGE_BYTES_MAX ? next : text.len < MESSAGE_BYTES_MAX ? text.len : MESSAGE_BYTES_MAX;
    bool is_npu = ends(before, "NPU");

    *at = found + strlen(words) + text.len;
    out->at = found;
    out->form = NM_LOG_POOL;
    out->pool = "caching pool";
    out->device_kind = is_npu ? "npu" : "gpu";
    out->error_code = is_npu                                        ? ERROR_OOM_NPU
                      : ends(before, "CUDA") || ends(before, "HIP") ? ERROR_OOM_GPU
                                                                    : NM_UNKNOWN_NUMBER;
    read_torch(text, out);
    return true;
}

/* ---- The driver's own --------------------------------------------------------------------------------------------- */

/* Is 207001 there as a number, and as what a call returned? */
static bool has_code(nm_bytes line)
{
    static const char *const words[] = {"ret", "result", "error code", "errno", "errorCode", "code is"};
    size_t at = find(line, "207001"), end = at + strlen("207001");

    if (at == line.len || (at > 0 && isdigit(line.data[at - 1])) || (end < line.len && isdigit(line.data[end])))
        return false;
    nm_bytes before = {line.data, at};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (has(before, words[i]))
            return true;
    return false;
}

/* CANN names who asked: "memory requested by GE module". */
static int64_t module_of(nm_bytes line)
{
    static const struct {
        const char *words;
        int64_t module;
    } modules[] = {{"requested by GE module", 45}, {"requested by HCCL module", 3}, {"requested by RUNTIME module", 7}};

    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++)
        if (has(line, modules[i].words))
            return modules[i].module;
    return 0;
}

static void read_driver_device(nm_bytes line, nm_log_failure *out)
{
    static const char *const words[] = {"device_id", "deviceId", "Device:", "device(", "Device "};

    for (size_t i = 0; i < sizeof words / sizeof words[0] && out->device == NM_UNKNOWN_NUMBER; i++)
        number_behind(line, words[i], &out->device);
}

static bool is_cann(nm_bytes line, nm_log_failure *out)
{
    bool is_call = ((has(line, "rtMalloc") && !has(line, "MallocHost")) || has(line, "MemAlloc") ||
                    has(line, "alloc device memory")) &&
                   has(line, "fail");

    if (!is_call && !has_code(line) && !has(line, "EL0004"))
        return false;
    out->form = NM_LOG_DRIVER;
    out->device_kind = "npu";
    out->error_code = ERROR_OOM_NPU;
    out->module = module_of(line);
    amount_behind(line, "size", &out->tried);
    amount_behind(line, "Available HBM size", &out->capacity);
    amount_behind(line, "free size", &out->free);
    read_driver_device(line, out);
    return true;
}

static bool is_gpu_driver(nm_bytes line, nm_log_failure *out)
{
    if (!has(line, "CUDA error: out of memory") && !has(line, "HIP error: out of memory"))
        return false;
    out->form = NM_LOG_DRIVER;
    out->device_kind = "gpu";
    out->error_code = ERROR_OOM_GPU;
    return true;
}

/* ---- Pools of a fixed size ------------------------------------------------------------------------------------------ */

static bool is_mindspore(nm_bytes line, nm_log_failure *out)
{
    nm_log_amount waiting = {0};

    if (has(line, "is more than total mem size")) {
        out->form = NM_LOG_FIXED;
        amount_behind(line, "TotalUsedMemStatistics", &out->allocated);
        amount_behind(line, "TotalUsedByEventMemStatistics", &waiting);
        add(&out->allocated, &waiting);
        amount_behind(line, "total mem size", &out->reserved);
    } else if (has(line, "emory isn't enough and alloc failed")) {
        out->form = NM_LOG_POOL;
        number_behind(line, "Device(id:", &out->device);
    } else {
        return false;
    }
    out->pool = "MindSpore pool";
    out->device_kind = "npu";
    amount_behind(line, "alloc size", &out->tried);
    return true;
}

/* What stands between the last bracket before the words and them. */
static void amount_before(nm_bytes line, size_t at, nm_log_amount *out)
{
    size_t begin = at;

    while (begin > 0 && at - begin < 32 && line.data[begin - 1] != '(')
        begin--;
    nm_log_amount_read(from(line, begin), out);
}

static bool is_server(nm_bytes line, nm_log_failure *out)
{
    static const char needed[] = " KV cache is needed", has_it[] = "available KV cache memory (";
    static const char little[] = "is less than desired GPU memory utilization (";
    size_t at;

    out->form = NM_LOG_FIXED;
    out->pool = "KV cache";
    out->device_kind = "device";
    if ((at = find(line, needed)) < line.len && has(line, has_it)) {
        amount_before(line, at, &out->tried);
        nm_log_amount_read(from(line, find(line, has_it) + strlen(has_it)), &out->reserved);
        return true;
    }
    if (has(line, "No available memory for the cache blocks")) {
        out->reserved.is_known = true;
        return true;
    }
    if ((at = find(line, little)) == line.len)
        return false;
    out->form = NM_LOG_POOL; /* "(1.2/29.5 GiB) on startup is less than ... (0.9, 26.5 GiB)": it has nothing by then */
    out->pool = "server";
    out->reserved.is_known = true;
    nm_bytes wanted = from(line, at + strlen(little));
    nm_log_amount_read(from(wanted, find(wanted, ", ") + strlen(", ")), &out->tried);
    nm_bytes had = from(line, find(line, "Free memory on device"));
    had = from(had, find(had, "(") + 1);
    size_t slash = find(had, "/");
    nm_log_amount_read(from(had, slash + 1), &out->capacity);
    nm_log_amount_read(had, &out->free); /* in the unit of what stands behind it */
    if (out->free.is_known && out->capacity.is_known && out->capacity.doubt_bytes > 0) {
        uint64_t number, scale;

        read_decimal(had, &number, &scale);
        out->free.bytes = (uint64_t)((unsigned __int128)number * (UINT64_C(1) << 30) / scale);
        out->free.doubt_bytes = (UINT64_C(1) << 30) / scale / 2;
    }
    return true;
}

/* ---- All of them ----------------------------------------------------------------------------------------------------- */

bool nm_log_failure_read(nm_bytes line, size_t *at, nm_log_failure *out)
{
    bool is_one = false;

    line = from(line, *at);
    if (!has(line, "emory") && !has(line, "alloc") && !has(line, "207001") && !has(line, "mem size"))
        return false;
    const nm_log_failure none = {.device = NM_UNKNOWN_NUMBER, .error_code = NM_UNKNOWN_NUMBER};
    size_t end = line.len;

    *out = none;
    if (!(is_one = is_torch(line, &end, out))) {
        is_one = is_mindspore(line, out) || (*out = none, is_server(line, out)) || (*out = none, is_cann(line, out)) ||
                 (*out = none, is_gpu_driver(line, out));
    }
    out->at += *at;
    *at += is_one ? end : 0;
    return is_one;
}
