/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem: one program to remember. "npumem NAME ARG..." becomes the program npumem-NAME that lies beside it, which gets the
 * arguments as they are; nothing is left of this one, so that signals, standard streams, the environment and the exit status
 * are those of the other. What is found beside it counts, not only what is in the table: the table is the map.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/door.h"
#include "base/own_path.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "tool/common/nearest.h"
#include "tool/common/options.h"
#include "tool/common/options_help.h"

#define NAME_BYTES    64
#define MAN_PATH_ROOM 64

static const option_command commands[] = {
    {"record", "record the memory of a program, and of all that it starts, into a trace"},
    {"ingest", "load traces, memory snapshots or logs into a database, and print the answers"},
    {"stack", "print the call stacks of what leaked, of the peak, of a failed request, or of a site"},
    {"report", "write a database as one HTML file, to look at and to send"},
    {"export", "write a database for other tools: pprof, flame graphs, Perfetto, memory_viz, a picture"},
    {"bundle", "put the verdicts, the database and what it ran on into one file, for a ticket"},
    {"top", "show what a recording that goes on is at"},
    {"check", "hold a database to rules, for CI"},
    {"diff", "say what changed between two databases"},
    {"whatif", "replay the requests against other allocator settings and devices"},
    {"mcp", "let an assistant ask about recordings"},
    {"help", "open the man page of a command"},
    {NULL, NULL},
};

static const option_row rows[] = {OPTIONS_HELP_AND_VERSION};

static const options_program program = {
    .name = "npumem",
    .usage = "npumem COMMAND [ARG...]\n       npumem help COMMAND",
    .about =
        "Records the memory of NPU programs and answers questions about it. Each COMMAND is a program of its own as "
        "well, npumem-COMMAND, and takes the same arguments.",
    .commands = commands,
    .ends = {"done; of a command that answers a question: yes", "failed; of a command that answers a question: no",
             "wrong usage", "done, but something of the input was lost or missing",
             "failed, of a command where 1 is an answer: an input cannot be used"},
    OPTIONS_ROWS(rows),
    .takes_command = true,
};

/* ---- The other program --------------------------------------------------------------------------------------------- */

/* Letters, digits and dashes: no path, and no option. */
static bool is_name(const char *word)
{
    size_t length = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-");

    return length > 0 && length < NAME_BYTES && word[length] == 0 && word[0] != '-';
}

/* Beside this one, where all of them are; a link to it is followed. */
static bool find_program(const char *name, char path[PATH_MAX])
{
    char folder[PATH_MAX];

    return is_name(name) && nm_own_folder(folder) &&
           snprintf(path, PATH_MAX, "%s/npumem-%s", folder, name) < PATH_MAX && nm_door_allows(path, F_OK);
}

static int refuse_unknown(const char *name)
{
    char shown[NAME_BYTES + 60];
    nearest search = nearest_begin(name, strlen(name));

    for (const option_command *command = commands; command->name != NULL; command++)
        nearest_offer(&search, command->name);
    nm_shown_text(shown, sizeof shown, name);
    if (search.found != NULL && search.distance == 0)
        options_refuse(&program, "%s: npumem-%s is not beside this program", shown, shown);
    else if (search.found != NULL)
        options_refuse(&program, "%s: no such command; did you mean %s?", shown, search.found);
    else
        options_refuse(&program, "%s: no such command", shown[0] == 0 ? "''" : shown);
    return EXIT_USAGE;
}

/* Comes back only where it failed. `words` begins with the command. */
static int become(char **words)
{
    char path[PATH_MAX];
    nm_error err;

    if (nm_own_beside("the others", path, &err) != NM_OK) {
        fprintf(stderr, "npumem: %s\n", err.text);
        return EXIT_NO;
    }
    if (!find_program(words[0], path))
        return refuse_unknown(words[0]);
    words[0] = path;
    execv(path, words);
    nm_shown_print(stderr, nm_spoken("npumem: %s: cannot run: %s\n"), path, nm_spoken(strerror(errno)));
    return EXIT_NO;
}

/* ---- Help ---------------------------------------------------------------------------------------------------------- */

/* Lets man look at the pages that were installed with this program first. */
static void show_own_pages(void)
{
    char folder[PATH_MAX], paths[2 * PATH_MAX];
    const char *usual = getenv("MANPATH");

    if (!nm_own_folder(folder))
        return;
    /* Nothing behind the colon stands for where man looks by itself. */
    if (snprintf(paths, sizeof paths, "%.*s/" NPUMEM_MAN_PATH ":%s", PATH_MAX - MAN_PATH_ROOM, folder,
                 usual == NULL ? "" : usual) < (int)sizeof paths)
        setenv("MANPATH", paths, 1);
}

/* In the child: `man -w PAGE` says where the page is, and what stands in for man on a small system does not. */
static void ask_man(const char *page, int to)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (nowhere >= 0) {
        dup2(nowhere, STDIN_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    dup2(to, STDOUT_FILENO);
    execlp("man", "man", "-w", page, (char *)NULL);
    _exit(127);
}

static bool has_page(const char *page)
{
    int ends[2], status = 0;
    char first = 0;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    child = fork();
    if (child == 0)
        ask_man(page, ends[1]);
    close(ends[1]);
    if (child < 0 || read(ends[0], &first, 1) != 1)
        first = 0;
    close(ends[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return first == '/';
}

/* The man page where there is one, else what the program says by itself. */
static int help(const char *name)
{
    char page[NAME_BYTES + 8], path[PATH_MAX];
    bool is_own = strcmp(name, "npumem") == 0 || strcmp(name, "help") == 0;
    char *words[] = {path, (char[]){"--help"}, NULL};

    if (!is_own && !find_program(name, path))
        return refuse_unknown(name);
    snprintf(page, sizeof page, "npumem%s%s", is_own ? "" : "-", is_own ? "" : name);
    show_own_pages();
    if (has_page(page))
        execlp("man", "man", page, (char *)NULL);
    if (!is_own) {
        execv(path, words);
        nm_shown_print(stderr, nm_spoken("npumem: %s: cannot run: %s\n"), path, nm_spoken(strerror(errno)));
        return EXIT_NO;
    }
    options_print_help(&program, stdout);
    return EXIT_DONE;
}

static int run(char **words)
{
    if (words[0] != NULL && strcmp(words[0], "help") != 0)
        return become(words);
    if (words[0] != NULL && words[1] != NULL)
        return help(words[1]);
    options_print_help(&program, stdout);
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    char **words;
    options_outcome outcome = options_read(&program, argc, argv, NULL, &words);
    int result = outcome == OPTIONS_READ ? run(words) : options_end(outcome, EXIT_NO);

    if (fflush(stdout) != 0) {
        fprintf(stderr, nm_spoken("npumem: standard output: cannot write: %s\n"), nm_spoken(strerror(errno)));
        return EXIT_NO;
    }
    return result;
}
