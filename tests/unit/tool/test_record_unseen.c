/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a program did not load the recorder: of files that are written here by hand, in an order that the format allows and
 * in ones that it does not.
 */
#include "support/suites.h"
#include "tool/record/unseen.h"

#include <check.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static Elf64_Ehdr own; /* of this program: what runs here */

static void set_up(void)
{
    FILE *file = fopen("/proc/self/exe", "rb");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fread(&own, sizeof own, 1, file), 1);
    fclose(file);
    snprintf(folder, sizeof folder, "/tmp/npumem-unseen-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void tear_down(void)
{
    ck_assert_int_eq(chdir("/"), 0);
    setenv("PATH", "/usr/bin:/bin", 1);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void write_file(const char *name, const void *data, size_t len, mode_t mode)
{
    FILE *file = fopen(name, "wb");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(data, 1, len, file), len);
    fclose(file);
    ck_assert_int_eq(chmod(name, mode), 0);
}

/* A head with a segment of notes, and one that names the loader where there is one. */
static void write_elf(const char *name, const char *loader, int machine, mode_t mode)
{
    struct {
        Elf64_Ehdr elf;
        Elf64_Phdr parts[2];
        char loader[64];
    } file = {.elf = own};

    file.elf.e_machine = (Elf64_Half)machine;
    file.elf.e_phoff = sizeof file.elf;
    file.elf.e_phnum = loader == NULL ? 1 : 2;
    file.parts[0].p_type = PT_NOTE;
    file.parts[1].p_type = PT_INTERP;
    file.parts[1].p_offset = sizeof file.elf + sizeof file.parts;
    snprintf(file.loader, sizeof file.loader, "%s", loader == NULL ? "" : loader);
    write_file(name, &file, sizeof file, mode);
}

static void expect(const char *name, int exit_status, const char *sentence)
{
    char out[512], begin[128];

    snprintf(begin, sizeof begin, "%s %s", name, sentence);
    record_unseen_explain(name, exit_status, out, sizeof out);
    ck_assert_msg(strncmp(out, begin, strlen(begin)) == 0, "%s, not: %s", out, begin);
}

START_TEST(the_head_of_the_file_says_what_it_is)
{
    write_elf("static", NULL, own.e_machine, 0755);
    write_elf("usual", "/lib64/ld-linux-any.so.2", own.e_machine, 0755);
    write_elf("musl", "/lib/ld-musl-x86_64.so.1", own.e_machine, 0755);
    write_elf("other", "/lib/ld-linux-any.so.1", EM_S390, 0755);
    expect("./static", 0, "is static, so that nothing can be loaded into it: ");
    expect("./static", 127, "is static, ");
    expect("./musl", 0, "is built for another libc than glibc: ");
    expect("./other", 1, "is built for another kind of processor: ");
    expect("./usual", 127, "did not begin: the loader did not find a library that it needs");
    expect("./usual", 1, "could have loaded the recorder, but ");
    expect("./usual", -1, "could have loaded the recorder, but ");
}
END_TEST

START_TEST(a_script_is_what_its_interpreter_is)
{
    static const char deep[] = "#! ./middle -x\n", middle[] = "#!./static\n", circle[] = "#!./circle\n";

    write_elf("static", NULL, own.e_machine, 0755);
    write_file("deep", deep, sizeof deep - 1, 0755);
    write_file("middle", middle, sizeof middle - 1, 0755);
    write_file("circle", circle, sizeof circle - 1, 0755);
    write_file("none", "#!/nowhere\n", 11, 0755);
    write_file("empty", "#!", 2, 0755);
    expect("./deep", 0, "is static, ");
    expect("./circle", 0, "could have loaded");
    expect("./none", 0, "could have loaded");
    expect("./empty", 0, "could have loaded");
}
END_TEST

START_TEST(a_program_is_found_as_execvp_finds_it)
{
    ck_assert_int_eq(mkdir("first", 0755) | mkdir("second", 0755), 0);
    write_elf("first/tool", "/lib/ld-linux-any.so.2", own.e_machine, 0644); /* nobody may run it */
    write_elf("second/tool", NULL, own.e_machine, 0755);
    write_elf("here", "/lib/ld-musl-x.so.1", own.e_machine, 0755);
    setenv("PATH", "/nowhere:first:second::", 1);
    expect("tool", 0, "is static, ");
    expect("here", 0, "is built for another libc");
    setenv("PATH", "first", 1);
    expect("tool", 0, "could have loaded");
    expect("second", 0, "could have loaded");
}
END_TEST

START_TEST(rights_of_its_own_are_seen)
{
    write_elf("raised", "/lib/ld-linux-any.so.2", own.e_machine, 0755);
    if (chown("raised", 65534, 65534) != 0)
        return; /* root alone can give a file away */
    ck_assert_int_eq(chmod("raised", 04755), 0);
    expect("./raised", 0, "is setuid or setgid, ");
    ck_assert_int_eq(chmod("raised", 02755), 0);
    expect("./raised", 0, "is setuid or setgid, ");
    ck_assert_int_eq(chmod("raised", 0755) | chown("raised", getuid(), getgid()) | chmod("raised", 06755), 0);
    expect("./raised", 0, "could have loaded"); /* no more than the caller has */
}
END_TEST

START_TEST(no_file_is_too_short_or_too_wild)
{
    struct {
        Elf64_Ehdr elf;
        Elf64_Phdr part;
    } wild = {.elf = own, .part = {.p_type = PT_INTERP, .p_offset = UINT64_MAX}};

    wild.elf.e_phoff = sizeof wild.elf;
    wild.elf.e_phnum = 1;
    write_file("wild", &wild, sizeof wild, 0755);
    expect("./wild", 0, "could have loaded");
    wild.elf.e_phoff = UINT64_MAX - 8;
    wild.elf.e_phnum = UINT16_MAX;
    write_file("wild", &wild, sizeof wild, 0755);
    expect("./wild", 0, "could have loaded");
    for (size_t len = 0; len < sizeof wild.elf; len++) {
        write_file("short", &wild, len, 0755);
        expect("./short", 0, "could have loaded");
    }
}
END_TEST

TEST_SUITE(test_record_unseen)
{
    Suite *suite = suite_create("record_unseen");
    TCase *tests = tcase_create("record_unseen");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, the_head_of_the_file_says_what_it_is);
    tcase_add_test(tests, a_script_is_what_its_interpreter_is);
    tcase_add_test(tests, a_program_is_found_as_execvp_finds_it);
    tcase_add_test(tests, rights_of_its_own_are_seen);
    tcase_add_test(tests, no_file_is_too_short_or_too_wild);
    suite_add_tcase(suite, tests);
    return suite;
}
