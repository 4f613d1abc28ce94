/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of HCCL: of a communicator that was made with a description, or a name, it is told once what it is for, how many
 * ranks it has and which of them the process is. Equal ones may be told twice, and a communicator without either is not. No
 * guard is held meanwhile: the buffers that HCCL takes for it are recorded as ever.
 */
#include <stdatomic.h>
#include <string.h>

#include "hook/hook.h"

#define TOLD_COUNT_MAX 256 /* of a process */
#define DIGITS_MAX     10

static _Atomic uint32_t told_count;

static char *put_text(char *at, const char *text, size_t bytes)
{
    memcpy(at, text, bytes);
    return at + bytes;
}

static char *put_number(char *at, uint32_t number)
{
    char digits[DIGITS_MAX];
    size_t begin = sizeof digits;

    do
        digits[--begin] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    return put_text(at, digits + begin, sizeof digits - begin);
}

/* "DESCRIPTION=rank R of N": the first equals sign is ours. */
static void tell(const char *what, size_t what_bytes, uint32_t size, uint32_t rank)
{
    char text[sizeof((nm_hccl_config *)0)->description + sizeof "=rank  of " + (size_t)2 * DIGITS_MAX];
    char *at = put_text(text, what, what_bytes);

    for (char *equals = text; (equals = memchr(equals, '=', (size_t)(at - equals))) != NULL;)
        *equals = '-';
    at = put_text(at, "=rank ", strlen("=rank "));
    at = put_number(at, rank);
    at = put_text(at, " of ", strlen(" of "));
    at = put_number(at, size);
    *at = '\0';
    nm_record_attribute(NM_ATTRIBUTE_HCCL, text);
}

static void tell_made(const nm_hccl_config *config, uint32_t size, uint32_t rank)
{
    const char *what;
    size_t bytes;

    if (!nm_record_is_on() || config == NULL || config->size < sizeof *config || config->magic != HCCL_CONFIG_MAGIC)
        return;
    what = config->description[0] != '\0' ? config->description : config->name;
    bytes = strnlen(what, sizeof config->description);
    /* relaxed: a bound; a few more by threads at once do no harm. */
    if (bytes == 0 || atomic_load_explicit(&told_count, memory_order_relaxed) >= TOLD_COUNT_MAX)
        return;
    atomic_fetch_add_explicit(&told_count, 1, memory_order_relaxed);
    tell(what, bytes, size, rank);
}

nm_acl_error HcclCommInitRootInfoConfig(uint32_t size, const void *root, uint32_t rank, const nm_hccl_config *config,
                                        void **made)
{
    NEED_OR(HcclCommInitRootInfoConfig, HCCL_E_NOT_SUPPORT);
    nm_acl_error error = nm_real.HcclCommInitRootInfoConfig(size, root, rank, config, made);

    if (error == 0)
        tell_made(config, size, rank);
    return error;
}

nm_acl_error HcclCreateSubCommConfig(void **whole, uint32_t size, uint32_t *ranks, uint64_t number, uint32_t rank,
                                     nm_hccl_config *config, void **made)
{
    NEED_OR(HcclCreateSubCommConfig, HCCL_E_NOT_SUPPORT);
    nm_acl_error error = nm_real.HcclCreateSubCommConfig(whole, size, ranks, number, rank, config, made);

    if (error == 0)
        tell_made(config, size, rank);
    return error;
}
