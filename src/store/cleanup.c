/* SPDX-License-Identifier: Apache-2.0
 *
 * A chain, the newest first, that changes only with the signals blocked, so that the handler sees it whole; the
 * handler itself calls nothing that is not safe there.
 */
#include "store/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/io.h"

typedef struct cleanup_name {
    struct cleanup_name *next; /* added earlier */
    int folder, own_fd;
    char name[];
} cleanup_name;

static cleanup_name *newest_name; /* changed with the signals blocked, so a handler sees a whole list */

static const int end_signals[] = {SIGINT, SIGTERM, SIGHUP};

/* What it calls is async-signal-safe. */
static void remove_name(const cleanup_name *node)
{
    if (node->own_fd >= 0)
        nm_door_remove_folder_at(node->folder, node->name, node->own_fd, 1);
    else if (nm_door_remove_at(node->folder, node->name) != 0 && (errno == EISDIR || errno == EPERM))
        nm_io.unlinkat(node->folder, node->name, AT_REMOVEDIR);
}

/* signal and raise are async-signal-safe, too. */
static void clean_and_die(int signal_number)
{
    for (const cleanup_name *node = newest_name; node != NULL; node = node->next)
        remove_name(node);
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

nm_status nm_cleanup_add(int folder, const char *name, int own_fd, nm_error *err)
{
    size_t bytes = strlen(name) + 1;
    cleanup_name *node = malloc(sizeof *node + bytes);
    sigset_t old;

    if (node == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    node->folder = folder;
    node->own_fd = own_fd;
    memcpy(node->name, name, bytes);
    block_signals(&old);
    node->next = newest_name;
    newest_name = node;
    sigprocmask(SIG_SETMASK, &old, NULL);
    return NM_OK;
}

void nm_cleanup_disown(void)
{
    newest_name = NULL;
}

/* All entries of that name leave the list. */
static void take_off(int folder, const char *name, bool is_removed)
{
    cleanup_name **link = &newest_name;
    sigset_t old;

    block_signals(&old);
    while (*link != NULL) {
        cleanup_name *node = *link;

        if (node->folder != folder || strcmp(node->name, name) != 0) {
            link = &node->next;
            continue;
        }
        if (is_removed)
            remove_name(node);
        *link = node->next;
        free(node);
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
}

void nm_cleanup_forget(int folder, const char *name)
{
    take_off(folder, name, false);
}

void nm_cleanup_remove(int folder, const char *name)
{
    take_off(folder, name, true);
}
