/* SPDX-License-Identifier: Apache-2.0
 *
 * Questions in, answers out, and one thread between. Files stay open once they were asked about.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buffer.h"
#include "base/door.h"
#include "base/strings.h"
#include "symbol/symbol.h"

typedef struct queued_question {
    uint64_t ticket, inode, offset;
    uint32_t path; /* string */
    bool is_module;
} queued_question;

typedef struct queued_answer {
    uint64_t ticket;
    bool is_module;
    nm_symbol_list places; /* owned */
    nm_bytes build_id;     /* owned by the file, which stays open */
} queued_answer;

struct nm_symbols {
    pthread_t thread;
    time_t started; /* wall clock */
    pthread_mutex_t lock;
    pthread_cond_t has_question;
    bool is_ending;

    /* Under the lock. */
    nm_strings paths;
    queued_question *questions;
    size_t question_first, question_count, question_capacity;
    queued_answer *answers;
    size_t answer_first, answer_count, answer_capacity;
    size_t waiting;

    queued_answer polled; /* the caller's */

    /* The thread's. */
    nm_symbol_file **files; /* by path number - 1; NULL: not there */
    bool *is_opened;
    size_t file_capacity, opened_capacity;
};

/* ---- The thread ---------------------------------------------------------------------------------------------------- */

/* Another file under the same name would give wrong names. Inode numbers alone do not tell: an overlay shows other ones
 * in a mapping than for the path. But a file that was there before the recording began was not replaced since. */
static bool is_same_file(const nm_symbols *symbols, const char *path, uint64_t inode)
{
    struct stat info;

    if (!nm_door_look(path, &info) || !S_ISREG(info.st_mode))
        return false;
    return inode == 0 || info.st_ino == inode || info.st_ctime < symbols->started;
}

static nm_symbol_file *find_file(nm_symbols *symbols, const queued_question *question, const char *path)
{
    size_t index = question->path - 1;

    if (nm_array_grow(&symbols->files, &symbols->file_capacity, index + 1, sizeof *symbols->files, NULL) != NM_OK ||
        nm_array_grow(&symbols->is_opened, &symbols->opened_capacity, index + 1, sizeof *symbols->is_opened, NULL) !=
            NM_OK)
        return NULL;
    if (!symbols->is_opened[index]) {
        symbols->is_opened[index] = true;
        if (is_same_file(symbols, path, question->inode))
            nm_symbol_file_open(path, &symbols->files[index], NULL);
    }
    return symbols->files[index];
}

static queued_answer answer_question(nm_symbols *symbols, const queued_question *question, const char *path)
{
    queued_answer answer = {.ticket = question->ticket, .is_module = question->is_module};
    nm_symbol_file *file = find_file(symbols, question, path);

    if (file != NULL && question->is_module)
        answer.build_id = nm_symbol_file_build_id(file);
    else if (file != NULL)
        nm_symbol_file_find(file, question->offset, &answer.places);
    return answer;
}

/* Under the lock. False: no memory, the answer is dropped. */
static bool push_answer(nm_symbols *symbols, const queued_answer *answer)
{
    if (symbols->answer_first == symbols->answer_count)
        symbols->answer_first = symbols->answer_count = 0;
    if (nm_array_grow(&symbols->answers, &symbols->answer_capacity, symbols->answer_count + 1, sizeof *symbols->answers,
                      NULL) != NM_OK)
        return false;
    symbols->answers[symbols->answer_count++] = *answer;
    return true;
}

/* Under the lock, which is let go while the answer is looked for. */
static void serve_next(nm_symbols *symbols)
{
    queued_question question = symbols->questions[symbols->question_first++];
    nm_bytes text = nm_strings_get(&symbols->paths, question.path);
    char *path = strndup((const char *)text.data, text.len);
    queued_answer answer = {.ticket = question.ticket, .is_module = question.is_module};

    if (symbols->question_first == symbols->question_count)
        symbols->question_first = symbols->question_count = 0;
    pthread_mutex_unlock(&symbols->lock);
    if (path != NULL)
        answer = answer_question(symbols, &question, path);
    free(path);
    pthread_mutex_lock(&symbols->lock);
    if (!push_answer(symbols, &answer))
        nm_symbol_list_clear(&answer.places);
    symbols->waiting--;
}

static void *serve(void *context)
{
    nm_symbols *symbols = context;

    pthread_mutex_lock(&symbols->lock);
    while (!symbols->is_ending) {
        if (symbols->question_first < symbols->question_count)
            serve_next(symbols);
        else
            pthread_cond_wait(&symbols->has_question, &symbols->lock);
    }
    pthread_mutex_unlock(&symbols->lock);
    return NULL;
}

/* ---- The callers' side --------------------------------------------------------------------------------------------- */

nm_status nm_symbols_new(nm_symbols **out, nm_error *err)
{
    nm_symbols *symbols = calloc(1, sizeof *symbols);
    sigset_t all, before;

    *out = NULL;
    if (symbols == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at the symbol thread");
    /* No look-up over the network while somebody waits for the trace. */
    unsetenv("DEBUGINFOD_URLS");
    symbols->started = time(NULL);
    pthread_mutex_init(&symbols->lock, NULL);
    pthread_cond_init(&symbols->has_question, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int failure = pthread_create(&symbols->thread, NULL, serve, symbols);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure != 0) {
        free(symbols);
        return nm_fail_errno(err, failure, "cannot start a thread");
    }
    *out = symbols;
    return NM_OK;
}

void nm_symbols_free(nm_symbols *symbols)
{
    if (symbols == NULL)
        return;
    pthread_mutex_lock(&symbols->lock);
    symbols->is_ending = true;
    pthread_cond_signal(&symbols->has_question);
    pthread_mutex_unlock(&symbols->lock);
    pthread_join(symbols->thread, NULL);

    for (size_t i = symbols->answer_first; i < symbols->answer_count; i++)
        nm_symbol_list_clear(&symbols->answers[i].places);
    nm_symbol_list_clear(&symbols->polled.places);
    for (size_t i = 0; i < symbols->file_capacity; i++)
        nm_symbol_file_free(symbols->files[i]);
    free(symbols->files);
    free(symbols->is_opened);
    free(symbols->questions);
    free(symbols->answers);
    nm_strings_free(&symbols->paths);
    pthread_cond_destroy(&symbols->has_question);
    pthread_mutex_destroy(&symbols->lock);
    free(symbols);
}

nm_status nm_symbols_ask(nm_symbols *symbols, const nm_symbols_question *question, nm_error *err)
{
    queued_question queued = {.ticket = question->ticket,
                              .inode = question->inode,
                              .offset = question->offset,
                              .is_module = question->is_module};

    pthread_mutex_lock(&symbols->lock);
    nm_status status = nm_strings_intern(&symbols->paths, question->path, &queued.path, err);
    if (status == NM_OK)
        status = nm_array_grow(&symbols->questions, &symbols->question_capacity, symbols->question_count + 1,
                               sizeof *symbols->questions, err);
    if (status == NM_OK && queued.path != 0) {
        symbols->questions[symbols->question_count++] = queued;
        symbols->waiting++;
        pthread_cond_signal(&symbols->has_question);
    }
    pthread_mutex_unlock(&symbols->lock);
    return status;
}

bool nm_symbols_poll(nm_symbols *symbols, nm_symbols_answer *answer)
{
    pthread_mutex_lock(&symbols->lock);
    bool is_there = symbols->answer_first < symbols->answer_count;
    if (is_there) {
        nm_symbol_list_clear(&symbols->polled.places);
        symbols->polled = symbols->answers[symbols->answer_first++];
    }
    pthread_mutex_unlock(&symbols->lock);
    if (is_there)
        *answer = (nm_symbols_answer){.ticket = symbols->polled.ticket,
                                      .is_module = symbols->polled.is_module,
                                      .places = symbols->polled.places,
                                      .build_id = symbols->polled.build_id};
    return is_there;
}

size_t nm_symbols_waiting(nm_symbols *symbols)
{
    pthread_mutex_lock(&symbols->lock);
    size_t waiting = symbols->waiting;
    pthread_mutex_unlock(&symbols->lock);
    return waiting;
}
