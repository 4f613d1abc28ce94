/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks through the environment itself: libc's functions for it may take a lock. One record for each variable on the
 * list, into the ring of the thread that first records something, cut like every text of a ring; of one that holds a
 * secret only that it is set.
 */
#include "record/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/secret.h"
#include "record/writer.h"
#include "trace/event.h"

/* Names; one that ends in '_' stands for all that begin so. */
static const char *const names[] = {
    "PYTORCH_NPU_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_NO_NPU_MEMORY_CACHING",
    "TASK_QUEUE_ENABLE",
    "COMBINED_ENABLE",
    "MULTI_STREAM_MEMORY_REUSE",
    "OOM_SNAPSHOT_ENABLE",
    "HCCL_",
    "ASCEND_",
    "CUDA_VISIBLE_DEVICES",
    "OMP_NUM_THREADS",
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "RANK_ID",
    "RANK_SIZE",
    "OMPI_COMM_WORLD_",
    "PMI_RANK",
    "PMI_SIZE",
    "SLURM_PROCID",
    "SLURM_LOCALID",
    "SLURM_NTASKS",
    "SLURM_JOB_ID",
    "SLURM_JOB_NAME",
    "VC_JOB_NAME",
    "TORCHELASTIC_RUN_ID",
    "MEGATRON_LM_PP_DEGREE",
};

static bool is_listed(const char *entry, size_t name_bytes)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len = strlen(names[i]);
        bool is_prefix = names[i][len - 1] == '_';

        if ((is_prefix ? name_bytes >= len : name_bytes == len) && memcmp(entry, names[i], len) == 0)
            return true;
    }
    return false;
}

void nm_attributes_tell(nm_recorded_thread *thread)
{
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        size_t name_bytes = strcspn(*entry, "=");
        nm_ring_text record = {.detail = NM_ATTRIBUTE_ENVIRONMENT,
                               .text_bytes = strnlen(*entry, NM_RING_TEXT_BYTES_MAX)};

        if ((*entry)[name_bytes] != '=' || !is_listed(*entry, name_bytes))
            continue;
        if (nm_secret_is_in_text(*entry, strlen(*entry))) /* that it is set may be known */
            record.text_bytes = name_bytes + 1;
        nm_writer_define(thread, NM_RING_ATTRIBUTE, &record, sizeof record, *entry, record.text_bytes);
    }
}
