/* SPDX-License-Identifier: Apache-2.0
 *
 * Names are cut into words, and words looked up. What is left out by mistake costs little, what is kept by mistake may cost
 * much: so the rest of a text goes with its secret, whatever may be in it. Runs inside the recorded program: libc alone, no
 * memory of its own.
 */
#include "base/secret.h"

#include <string.h>

#define STARS          3
#define WORD_BYTES_MAX 24 /* longer words are no secret's, but for their end */

/* Anywhere in a name. */
static const char *const strong_words[] = {
    "password", "passwords", "passwd", "passphrase", "passcode",  "secret", "secrets", "credential", "credentials",
    "cred",     "creds",     "bearer", "cookie",     "signature", "sig",    "apikey",  "apikeys",    "accesskey",
};

/* Of words that are run together: PGPASSWORD, clientsecret, sshkey. */
static const char *const strong_ends[] = {"password", "passwd",     "passphrase", "secret",  "secretkey",
                                          "apikey",   "privatekey", "accesskey",  "authkey", "sshkey"};
static const char *const weak_ends[] = {"token"};

/* At the end of a name, or before one of `values`. */
static const char *const weak_words[] = {"key", "token", "pass", "pwd"};
static const char *const weak_plurals[] = {"keys", "tokens"}; /* behind one of `owners` */
static const char *const owners[] = {"api", "access", "private", "ssh", "signing", "encryption"};
static const char *const values[] = {"value", "string", "text", "data", "json", "pem", "base", "header"};

#define HAS(list, word, len) has(list, sizeof(list) / sizeof *(list), word, len)

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_letter(char c)
{
    return is_upper(c) || (c >= 'a' && c <= 'z');
}

static bool has(const char *const *list, size_t count, const char *word, size_t len)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i]) == len && memcmp(list[i], word, len) == 0)
            return true;
    return false;
}

static bool ends_with_one(const char *const *list, size_t count, const char *word, size_t len)
{
    for (size_t i = 0; i < count; i++) {
        size_t end = strlen(list[i]);

        if (len >= end && memcmp(list[i], word + len - end, end) == 0)
            return true;
    }
    return false;
}

/* auth, authn, authorization; not author. */
static bool is_auth(const char *word, size_t len)
{
    bool is_author = len >= 6 && memcmp(word, "author", 6) == 0;

    return len >= 4 && memcmp(word, "auth", 4) == 0 &&
           (!is_author || (len > 8 && (memcmp(word + 6, "iz", 2) == 0 || memcmp(word + 6, "is", 2) == 0)));
}

/* ---- Words --------------------------------------------------------------------------------------------------------- */

/* The next word of a name, in lower case: letters up to another character or a change of case. A long one has its end
 * alone. 0: there is none. */
static size_t next_word(const char *name, size_t len, size_t *at, char word[WORD_BYTES_MAX])
{
    size_t begin = *at, end, count;

    while (begin < len && !is_letter(name[begin]))
        begin++;
    for (end = begin; end < len && is_letter(name[end]); end++) {
        bool is_next_lower = end + 1 < len && is_letter(name[end + 1]) && !is_upper(name[end + 1]);

        if (end > begin && is_upper(name[end]) && (!is_upper(name[end - 1]) || is_next_lower))
            break;
    }
    *at = end;
    count = end - begin < WORD_BYTES_MAX ? end - begin : WORD_BYTES_MAX;
    for (size_t i = 0; i < count; i++) {
        char c = name[end - count + i];

        word[i] = is_upper(c) ? (char)(c - 'A' + 'a') : c;
    }
    return count;
}

bool nm_secret_is_name(const char *name, size_t len)
{
    static const char *const folders[] = {"PWD", "OLDPWD"};
    bool is_owned = false, is_weak = false;
    char word[WORD_BYTES_MAX];
    size_t at = 0, count;

    if (HAS(folders, name, len))
        return false;
    while ((count = next_word(name, len, &at, word)) > 0) {
        if (HAS(strong_words, word, count) || is_auth(word, count) ||
            ends_with_one(strong_ends, sizeof strong_ends / sizeof *strong_ends, word, count))
            return true;
        if (is_weak && HAS(values, word, count))
            continue;
        is_weak = HAS(weak_words, word, count) || (is_owned && HAS(weak_plurals, word, count)) ||
                  ends_with_one(weak_ends, sizeof weak_ends / sizeof *weak_ends, word, count);
        is_owned = HAS(owners, word, count);
    }
    return is_weak;
}

/* ---- Texts --------------------------------------------------------------------------------------------------------- */

static bool is_name_byte(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

static bool is_gap(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '"' || c == '\'' || c == '\\' || c == '`';
}

/* Between a name and its value; in a list of JSON also a comma. */
static bool is_between(char c)
{
    return is_gap(c) || c == ',';
}

static size_t put_stars(char *text, size_t from, size_t len)
{
    size_t count = len - from < STARS ? len - from : STARS;

    memset(text + from, '*', count);
    return from + count;
}

/* Does a secret's name end before `at`, with nothing but quotes and blanks between? As an option where only a blank
 * or comma parts it from what follows. */
static bool is_named_before(const char *text, size_t at)
{
    bool is_blank = text[at] != '=' && text[at] != ':';
    size_t end = at, begin;

    while (end > 0 && is_between(text[end - 1]))
        end--;
    for (begin = end; begin > 0 && is_name_byte(text[begin - 1]);)
        begin--;
    if (is_blank && text[begin] != '-' && !(end - begin == 6 && (memcmp(text + begin + 1, "earer", 5) == 0)))
        return false;
    return end > begin && nm_secret_is_name(text + begin, end - begin);
}

/* Where the value of the first secret begins; len: there is none. */
static size_t find_secret(const char *text, size_t len)
{
    for (size_t at = 1; at < len; at++) {
        bool is_parting = text[at] == '=' || text[at] == ' ' || text[at] == '\t' || text[at] == '\n' ||
                          text[at] == ',' ||
                          (text[at] == ':' && !(at + 2 < len && text[at + 1] == '/' && text[at + 2] == '/'));

        if (!is_parting || !is_named_before(text, at))
            continue;
        while (at < len && (is_between(text[at]) || text[at] == '=' || text[at] == ':'))
            at++;
        return at;
    }
    return len;
}

/* Where the user and password of a URL end, which begin at `begin`: the place of the @, or begin where there are none. A
 * slash in a password is none of a path's: before it there is a colon, and no port behind that. */
static size_t find_user_end(const char *text, size_t begin, size_t len)
{
    size_t end = begin, found = begin;
    bool has_colon = false, is_port = true;

    for (; end < len && !is_gap(text[end]); end++) {
        if (text[end] == '@')
            found = end;
        else if ((text[end] == '/' || text[end] == '?' || text[end] == '#') && (!has_colon || is_port || found > begin))
            break;
        else if (text[end] == ':')
            has_colon = true;
        else if (has_colon && (text[end] < '0' || text[end] > '9'))
            is_port = false;
    }
    return found;
}

/* Where the next user of a URL from `from` on begins and ends; len: there is none. */
static size_t find_user(const char *text, size_t from, size_t len, size_t *end)
{
    for (size_t at = from; at + 3 < len; at++) {
        if (memcmp(text + at, "://", 3) != 0)
            continue;
        *end = find_user_end(text, at + 3, len);
        if (*end > at + 3)
            return at + 3;
    }
    return len;
}

static size_t mask_urls(char *text, size_t len)
{
    size_t end = 0, at = find_user(text, 0, len, &end);

    while (at < len) {
        size_t stars = put_stars(text, at, end);

        memmove(text + stars, text + end, len - end);
        len -= end - stars;
        at = find_user(text, stars, len, &end);
    }
    return len;
}

size_t nm_secret_mask_text(char *text, size_t len)
{
    size_t at = find_secret(text, len);

    return mask_urls(text, at < len ? put_stars(text, at, len) : len);
}

bool nm_secret_is_in_text(const char *text, size_t len)
{
    size_t end;

    return find_secret(text, len) < len || find_user(text, 0, len, &end) < len;
}

/* Is the next argument its value? */
static bool is_open_name(const char *text, size_t len)
{
    size_t name = 0;

    while (name < len && text[name] == '-')
        name++;
    return name > 0 && memchr(text, '=', len) == NULL && nm_secret_is_name(text + name, len - name);
}

static size_t url_begin(const char *text, size_t len)
{
    const char *found = memmem(text, len, "://", 3);

    return found != NULL ? (size_t)(found - text) + 3 : len;
}

size_t nm_secret_mask_arguments(char *list, size_t len)
{
    size_t out = 0, next;
    bool is_value = false;

    for (size_t at = 0; at < len; at = next) {
        const char *zero = memchr(list + at, 0, len - at);
        size_t bytes = zero != NULL ? (size_t)(zero - (list + at)) : len - at;
        /* a key in PEM begins with five of them */
        bool is_option = bytes > 2 && list[at] == '-' && list[at + 1] == '-' && list[at + 2] != '-';
        bool is_secret = is_value && !is_option;

        if (zero == NULL) /* cut, perhaps between a password and what would show it to be one */
            bytes = url_begin(list + at, bytes);
        next = zero != NULL ? at + bytes + 1 : len;
        is_value = is_open_name(list + at, bytes);
        memmove(list + out, list + at, bytes);
        out += is_secret ? put_stars(list + out, 0, bytes) : nm_secret_mask_text(list + out, bytes);
        if (zero != NULL)
            list[out++] = 0;
    }
    return out;
}
