/* SPDX-License-Identifier: Apache-2.0
 *
 * A chain, the newest first, that changes only with the signals blocked, so that the handler sees it whole; the
 * handler itself calls nothing that is not safe there.
 */
#include "store/cleanup.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct cleanup_path {
    struct cleanup_path *next; /* added earlier */
    char path[];
} cleanup_path;

static cleanup_path *newest_path; /* changed with the signals blocked, so a handler sees a whole list */

static const int end_signals[] = {SIGINT, SIGTERM, SIGHUP};

static void remove_path(const char *path)
{
    if (unlink(path) != 0 && (errno == EISDIR || errno == EPERM))
        rmdir(path);
}

/* unlink, rmdir, signal and raise are async-signal-safe. */
static void clean_and_die(int signal_number)
{
    for (const cleanup_path *node = newest_path; node != NULL; node = node->next)
        remove_path(node->path);
    signal(signal_number, SIG_DFL);
    raise(signal_number); /* blocked until this handler returns */
}

void nm_cleanup_install(void)
{
    struct sigaction action = {.sa_handler = clean_and_die};
    struct sigaction old;

    signal(SIGXFSZ, SIG_IGN); /* past a limit on the size of files a write fails, and is told as any other */
    sigfillset(&action.sa_mask);
    for (size_t index = 0; index < sizeof end_signals / sizeof end_signals[0]; index++) {
        if (sigaction(end_signals[index], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(end_signals[index], &action, NULL);
    }
}

static void block_signals(sigset_t *old)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t index = 0; index < sizeof end_signals / sizeof end_signals[0]; index++)
        sigaddset(&set, end_signals[index]);
    sigprocmask(SIG_BLOCK, &set, old);
}

nm_status nm_cleanup_add(const char *path, nm_error *err)
{
    size_t bytes = strlen(path) + 1;
    cleanup_path *node = malloc(sizeof *node + bytes);
    sigset_t old;

    if (node == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    memcpy(node->path, path, bytes);
    block_signals(&old);
    node->next = newest_path;
    newest_path = node;
    sigprocmask(SIG_SETMASK, &old, NULL);
    return NM_OK;
}

/* The newest entry of that path leaves the list. */
static void take_off(const char *path)
{
    for (cleanup_path **link = &newest_path; *link != NULL; link = &(*link)->next) {
        cleanup_path *node = *link;

        if (strcmp(node->path, path) == 0) {
            *link = node->next;
            free(node);
            return;
        }
    }
}

void nm_cleanup_disown(void)
{
    newest_path = NULL;
}

void nm_cleanup_forget(const char *path)
{
    sigset_t old;

    block_signals(&old);
    take_off(path);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

void nm_cleanup_remove(const char *path)
{
    sigset_t old;

    block_signals(&old);
    remove_path(path);
    take_off(path);
    sigprocmask(SIG_SETMASK, &old, NULL);
}
