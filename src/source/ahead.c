/* SPDX-License-Identifier: Apache-2.0
 *
 * Records go over in batches, each with the bytes that its records borrow. The thread fills what is free, and waits when all
 * batches are full; how a batch ended goes with it, so that an error comes behind the records before it.
 */
#include "source/ahead.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

#define BATCH_COUNT   8
#define BATCH_RECORDS 256
#define BATCH_BYTES   (64u << 10) /* of strings; one that is longer has a batch of its own */

typedef struct record_batch {
    nm_record records[BATCH_RECORDS];
    size_t count;
    nm_buffer bytes; /* owned; stays where it is while the batch is filled */
    uint64_t position;
    nm_status status; /* what came behind the records; NM_OK: more records */
    nm_error err;
} record_batch;

typedef struct ahead_source {
    nm_source base;
    nm_source *inner; /* owned; the thread's, until it has ended */
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* for the counts and is_stopping */
    pthread_cond_t has_full, has_free;
    uint64_t filled_count, emptied_count; /* of batches, since the beginning: number modulo BATCH_COUNT is its place */
    bool is_stopping;
    size_t at;   /* in the batch that is being emptied */
    bool is_any; /* there is one */
    nm_record held;
    bool has_held; /* the thread's: it was read, and the batch had no room for it */
    record_batch batches[BATCH_COUNT];
} ahead_source;

/* ---- The thread's side ------------------------------------------------------------------------------------------- */

/* What a record borrows; NULL: nothing. */
static nm_bytes *bytes_of(nm_record *record)
{
    if (record->kind != NM_RECORD_DEFINITION)
        return NULL;
    return record->definition.kind == NM_DEFINE_STRING   ? &record->definition.string
           : record->definition.kind == NM_DEFINE_MODULE ? &record->definition.module.build_id
                                                         : NULL;
}

/* Takes over what the record behind the others borrows. False: there is no room, and the batch is not empty. */
static bool keep_bytes(record_batch *batch)
{
    nm_bytes *bytes = bytes_of(&batch->records[batch->count]);

    if (bytes == NULL || bytes->len == 0)
        return true;
    if (batch->bytes.cap - batch->bytes.len < bytes->len) {
        if (batch->count > 0)
            return false;
        batch->status = nm_buffer_reserve(&batch->bytes, bytes->len, &batch->err);
        if (batch->status != NM_OK)
            return true;
    }
    memcpy(batch->bytes.data + batch->bytes.len, bytes->data, bytes->len);
    bytes->data = batch->bytes.data + batch->bytes.len;
    batch->bytes.len += bytes->len;
    return true;
}

static void fill_batch(ahead_source *source, record_batch *batch)
{
    batch->count = 0;
    batch->bytes.len = 0;
    batch->status = nm_buffer_reserve(&batch->bytes, BATCH_BYTES, &batch->err);
    while (batch->status == NM_OK && batch->count < BATCH_RECORDS) {
        nm_record *record = &batch->records[batch->count];

        if (source->has_held)
            *record = source->held;
        else
            batch->status = nm_source_next(source->inner, record, &batch->err);
        if (batch->status != NM_OK)
            break;
        source->has_held = !keep_bytes(batch);
        if (source->has_held) {
            source->held = *record;
            break;
        }
        batch->count += batch->status == NM_OK;
    }
    batch->position = nm_source_position(source->inner);
}

static void *serve(void *context)
{
    ahead_source *source = context;
    bool is_over = false;

    pthread_mutex_lock(&source->lock);
    while (!is_over) {
        while (source->filled_count - source->emptied_count == BATCH_COUNT && !source->is_stopping)
            pthread_cond_wait(&source->has_free, &source->lock);
        if (source->is_stopping)
            break;
        record_batch *batch = &source->batches[source->filled_count % BATCH_COUNT];
        pthread_mutex_unlock(&source->lock);
        fill_batch(source, batch);
        is_over = batch->status != NM_OK;
        pthread_mutex_lock(&source->lock);
        source->filled_count++;
        pthread_cond_signal(&source->has_full);
    }
    pthread_mutex_unlock(&source->lock);
    return NULL;
}

/* ---- The caller's side ------------------------------------------------------------------------------------------- */

static void end_thread(ahead_source *source)
{
    if (!source->has_thread)
        return;
    pthread_mutex_lock(&source->lock);
    source->is_stopping = true;
    pthread_cond_signal(&source->has_free);
    pthread_mutex_unlock(&source->lock);
    pthread_join(source->thread, NULL);
    source->has_thread = false;
}

static void wait_for_batch(ahead_source *source)
{
    pthread_mutex_lock(&source->lock);
    if (source->is_any) {
        source->emptied_count++;
        pthread_cond_signal(&source->has_free);
    }
    while (source->filled_count == source->emptied_count)
        pthread_cond_wait(&source->has_full, &source->lock);
    pthread_mutex_unlock(&source->lock);
    source->is_any = true;
    source->at = 0;
}

static record_batch *batch_at_hand(ahead_source *source)
{
    return &source->batches[source->emptied_count % BATCH_COUNT];
}

static nm_status ahead_next(nm_source *base, nm_record *out, nm_error *err)
{
    ahead_source *source = (ahead_source *)base;
    record_batch *batch = batch_at_hand(source);

    while (!source->is_any || (source->at == batch->count && batch->status == NM_OK)) {
        wait_for_batch(source);
        batch = batch_at_hand(source);
    }
    if (source->at < batch->count) {
        *out = batch->records[source->at++];
        return NM_OK;
    }
    end_thread(source);
    if (err != NULL && batch->status != NM_END)
        *err = batch->err;
    return batch->status;
}

static void ahead_summary(const nm_source *base, nm_source_summary_data *out)
{
    const ahead_source *source = (const ahead_source *)base;

    assert(!source->has_thread);
    nm_source_summary(source->inner, out);
}

static uint64_t ahead_position(const nm_source *base)
{
    const ahead_source *source = (const ahead_source *)base;

    return source->is_any ? source->batches[source->emptied_count % BATCH_COUNT].position : 0;
}

static void ahead_close(nm_source *base)
{
    ahead_source *source = (ahead_source *)base;

    end_thread(source);
    nm_source_close(source->inner);
    for (size_t i = 0; i < BATCH_COUNT; i++)
        nm_buffer_free(&source->batches[i].bytes);
    pthread_cond_destroy(&source->has_free);
    pthread_cond_destroy(&source->has_full);
    pthread_mutex_destroy(&source->lock);
    free(source);
}

static const nm_source_type ahead_type = {
    .name = "read ahead",
    .next = ahead_next,
    .summary = ahead_summary,
    .position = ahead_position,
    .close = ahead_close,
};

nm_status nm_source_read_ahead(nm_source **source, nm_error *err)
{
    ahead_source *ahead = calloc(1, sizeof *ahead);
    sigset_t all, before;

    if (ahead == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    ahead->base.type = &ahead_type;
    ahead->inner = *source;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->has_full, NULL);
    pthread_cond_init(&ahead->has_free, NULL);
    sigfillset(&all); /* signals are for the thread that knows what to do with them */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    ahead->has_thread = pthread_create(&ahead->thread, NULL, serve, ahead) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ahead->has_thread) {
        *source = &ahead->base;
        return NM_OK;
    }
    ahead->inner = NULL;
    ahead_close(&ahead->base);
    return NM_OK;
}
