/* SPDX-License-Identifier: Apache-2.0
 *
 * Secrets go first (base/secret.h). A path is cut where what everybody has begins (a package, CANN, a system's folder); the rest is a
 * folder and a file with numbers of their own, so that places stay apart and files of one folder stay together. In free text, paths,
 * addresses and words that were met elsewhere as a host, user, file, argument or part of a path are replaced, in whatever case they
 * are written.
 */
#include "store/redact_text.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"

#define WORD_BYTES_MIN      3 /* of a host or user that is replaced in free text; one of an argument is one longer */
#define WORD_BYTES_MAX      256
#define THREAD_NAME_BYTES   15 /* Linux cuts them */
#define EXTENSION_BYTES_MAX 6

/* Packages whose files everybody has, below a folder site-packages or dist-packages. */
static const char *const packages[] = {
    "torch",     "torch_npu",    "torchvision", "torchaudio", "functorch", "torchgen",    "triton",    "numpy",
    "mindspore", "transformers", "accelerate",  "deepspeed",  "megatron",  "mindspeed",   "vllm",      "vllm_ascend",
    "peft",      "datasets",     "tokenizers",  "lightning",  "apex",      "flash_attn",  "ray",       "acl",
    "te",        "tbe",          "tensorflow",  "jax",        "jaxlib",    "safetensors", "diffusers", "scipy",
};

static const char *const systems[] = {"/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/"};
static const char *const programs[] = {"python", "python3", "torchrun", "sh",  "bash",
                                       "env",    "mpirun",  "mpiexec",  "srun"};
static const char *const extensions[] = {"py", "so",  "c",      "cc",  "cpp",  "cxx",  "cu",  "h",   "hpp", "pyx", "sh",
                                         "db", "zst", "pickle", "pkl", "json", "yaml", "yml", "txt", "a",   "o"};

/* Parts of paths and names of files that say nothing of anybody, nor are they one's own: they are words of every text. */
static const char *const everyday[] = {
    "home",     "users",     "user",       "root",       "data",          "datasets",      "dataset",     "src",
    "source",   "sources",   "lib",        "lib64",      "libs",          "local",         "share",       "build",
    "dist",     "bin",       "include",    "model",      "models",        "module",        "modules",     "train",
    "training", "trainer",   "test",       "tests",      "testing",       "eval",          "infer",       "main",
    "utils",    "util",      "tools",      "tool",       "script",        "scripts",       "work",        "workspace",
    "project",  "projects",  "code",       "app",        "apps",          "checkpoint",    "checkpoints", "output",
    "outputs",  "input",     "inputs",     "result",     "results",       "logs",          "cache",       "temp",
    "runs",     "config",    "configs",    "conf",       "core",          "common",        "envs",        "venv",
    "conda",    "anaconda3", "miniconda3", "miniforge3", "site-packages", "dist-packages", "python",      "ascend",
    "memory",   "device",    "host",       "pool",       "step",          "rank",          "stream",      "forward",
    "backward", "optimizer", "weights",    "layers",     "layer",         "loss",          "server",      "media",
    "mount",    "launch",    "setup",      "init",       "__init__",      "__main__",      "examples",    "example",
    "demo",     "docs",      "shared",     "storage",    "volume",        "volumes",       "nobody",      "private",
    "public",   "release",   "debug",      "program",    "programs",
};

static bool is_one_of(const char *const *list, size_t count, const char *text, size_t len)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i]) == len && memcmp(list[i], text, len) == 0)
            return true;
    return false;
}

#define IS_ONE_OF(list, text, len) is_one_of(list, sizeof(list) / sizeof *(list), text, len)

static bool begins_with(const char *text, size_t len, const char *begin)
{
    size_t count = strlen(begin);

    return len >= count && memcmp(text, begin, count) == 0;
}

/* ---- Names --------------------------------------------------------------------------------------------------------- */

static nm_status add(nm_buffer *out, const char *text, size_t len, nm_error *err)
{
    return nm_buffer_append(out, text, len, err);
}

static nm_status number_of(nm_redact *redact, nm_redact_kind kind, const char *name, size_t len, uint32_t *number,
                           nm_error *err)
{
    return nm_strings_intern(&redact->names[kind], (nm_bytes){(const uint8_t *)name, len}, number, err);
}

static nm_status add_name(nm_redact_kind kind, uint32_t number, nm_buffer *out, nm_error *err)
{
    static const char *const stems[] = {"host", "user", "/path", "file", "arg", "folder"};
    char text[32];
    int len = snprintf(text, sizeof text, "%s-%u", stems[kind], number);

    return add(out, text, (size_t)len, err);
}

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static bool is_number(const char *text, size_t len)
{
    size_t digits = 0;

    while (digits < len && !isalpha((unsigned char)text[digits]))
        digits++;
    return digits == len;
}

/* In lower case, into `out`. False: it is longer than words are. */
static bool fold(const char *word, size_t len, char out[WORD_BYTES_MAX])
{
    if (len > WORD_BYTES_MAX)
        return false;
    for (size_t i = 0; i < len; i++)
        out[i] = (char)tolower((unsigned char)word[i]);
    return true;
}

static nm_status learn_one(nm_redact *redact, const char *word, size_t len, nm_redact_word meaning, nm_error *err)
{
    size_t before = redact->words.count;
    uint32_t number = 0;
    nm_status status = nm_strings_intern(&redact->words, (nm_bytes){(const uint8_t *)word, len}, &number, err);

    if (status == NM_OK && redact->words.count > before)
        status = nm_array_grow(&redact->meanings, &redact->meaning_capacity, redact->words.count,
                               sizeof *redact->meanings, err);
    if (status == NM_OK && redact->words.count > before)
        redact->meanings[number - 1] = meaning;
    return status;
}

/* From now on the word is known in free text, in whatever case. The first meaning holds. */
static nm_status learn(nm_redact *redact, const char *word, size_t len, nm_redact_word meaning, nm_error *err)
{
    size_t shortest = meaning.kind <= NM_REDACTED_USER ? WORD_BYTES_MIN : WORD_BYTES_MIN + 1;
    char folded[WORD_BYTES_MAX];

    if (len < shortest || is_number(word, len))
        return NM_OK;
    nm_status status = learn_one(redact, word, len, meaning, err);
    return status == NM_OK && fold(word, len, folded) ? learn_one(redact, folded, len, meaning, err) : status;
}

static const nm_redact_word *find_one(const nm_redact *redact, const char *word, size_t len)
{
    uint32_t number = nm_strings_find(&redact->words, (nm_bytes){(const uint8_t *)word, len});

    return number == 0 ? NULL : &redact->meanings[number - 1];
}

/* As it is written, or else in lower case. */
static const nm_redact_word *find_word(const nm_redact *redact, const char *word, size_t len)
{
    char folded[WORD_BYTES_MAX];
    const nm_redact_word *found = find_one(redact, word, len);

    return found == NULL && fold(word, len, folded) ? find_one(redact, folded, len) : found;
}

/* ---- Hosts --------------------------------------------------------------------------------------------------------- */

/* Its name up to the first point means it too, and what is behind that where it is somebody's. A host has one name, in
 * whatever case. */
static nm_status add_host(nm_redact *redact, const char *host, size_t len, nm_buffer *out, nm_error *err)
{
    static const char *const of_all[] = {"local", "localdomain", "internal", "cluster.local", "svc.cluster.local"};
    const nm_redact_word *known = find_word(redact, host, len);
    const char *point = memchr(host, '.', len);
    size_t name = point == NULL ? len : (size_t)(point - host), domain = point == NULL ? 0 : len - name - 1;
    nm_redact_word meaning = {NM_REDACTED_HOST, 0};
    char folded[WORD_BYTES_MAX];
    nm_status status = NM_OK;

    if (len == 0 || (len == 9 && memcmp(host, "localhost", 9) == 0))
        return add(out, host, len, err);
    if (known != NULL && known->kind == NM_REDACTED_HOST)
        meaning = *known;
    else
        status =
            number_of(redact, NM_REDACTED_HOST, fold(host, len, folded) ? folded : host, len, &meaning.number, err);
    if (status == NM_OK)
        status = learn(redact, host, len, meaning, err);
    if (status == NM_OK && point != NULL)
        status = learn(redact, host, name, meaning, err);
    if (status == NM_OK && domain > 0 && !IS_ONE_OF(of_all, point + 1, domain))
        status = learn(redact, point + 1, domain, meaning, err);
    return status == NM_OK ? add_name(NM_REDACTED_HOST, meaning.number, out, err) : status;
}

static nm_status add_user(nm_redact *redact, const char *user, size_t len, nm_buffer *out, nm_error *err)
{
    nm_redact_word meaning = {NM_REDACTED_USER, 0};
    nm_status status = number_of(redact, NM_REDACTED_USER, user, len, &meaning.number, err);

    if (status == NM_OK)
        status = learn(redact, user, len, meaning, err);
    return status == NM_OK && out != NULL ? add_name(NM_REDACTED_USER, meaning.number, out, err) : status;
}

/* Four numbers up to 255. 0: none is here. */
static size_t ipv4_len(const char *text, size_t len)
{
    size_t at = 0;

    for (int part = 0; part < 4; part++) {
        size_t begin = at;
        unsigned value = 0;

        while (at < len && at - begin < 3 && isdigit((unsigned char)text[at]))
            value = value * 10 + (unsigned)(text[at++] - '0');
        if (at == begin || value > 255)
            return 0;
        if (part < 3 && (at == len || text[at++] != '.'))
            return 0;
    }
    return at < len && is_word_byte(text[at]) ? 0 : at;
}

/* Six or eight pairs of hexadecimal digits with one sign between them, as of a network card; or three fours with points. */
static size_t mac_len(const char *text, size_t len)
{
    size_t run = 0, width, count;
    char sign;

    while (run < len && isxdigit((unsigned char)text[run]))
        run++;
    width = run;
    sign = run < len ? text[run] : 0;
    if (!(width == 2 && (sign == ':' || sign == '-')) && !(width == 4 && sign == '.'))
        return 0;
    for (count = 1; run < len && text[run] == sign; count++) {
        size_t end = run + 1;

        while (end < len && isxdigit((unsigned char)text[end]))
            end++;
        if (end - run - 1 != width)
            return 0;
        run = end;
    }
    if (run < len && isalnum((unsigned char)text[run]))
        return 0;
    return (width == 2 && (count == 6 || count == 8 || count == 20)) || (width == 4 && count == 3) ? run : 0;
}

/* As inet_pton has it. Two names of C++ with :: between them may look so: one of only two groups has a digit and a whole first
 * group, as those of networks have. */
static size_t ipv6_len(const char *text, size_t len)
{
    char address[INET6_ADDRSTRLEN];
    struct in6_addr ignored;
    size_t end = 0, colons = 0, first = 0;
    bool has_digit = false;

    for (; end < len && end < sizeof address - 1 &&
           (isxdigit((unsigned char)text[end]) || strchr(":.", text[end]) != NULL) && text[end] != 0;
         end++) {
        first = text[end] == ':' && colons == 0 ? end : first;
        colons += text[end] == ':';
        has_digit |= isdigit((unsigned char)text[end]) != 0;
    }
    while (end > 0 &&
           (text[end - 1] == '.' || (text[end - 1] == ':' && !(end > 1 && text[end - 2] == ':')))) { /* behind it */
        colons -= text[end - 1] == ':';
        end--;
    }
    if (colons < 2 || (end < len && isalnum((unsigned char)text[end])) || (colons == 2 && !(has_digit && first == 4)))
        return 0;
    memcpy(address, text, end);
    address[end] = 0;
    return inet_pton(AF_INET6, address, &ignored) == 1 ? end : 0;
}

/* An address of a machine. 0: none is here. */
static size_t address_len(const char *text, size_t len)
{
    size_t bytes = ipv4_len(text, len);

    if (bytes == 0)
        bytes = mac_len(text, len);
    return bytes > 0 ? bytes : ipv6_len(text, len);
}

static nm_status add_free_text(nm_redact *redact, nm_redact_role role, const char *text, size_t len, nm_buffer *out,
                               nm_error *err);

/* ---- Paths --------------------------------------------------------------------------------------------------------- */

/* Where the part of a path begins that everybody has; len: nowhere. */
static size_t find_public(const char *path, size_t len)
{
    static const char *const roots[] = {"/site-packages/", "/dist-packages/"};
    const char *found;

    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if ((found = memmem(path, len, roots[i], strlen(roots[i]))) != NULL) {
            const char *name = found + strlen(roots[i]);
            size_t name_bytes = 0;

            while (name + name_bytes < path + len && name[name_bytes] != '/' && name[name_bytes] != '.')
                name_bytes++;
            return IS_ONE_OF(packages, name, name_bytes) ? (size_t)(name - path) : len;
        }
    if ((found = memmem(path, len, "/Ascend/", 8)) != NULL)
        return (size_t)(found + 1 - path);
    if ((found = memmem(path, len, "/lib/python3.", 13)) != NULL &&
        memchr(found + 5, '/', len - (size_t)(found + 5 - path)))
        return (size_t)(found + 5 - path);
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (begins_with(path, len, systems[i]) && !begins_with(path, len, "/usr/local/"))
            return 0;
    found = memrchr(path, '/', len);
    found = found == NULL ? path : found + 1;
    size_t base_bytes = len - (size_t)(found - path);
    bool is_own =
        begins_with(found, base_bytes, "libnpumem") || (base_bytes == 9 && memcmp(found, "npumem.py", 9) == 0);
    return is_own ? (size_t)(found - path) : len;
}

/* ".py"; ".so" of "libx.so.1.2"; nothing where it is no usual one. */
static nm_bytes extension_of(const char *base, size_t len)
{
    for (size_t at = 1; at < len; at++) {
        size_t end = at + 1;

        while (end < len && base[end] != '.' && end - at <= EXTENSION_BYTES_MAX)
            end++;
        if (base[at] == '.' && IS_ONE_OF(extensions, base + at + 1, end - at - 1))
            return (nm_bytes){(const uint8_t *)base + at, end - at};
    }
    return (nm_bytes){0};
}

/* Is it a word of anybody's, or one that begins as names in Python's own folders do? */
static bool is_everyday(const char *word, size_t len)
{
    char folded[WORD_BYTES_MAX];

    return begins_with(word, len, "python3.") || (fold(word, len, folded) && IS_ONE_OF(everyday, folded, len));
}

/* Thread names are cut names of programs, and names of modules those of files without their ending. */
static nm_status add_file(nm_redact *redact, const char *base, size_t len, nm_buffer *out, nm_error *err)
{
    nm_redact_word meaning = {NM_REDACTED_FILE, 0};
    nm_bytes extension = extension_of(base, len);
    nm_status status = number_of(redact, NM_REDACTED_FILE, base, len, &meaning.number, err);

    if (status == NM_OK)
        status = learn(redact, base, len, meaning, err);
    if (status == NM_OK && len > THREAD_NAME_BYTES)
        status = learn(redact, base, THREAD_NAME_BYTES, meaning, err);
    size_t stem = extension.len > 0 ? (size_t)((const char *)extension.data - base) : 0;
    if (status == NM_OK && stem > 0 && !is_everyday(base, stem))
        status = learn(redact, base, stem, meaning, err);
    if (status == NM_OK)
        status = add_name(NM_REDACTED_FILE, meaning.number, out, err);
    return status == NM_OK ? add(out, (const char *)extension.data, extension.len, err) : status;
}

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

/* The folders of a path are known as words from now on. */
static nm_status learn_parts(nm_redact *redact, const char *folder, size_t len, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t at = 0, end; at < len && status == NM_OK; at = end + 1) {
        nm_redact_word meaning = {NM_REDACTED_PART, 0};

        for (end = at; end < len && !is_slash(folder[end]);)
            end++;
        if (end - at <= WORD_BYTES_MIN || is_number(folder + at, end - at) || is_everyday(folder + at, end - at) ||
            find_word(redact, folder + at, end - at) != NULL)
            continue;
        status = number_of(redact, NM_REDACTED_PART, folder + at, end - at, &meaning.number, err);
        if (status == NM_OK)
            status = learn(redact, folder + at, end - at, meaning, err);
    }
    return status;
}

static nm_status add_folder(nm_redact *redact, const char *folder, size_t len, nm_buffer *out, nm_error *err)
{
    uint32_t number = 0;
    nm_status status = learn_parts(redact, folder, len, err);

    if (status == NM_OK)
        status = number_of(redact, NM_REDACTED_FOLDER, folder, len, &number, err);
    return status == NM_OK ? add_name(NM_REDACTED_FOLDER, number, out, err) : status;
}

/* Whose folder a path leads through. */
static nm_status learn_user(nm_redact *redact, const char *path, size_t len, nm_error *err)
{
    static const char *const homes[] = {"/home/", "/Users/", "/users/", "\\Users\\"};
    nm_status status = NM_OK;

    for (size_t i = 0; i < sizeof homes / sizeof *homes && status == NM_OK; i++) {
        const char *found = memmem(path, len, homes[i], strlen(homes[i]));
        const char *name = found == NULL ? NULL : found + strlen(homes[i]);
        size_t count = 0;

        while (name != NULL && name + count < path + len && !is_slash(name[count]))
            count++;
        if (count > 0)
            status = add_user(redact, name, count, NULL, err);
    }
    return status;
}

/* Names that are no files: <string>, [vdso], python3.11, -. */
static bool is_no_file(const char *path, size_t len)
{
    return len == 0 || (len == 1 && path[0] == '-') ||
           (memchr(path, '/', len) == NULL && (path[0] == '<' || path[0] == '[' || begins_with(path, len, "python3.") ||
                                               begins_with(path, len, "linux-vdso")));
}

/* Behind the last slash, of whichever kind. */
static size_t base_of(const char *path, size_t len)
{
    while (len > 0 && !is_slash(path[len - 1]))
        len--;
    return len;
}

/* //server/share: a host is in it. */
static nm_status learn_server(nm_redact *redact, const char *path, size_t len, nm_error *err)
{
    nm_buffer ignored = {0};
    size_t end = 2;
    nm_status status = NM_OK;

    if (len < 3 || !is_slash(path[0]) || path[1] != path[0] || !is_word_byte(path[2]))
        return NM_OK;
    while (end < len && is_word_byte(path[end]))
        end++;
    status = add_host(redact, path + 2, end - 2, &ignored, err);
    nm_buffer_free(&ignored);
    return status;
}

static nm_status add_path(nm_redact *redact, const char *path, size_t len, nm_buffer *out, nm_error *err)
{
    size_t base = base_of(path, len), public;
    nm_status status = learn_user(redact, path, len, err);

    if (status == NM_OK)
        status = learn_server(redact, path, len, err);
    if (status != NM_OK || is_no_file(path, len))
        return status == NM_OK ? add_free_text(redact, NM_REDACT_TEXT, path, len, out, err) : status;
    public = find_public(path, len);
    if (public < len)
        base = public;
    if (base > 1) /* neither relative nor of the root */
        status = add_folder(redact, path, base - 1, out, err);
    if (status == NM_OK && base > 0 && base < len)
        status = add(out, "/", 1, err);
    if (status != NM_OK || base == len)
        return status;
    return public < len ? add(out, path + public, len - public, err)
                        : add_file(redact, path + base, len - base, out, err);
}

/* ---- Free text ----------------------------------------------------------------------------------------------------- */

/* C:\ */
static bool is_drive(const char *text, size_t len)
{
    return len > 3 && isalpha((unsigned char)text[0]) && text[1] == ':' && text[2] == '\\' && is_word_byte(text[3]);
}

/* How much of a path begins here: /x, //server/share, \\server\share, C:\x. 0: none does. */
static size_t path_len(const char *text, size_t at, size_t len)
{
    bool is_windows = is_drive(text + at, len - at);
    size_t end = at, name = at;

    while (name < len && name < at + 2 && text[name] == text[at] && is_slash(text[at]))
        name++;
    if (!is_windows && (name == at || name >= len || !is_word_byte(text[name]) || (text[at] == '\\' && name < at + 2)))
        return 0;
    if (at > 0 && (is_word_byte(text[at - 1]) || is_slash(text[at - 1]))) /* relative, or a quotient */
        return 0;
    if (is_windows)
        end = at + 2;
    while (end < len && strchr(" \t\n\"',;:()<>[]{}|&=`*", text[end]) == NULL)
        end++;
    return end - at;
}

/* A relative path is known by the ending of its file. 0: none begins here. */
static size_t relative_len(const char *text, size_t len)
{
    size_t end = 0, base;

    while (end < len && end < PATH_MAX && (is_word_byte(text[end]) || is_slash(text[end])))
        end++;
    while (end > 0 && text[end - 1] == '.')
        end--;
    base = base_of(text, end);
    nm_bytes extension = base == 0 ? (nm_bytes){0} : extension_of(text + base, end - base);
    bool is_last = extension.len > 0 && (const char *)extension.data + extension.len == text + end;
    return is_last && extension.len > 2 ? end : 0;
}

/* user@host, or a word that was met: how much of it was replaced. */
static nm_status add_word(nm_redact *redact, nm_redact_role role, const char *text, size_t len, size_t *used,
                          nm_buffer *out, nm_error *err)
{
    size_t run = 0, host = 0;
    nm_status status;

    *used = address_len(text, len);
    if (*used > 0)
        return add_host(redact, text, *used, out, err);
    *used = role == NM_REDACT_TEXT ? relative_len(text, len) : 0;
    if (*used > 0)
        return add_path(redact, text, *used, out, err);
    while (run < len && run < WORD_BYTES_MAX && is_word_byte(text[run]))
        run++;
    while (run > 0 && host < WORD_BYTES_MAX && run + 1 + host < len && text[run] == '@' &&
           is_word_byte(text[run + 1 + host]))
        host++;
    if (host > 0 && role == NM_REDACT_TEXT) {
        *used = run + 1 + host;
        status = add_user(redact, text, run, out, err);
        if (status == NM_OK)
            status = add(out, "@", 1, err);
        return status == NM_OK ? add_host(redact, text + run + 1, host, out, err) : status;
    }
    for (size_t end = run; end > 0; end--) {
        const nm_redact_word *word =
            end < run && isalnum((unsigned char)text[end]) ? NULL : find_word(redact, text, end);

        if (word == NULL || (role == NM_REDACT_FUNCTION && word->kind > NM_REDACTED_USER))
            continue;
        *used = end;
        return add_name(word->kind, word->number, out, err);
    }
    return NM_OK;
}

/* What is behind "://": the host and its port, then a folder for all the rest. */
static nm_status add_url(nm_redact *redact, const char *text, size_t len, size_t *used, nm_buffer *out, nm_error *err)
{
    size_t host = len > 0 && text[0] == '[' ? strcspn(text, "] \t\n\"'") : 0, rest;
    size_t begin = host > 0 ? 1 : 0;
    nm_status status = add(out, text, begin, err);

    if (begin == 0)
        while (host < len && is_word_byte(text[host]))
            host++;
    if (status == NM_OK)
        status = add_host(redact, text + begin, host - begin, out, err);
    for (*used = host;
         *used < len && (text[*used] == ']' || text[*used] == ':' || isdigit((unsigned char)text[*used]));)
        ++*used;
    if (status == NM_OK)
        status = add(out, text + host, *used - host, err);
    for (rest = *used; rest < len && strchr(" \t\n\"'<>|`", text[rest]) == NULL;)
        rest++;
    if (status != NM_OK || rest == *used || strchr("/?#", text[*used]) == NULL)
        return status;
    status = learn_user(redact, text + *used, rest - *used, err);
    if (status == NM_OK)
        status = add_folder(redact, text + *used, rest - *used, out, err);
    *used = rest;
    return status;
}

static nm_status add_free_text(nm_redact *redact, nm_redact_role role, const char *text, size_t len, nm_buffer *out,
                               nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t at = 0, used; at < len && status == NM_OK; at += used) {
        bool is_begin = at == 0 || !isalnum((unsigned char)text[at - 1]);

        if (begins_with(text + at, len - at, "://")) {
            status = add(out, "://", 3, err);
            if (status == NM_OK)
                status = add_url(redact, text + at + 3, len - at - 3, &used, out, err);
            used += 3;
            continue;
        }
        used = path_len(text, at, len);
        if (used > 0)
            status = add_path(redact, text + at, used, out, err);
        else if (is_begin && is_word_byte(text[at]))
            status = add_word(redact, role, text + at, len - at, &used, out, err);
        if (used == 0 && status == NM_OK) {
            status = add(out, text + at, 1, err);
            used = 1;
        }
    }
    return status;
}

/* ---- Commands ------------------------------------------------------------------------------------------------------ */

/* The value of an argument is known in free text; the names of options are words of everybody's. */
static nm_status learn_argument(nm_redact *redact, const char *text, size_t len, uint32_t number, nm_error *err)
{
    const char *equals = memchr(text, '=', len);
    size_t at = equals != NULL ? (size_t)(equals - text) + 1 : text[0] == '-' ? len : 0;
    bool is_path = memchr(text + at, '/', len - at) != NULL;
    nm_buffer ignored = {0};
    nm_status status = NM_OK;

    if (is_path)
        status = add_free_text(redact, NM_REDACT_TEXT, text + at, len - at, &ignored, err);
    while (!is_path && at < len && status == NM_OK) {
        size_t end = at;

        while (end < len && is_word_byte(text[end]))
            end++;
        status = learn(redact, text + at, end - at, (nm_redact_word){NM_REDACTED_ARGUMENT, number}, err);
        at = end + 1;
    }
    nm_buffer_free(&ignored);
    return status;
}

static nm_status add_argument(nm_redact *redact, const char *text, size_t len, nm_buffer *out, nm_error *err)
{
    uint32_t number = 0;
    nm_status status;

    if (text[0] != '-' && (text[0] == '/' || extension_of(text, len).len > 0))
        return add_path(redact, text, len, out, err);
    status = number_of(redact, NM_REDACTED_ARGUMENT, text, len, &number, err);
    if (status == NM_OK)
        status = learn_argument(redact, text, len, number, err);
    return status == NM_OK ? add_name(NM_REDACTED_ARGUMENT, number, out, err) : status;
}

static nm_status add_program(nm_redact *redact, const char *text, size_t len, nm_buffer *out, nm_error *err)
{
    if (IS_ONE_OF(programs, text, len) || begins_with(text, len, "python3."))
        return add(out, text, len, err);
    return add_path(redact, text, len, out, err);
}

static nm_status add_command(nm_redact *redact, const char *text, size_t len, nm_buffer *out, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t at = 0; at < len && status == NM_OK;) {
        size_t end = at;

        while (end < len && !isspace((unsigned char)text[end]))
            end++;
        if (end > at)
            status = at == 0 ? add_program(redact, text, end, out, err)
                             : add_argument(redact, text + at, end - at, out, err);
        if (status == NM_OK && end < len)
            status = add(out, " ", 1, err);
        at = end + 1;
    }
    return status;
}

/* Into redact->text, without its secrets: its length, and a zero byte behind it. */
static nm_status hide_secrets(nm_redact *redact, nm_redact_role role, nm_bytes text, size_t *len, nm_error *err)
{
    nm_status status;

    redact->text.len = 0;
    status = nm_buffer_append(&redact->text, text.data, text.len, err);
    if (status == NM_OK)
        status = nm_buffer_append(&redact->text, "", 1, err);
    if (status != NM_OK)
        return status;
    char *data = (char *)redact->text.data;
    *len = role == NM_REDACT_TEXT ? nm_secret_mask_text(data, text.len) : nm_secret_mask_keys(data, text.len);
    data[*len] = 0;
    return NM_OK;
}

nm_status nm_redact_text(nm_redact *redact, nm_redact_role role, nm_bytes text, nm_buffer *out, nm_error *err)
{
    const char *data = (const char *)text.data;
    size_t len = text.len;
    nm_status status = NM_OK;

    out->len = 0;
    if (role == NM_REDACT_TEXT || role == NM_REDACT_FUNCTION) { /* of the others nothing stays */
        status = hide_secrets(redact, role, text, &len, err);
        data = (const char *)redact->text.data;
    }
    if (status != NM_OK)
        return status;
    switch (role) {
    case NM_REDACT_HOST:
        return add_host(redact, data, len, out, err);
    case NM_REDACT_PATH:
        return add_path(redact, data, len, out, err);
    case NM_REDACT_COMMAND:
        return add_command(redact, data, len, out, err);
    default:
        return add_free_text(redact, role, data, len, out, err);
    }
}

void nm_redact_free(nm_redact *redact)
{
    for (int kind = 0; kind < NM_REDACTED_KIND_COUNT; kind++)
        nm_strings_free(&redact->names[kind]);
    nm_strings_free(&redact->words);
    nm_buffer_free(&redact->text);
    free(redact->meanings);
}
