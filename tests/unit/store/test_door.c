/* SPDX-License-Identifier: Apache-2.0
 *
 * Whoever may write to a folder exchanges what lies in it while we act there. Run by root, the attacker is another user, and
 * what lies behind the link is closed to that one; else both are us, and it is another folder of ours.
 */
#include "base/door.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "store/database.h"
#include "store/own_file.h"
#include "store/publish.h"
#include "support/suites.h"

#define NOBODY       65534
#define VICTIM_FILES 8
#define ATTACK_NS    INT64_C(5000000000)
#define MARK         ".npumem"

static char place[64];
static pid_t dead;
static nm_error err;

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

static size_t count_files(const char *path)
{
    DIR *list = opendir(path);
    size_t count = 0;

    ck_assert_ptr_nonnull(list);
    for (const struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list))
        count += entry->d_name[0] != '.';
    closedir(list);
    return count;
}

/* `open`, to which everybody may write, and `victim`, which is ours alone. We stand in the former. */
static void set_up(void)
{
    char name[32];

    umask(022);
    snprintf(place, sizeof place, "/tmp/npumem-door-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(place));
    ck_assert_int_eq(chmod(place, 0755) + chdir(place) + mkdir("open", 0777) + chmod("open", 0777), 0);
    ck_assert_int_eq(mkdir("victim", 0700) + chdir("victim"), 0);
    for (int i = 0; i < VICTIM_FILES; i++) {
        snprintf(name, sizeof name, "file%d", i);
        write_file(name, "precious");
    }
    write_file(MARK, "");
    ck_assert_int_eq(chdir("../open"), 0);
    dead = fork();
    if (dead == 0)
        _exit(0);
    waitpid(dead, NULL, 0);
}

static void tear_down(void)
{
    int folder = nm_door_folder("/tmp"), own = nm_door_folder_at(folder, place + strlen("/tmp/"));

    ck_assert_int_eq(chdir("/"), 0);
    nm_door_remove_folder_at(folder, place + strlen("/tmp/"), own, 4);
    nm_io_close(own);
    nm_io_close(folder);
    ck_assert_int_ne(access(place, F_OK), 0);
}

/* ---- An attacker ---------------------------------------------------------------------------------------------------- */

typedef struct attack {
    char one[64], other[64]; /* names that are exchanged */
    atomic_ulong exchange_count;
} attack;

static attack *share_attack(void)
{
    attack *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(shared, MAP_FAILED);
    return shared;
}

static pid_t begin_attack(attack *shared)
{
    pid_t attacker = fork();

    if (attacker != 0)
        return attacker;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
        _exit(1);
    for (;;)
        if (renameat2(AT_FDCWD, shared->one, AT_FDCWD, shared->other, RENAME_EXCHANGE) == 0)
            atomic_fetch_add(&shared->exchange_count, 1);
}

static void end_attack(pid_t attacker)
{
    int how = 0;

    kill(attacker, SIGKILL);
    waitpid(attacker, &how, 0);
    ck_assert(WIFSIGNALED(how)); /* it worked until then */
}

/* A draft of a program that is no more, as it would be swept: made anew where it was removed, marked anew where it was emptied. */
static void lay_bait(const char *name)
{
    int folder = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), fd = -1;

    if (folder < 0 && errno == ENOENT && mkdir("new", 0755) == 0) {
        folder = open("new", O_RDONLY | O_DIRECTORY);
        if (rename("new", name) != 0)
            rmdir("new");
    }
    if (folder >= 0)
        fd = openat(folder, MARK, O_WRONLY | O_CREAT, 0600);
    if (fd >= 0)
        close(fd);
    if (folder >= 0)
        close(folder);
}

START_TEST(a_sweep_in_a_folder_of_everybody_never_leaves_it)
{
    attack *shared = share_attack();
    int64_t end_ns = now_ns() + ATTACK_NS;
    unsigned long round_count = 0, emptied_count = 0;
    struct stat info;

    snprintf(shared->one, sizeof shared->one, "run.db.%ld.tmp", (long)dead);
    snprintf(shared->other, sizeof shared->other, "link");
    ck_assert_int_eq(symlink("../victim", shared->other), 0);
    lay_bait(shared->one);
    pid_t attacker = begin_attack(shared);
    while (now_ns() < end_ns) {
        lay_bait(shared->one);
        nm_output_sweep("run.db");
        emptied_count += lstat(shared->one, &info) != 0;
        if (++round_count % 64 == 0)
            ck_assert_msg(count_files("../victim") == VICTIM_FILES, "lost after %lu rounds", round_count);
    }
    end_attack(attacker);
    ck_assert_uint_eq(count_files("../victim"), VICTIM_FILES);
    printf("%lu sweeps, %lu folders removed, %lu exchanges\n", round_count, emptied_count, shared->exchange_count);
    ck_assert_uint_gt(round_count, 100);
    ck_assert_uint_gt(emptied_count, 10); /* it was at work */
    ck_assert_uint_gt(shared->exchange_count, 100);
}
END_TEST

/* Only a folder with our mark in it is a draft: others can give any folder that name. And it must be ours. */
START_TEST(what_is_swept_is_ours_and_marked)
{
    char marked[64], plain[64], theirs[64], link[64], file[64], other_file[64];
    struct stat info;

    snprintf(marked, sizeof marked, "a.%ld.tmp", (long)dead);
    snprintf(plain, sizeof plain, "b.%ld.tmp", (long)dead);
    snprintf(theirs, sizeof theirs, "c.%ld.tmp", (long)dead);
    snprintf(link, sizeof link, "d.%ld.tmp", (long)dead);
    snprintf(file, sizeof file, "e.%ld.tmp", (long)dead);
    snprintf(other_file, sizeof other_file, "f.%ld.tmp", (long)dead);
    lay_bait(marked);
    ck_assert_int_eq(mkdir(plain, 0755), 0);
    lay_bait(theirs);
    ck_assert_int_eq(symlink("../victim", link), 0);
    write_file(file, "");
    write_file(other_file, "");
    ck_assert_int_eq(chmod(theirs, 0777) + chmod(other_file, 0666), 0);
    for (const char *name = "abcdef"; *name != 0; name++)
        nm_output_sweep((char[]){*name, 0});
    ck_assert_int_ne(lstat(marked, &info), 0);
    ck_assert_int_eq(lstat(plain, &info), 0);
    ck_assert_int_eq(lstat(theirs, &info), 0);
    ck_assert_int_eq(lstat(link, &info), 0);
    ck_assert_int_ne(lstat(file, &info), 0);
    ck_assert_int_eq(lstat(other_file, &info), 0);
    ck_assert_uint_eq(count_files("../victim"), VICTIM_FILES);
    if (geteuid() == 0) {
        ck_assert_int_eq(chmod(theirs, 0755) + chown(theirs, NOBODY, NOBODY), 0);
        nm_output_sweep("c");
        ck_assert_int_eq(lstat(theirs, &info), 0);
    }
}
END_TEST

/* Another file in the place of a draft: it is not written to, not taken for ours, and what it leads to stays. */
START_TEST(a_draft_that_was_exchanged_is_not_published)
{
    nm_draft draft;
    sqlite3 *db = NULL;

    ck_assert_int_eq(nm_draft_begin("run.db", &draft, &err), NM_OK);
    ck_assert_int_eq(rename(draft.temporary_path, "away") + symlink("../victim/file0", draft.temporary_path), 0);
    ck_assert_int_eq(nm_db_open_own(draft.temporary_path, draft.fd, &db, &err), NM_ERR_DATABASE);
    sqlite3_close(db);
    ck_assert_int_eq(nm_draft_publish(&draft, true, &err), NM_ERR_IO);
    nm_draft_end(&draft);
    ck_assert_int_ne(access("run.db", F_OK), 0);
    ck_assert_uint_eq(count_files("../victim"), VICTIM_FILES);

    ck_assert_int_eq(nm_draft_begin("run.db", &draft, &err), NM_OK);
    ck_assert_int_eq(nm_db_open_own(draft.temporary_path, draft.fd, &db, &err), NM_OK);
    ck_assert_int_eq(sqlite3_exec(db, "CREATE TABLE t(a)", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
    ck_assert_int_eq(nm_draft_publish(&draft, true, &err), NM_OK);
    nm_draft_end(&draft);
    ck_assert_int_eq(access("run.db", F_OK), 0);
}
END_TEST

static int (*system_rename)(int from_folder, const char *from, int to_folder, const char *to, unsigned flags);
static bool is_by_link;

/* What another run does right behind ours; or one who is none of us. */
static int rename_and_be_replaced(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    int result = system_rename(from_folder, from, to_folder, to, flags), fd = creat("another", 0644);

    ck_assert_int_ge(fd, 0);
    close(fd);
    if (is_by_link)
        ck_assert_int_eq(link("another", "beside"), 0);
    ck_assert_int_eq(rename("another", to), 0);
    return result;
}

START_TEST(who_is_replaced_by_another_run_has_published)
{
    nm_draft draft;

    for (int i = 0; i < 3; i++) {
        bool is_forced = i > 0;

        is_by_link = i == 2;
        ck_assert_int_eq(nm_draft_begin(is_forced ? "forced" : "new", &draft, &err), NM_OK);
        system_rename = nm_io.renameat2;
        nm_io.renameat2 = rename_and_be_replaced;
        nm_status status = nm_draft_publish(&draft, is_forced, &err);
        nm_io.renameat2 = system_rename;
        ck_assert_int_eq(status, i == 1 ? NM_OK : NM_ERR_IO);
        nm_draft_end(&draft);
    }
}
END_TEST

/* The folder of the user's path leads elsewhere by now: the draft is where it was begun, and gets its place there. */
START_TEST(a_path_is_resolved_once)
{
    nm_draft draft;

    ck_assert_int_eq(mkdir("real", 0755) + symlink("real", "folder"), 0);
    ck_assert_int_eq(nm_draft_begin_folder("folder/csv", &draft, &err), NM_OK);
    FILE *file = nm_draft_file(&draft, "leak.csv");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fclose(file) + unlink("folder") + symlink("../victim", "folder"), 0);
    ck_assert_int_eq(nm_draft_publish_files(&draft, (char *[]){(char[]){"leak.csv"}}, 1, false, &err), NM_OK);
    nm_draft_end(&draft);
    ck_assert_int_eq(access("real/csv/leak.csv", F_OK), 0);
    ck_assert_uint_eq(count_files("real"), 1);
    ck_assert_uint_eq(count_files("../victim"), VICTIM_FILES);
}
END_TEST

/* What stands in the victim's file after the name was opened to be written to, or "refused". */
static const char *open_named(const char *name)
{
    static char text[32];
    bool is_link;
    int fd;

    if (nm_door_open_named(AT_FDCWD, name, O_WRONLY | O_CREAT | O_TRUNC, 0600, &is_link, &fd, &err) != NM_OK)
        return "refused";
    snprintf(text, sizeof text, "%s %s", is_link ? "link" : "file",
             nm_door_is_at(AT_FDCWD, "own", fd) ? "own" : "other");
    nm_io_close(fd);
    return text;
}

START_TEST(a_link_of_somebody_else_is_not_written_through)
{
    write_file("own", "own");
    write_file("theirs", "theirs");
    ck_assert_int_eq(symlink("own", "mine") + symlink("theirs", "foreign") + symlink("made", "loose"), 0);
    ck_assert_str_eq(open_named("own"), "file own");
    ck_assert_str_eq(open_named("mine"), "link own");
    ck_assert_str_eq(open_named("loose"), "link other");
    ck_assert_int_eq(access("made", F_OK), 0);
    ck_assert_str_eq(open_named("/dev/fd/2"), "link other"); /* a link of the kernel's, which leads to no path */
    if (geteuid() != 0 || lchown("foreign", NOBODY, NOBODY) != 0)
        return;
    ck_assert_str_eq(open_named("foreign"), "refused");
    ck_assert_str_eq(err.text, "is a link of another user, which is not followed");
}
END_TEST

START_TEST(what_is_taken_back_is_what_is_open)
{
    int fd = -1;

    write_file("own", "own");
    write_file("other", "other");
    ck_assert_int_eq(nm_io_open("own", O_RDONLY, 0, &fd, &err), NM_OK);
    ck_assert_int_eq(rename("own", "moved") + rename("other", "own"), 0);
    nm_door_take_back("own", fd);
    ck_assert_int_eq(access("own", F_OK), 0);
    nm_door_take_back("moved", fd);
    ck_assert_int_eq(access("moved", F_OK), -1);
    nm_io_close(fd);
}
END_TEST

START_TEST(files_that_have_come_meanwhile_stay)
{
    nm_draft draft;
    struct stat info;

    ck_assert_int_eq(nm_draft_begin_folder("csv", &draft, &err), NM_OK);
    FILE *file = nm_draft_file(&draft, "leak.csv");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fclose(file) + mkdir("csv", 0755), 0);
    write_file("csv/leak.csv", "theirs");
    ck_assert_int_eq(nm_draft_publish_files(&draft, (char *[]){(char[]){"leak.csv"}}, 1, false, &err), NM_ERR_EXISTS);
    ck_assert_int_eq(stat("csv/leak.csv", &info), 0);
    ck_assert_int_eq(info.st_size, 6);
    ck_assert_int_eq(nm_draft_publish_files(&draft, (char *[]){(char[]){"leak.csv"}}, 1, true, &err), NM_OK);
    ck_assert_int_eq(stat("csv/leak.csv", &info) + (int)info.st_size, 0);
    nm_draft_end(&draft);
}
END_TEST

/* Each name by itself, without luck. */
START_TEST(no_name_below_a_folder_is_followed)
{
    int folder = nm_door_folder("."), fd = -1;
    struct stat info;

    ck_assert_int_eq(symlink("../victim", "to_folder") + symlink("../victim/file0", "to_file"), 0);
    ck_assert_int_lt(nm_door_folder_at(folder, "to_folder"), 0);
    ck_assert_int_eq(nm_door_open_at(folder, "to_file", O_RDONLY, 0, &fd, &err), NM_ERR_IO);
    ck_assert_int_eq(nm_door_open_at(folder, "to_file", O_WRONLY | O_CREAT | O_TRUNC, 0600, &fd, &err), NM_ERR_WRITE);
    ck_assert_int_eq(nm_door_open_at(folder, "to_file", O_WRONLY | O_CREAT | O_EXCL, 0600, &fd, &err), NM_ERR_EXISTS);
    ck_assert(nm_door_look_at(folder, "to_file", &info) && S_ISLNK(info.st_mode));
    ck_assert(nm_door_leads_to_at(folder, "to_file", S_IFREG));
    fd = open("../victim", O_RDONLY | O_DIRECTORY);
    ck_assert(!nm_door_is_at(folder, "to_folder", fd));
    nm_io_close(fd);
    ck_assert_int_eq(mkdir("tree", 0755) + mkdir("tree/below", 0755) + symlink("../../../victim", "tree/below/link"),
                     0);
    ck_assert_int_eq(symlink("../../victim", "tree/link"), 0);
    fd = nm_door_folder_at(folder, "tree");
    nm_door_remove_folder_at(folder, "tree", fd, 1); /* not deep enough */
    ck_assert_int_eq(access("tree/below/link", F_OK), 0);
    nm_door_remove_folder_at(folder, "tree", fd, 2);
    ck_assert_int_ne(access("tree", F_OK), 0);
    nm_io_close(fd);
    ck_assert_int_eq(nm_door_remove("to_file") + nm_door_remove_at(folder, "to_folder"), 0);
    nm_io_close(folder);
    ck_assert_uint_eq(count_files("../victim"), VICTIM_FILES);
    ck_assert_int_eq(access("../victim/file0", R_OK), 0);
}
END_TEST

static int hold_error(int folder, const char *path)
{
    int held = nm_door_hold_below(folder, path);

    ck_assert_int_lt(held, 0);
    return errno;
}

/* A file, a folder and a database that were handed over are those that were held, whatever has their names. */
START_TEST(what_is_handed_over_is_what_was_held)
{
    int folder = nm_door_folder("."), fd = -1;
    char path[NM_DOOR_HANDED_BYTES], below[64], shown[PATH_MAX], name[PATH_MAX];
    struct stat info;
    sqlite3 *db = NULL;

    ck_assert_int_eq(mkdir("a", 0755) + mkdir("a/b", 0755) + symlink("b", "a/c") + symlink("/", "a/root"), 0);
    ck_assert_int_eq(nm_db_open("a/b/run.db", &db, &err), NM_OK);
    ck_assert_int_eq(sqlite3_exec(db, "PRAGMA user_version = 7", NULL, NULL, NULL) + sqlite3_close(db), SQLITE_OK);
    ck_assert_int_eq(hold_error(folder, "a/c/run.db"), ELOOP);
    ck_assert_int_eq(hold_error(folder, "a/c"), ELOOP);
    ck_assert_int_eq(hold_error(folder, "a/root/etc"), ELOOP);
    ck_assert_int_eq(hold_error(folder, "a/../a/b/run.db"), ENOENT);
    ck_assert_int_eq(hold_error(folder, ".."), ENOENT);
    ck_assert_int_eq(hold_error(folder, "a/b/run.db/x"), ENOTDIR);

    int held = nm_door_hold_below(folder, "/a//b/run.db"), held_folder = nm_door_hold_below(folder, "a/b");
    ck_assert_int_eq(rename("a/b", "a/moved") + symlink("../../victim", "a/b"), 0);
    nm_door_hand(held, path);
    snprintf(name, sizeof name, "%s/open/a/moved/run.db", place);
    ck_assert_str_eq(nm_door_name(path, shown), name);
    ck_assert_str_eq(nm_door_name("a/b", shown), "a/b");
    ck_assert_int_eq(nm_door_open_file(path, &fd, &info, &err), NM_OK);
    nm_io_close(fd);
    ck_assert_int_eq(unlink("a/moved/run.db") + symlink("../../../victim/file0", "a/moved/run.db"), 0);
    ck_assert_int_eq(nm_db_open(path, &db, &err), NM_OK);
    sqlite3_stmt *row = NULL;
    ck_assert_int_eq(nm_db_prepare(db, "PRAGMA user_version", &row, &err), NM_OK);
    ck_assert_int_eq(sqlite3_step(row), SQLITE_ROW);
    ck_assert_int_eq(sqlite3_column_int(row, 0), 7);
    ck_assert_int_eq(sqlite3_finalize(row) + sqlite3_close(db), SQLITE_OK);

    nm_door_hand(held_folder, path);
    snprintf(below, sizeof below, "%s/run.db", path);
    ck_assert_int_eq(nm_door_read_flags(path) | nm_door_read_flags("a/run.db"), 0);
    ck_assert_int_lt(open(below, O_RDONLY | nm_door_read_flags(below)), 0);
    ck_assert_int_eq(errno, ELOOP);
    ck_assert_str_eq(nm_door_name(below, shown), name);
    nm_io_close(held_folder);
    nm_io_close(held);
    nm_io_close(folder);
}
END_TEST

TEST_SUITE(test_door)
{
    Suite *suite = suite_create("door");
    TCase *tests = tcase_create("door");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_sweep_in_a_folder_of_everybody_never_leaves_it);
    tcase_add_test(tests, what_is_swept_is_ours_and_marked);
    tcase_add_test(tests, a_draft_that_was_exchanged_is_not_published);
    tcase_add_test(tests, who_is_replaced_by_another_run_has_published);
    tcase_add_test(tests, a_path_is_resolved_once);
    tcase_add_test(tests, a_link_of_somebody_else_is_not_written_through);
    tcase_add_test(tests, what_is_taken_back_is_what_is_open);
    tcase_add_test(tests, files_that_have_come_meanwhile_stay);
    tcase_add_test(tests, no_name_below_a_folder_is_followed);
    tcase_add_test(tests, what_is_handed_over_is_what_was_held);
    suite_add_tcase(suite, tests);
    return suite;
}
