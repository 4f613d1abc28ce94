/* SPDX-License-Identifier: Apache-2.0
 *
 * Names are cut into words, and words looked up; keys of well-known services are known by how they begin. What is left out by
 * mistake costs little, what is kept by mistake may cost much: so the rest of a text goes with what stands behind a name,
 * whatever may be in it. A text is walked once, however long it is. Runs inside the recorded program: libc alone, no memory of
 * its own.
 */
#include "base/secret.h"

#include <string.h>

#define STARS          3
#define WORD_BYTES_MAX 24 /* longer words are no secret's, but for their end */
#define PAIR_BYTES_MAX 512

/* Anywhere in a name. */
static const char *const strong_words[] = {
    "password",    "passwords", "passwd",    "passphrase", "passcode", "secret",  "secrets",   "credential",
    "credentials", "cred",      "creds",     "bearer",     "cookie",   "cookies", "signature", "sig",
    "apikey",      "apikeys",   "accesskey", "webhook",    "webhooks", "jwt",     "totp",      "mnemonic",
};

/* Of words that are run together: PGPASSWORD, clientsecret, sshkey. */
static const char *const strong_ends[] = {
    "password",      "passwd",     "passphrase", "secret",     "secretkey", "apikey",    "privatekey",
    "accesskey",     "authkey",    "sshkey",     "accountkey", "sharedkey", "masterkey", "signingkey",
    "encryptionkey", "licensekey", "storagekey", "sessionkey", "sshpass",   "userpass",  "userpwd",
};
static const char *const weak_ends[] = {"token"};

/* At the end of a name, or before one of `values`. */
static const char *const weak_words[] = {"key", "token", "pass", "pwd", "pat", "sas", "psk", "otp", "ak", "sk"};
static const char *const weak_plurals[] = {"keys", "tokens"}; /* behind one of `owners` */
static const char *const owners[] = {"api", "access", "private", "ssh", "signing", "encryption"};
static const char *const values[] = {"value", "values", "string",  "text", "data",   "json",
                                     "pem",   "base",   "content", "body", "header", "raw"};

/* Names of files, before one of `values` what is in them. */
static const char *const holders[] = {"kubeconfig", "dockerconfig", "dockerconfigjson", "netrc",   "npmrc",
                                      "pypirc",     "pgpass",       "keytab",           "keystore"};

/* Names whose value is a secret where it is user:password. */
static const char *const pair_words[] = {"user", "login", "username"};

/* In UTF-8, at the end of what is before a colon: password, secret key, password, token, proof. */
static const char *const chinese_words[] = {"\xe5\xaf\x86\xe7\xa0\x81", "\xe5\xaf\x86\xe9\x92\xa5",
                                            "\xe5\x8f\xa3\xe4\xbb\xa4", "\xe4\xbb\xa4\xe7\x89\x8c",
                                            "\xe5\x87\xad\xe8\xaf\x81"};

/* How keys of well-known services begin, and how many letters, digits, '_' and '-' they have behind that at least. */
static const struct {
    const char *begin;
    size_t rest_bytes;
} keys[] = {
    {"AKIA", 16},           {"ASIA", 16},
    {"LTAI", 12},           {"AKID", 16},
    {"AIza", 30},           {"eyJ", 13},
    {"ghp_", 20},           {"gho_", 20},
    {"ghu_", 20},           {"ghs_", 20},
    {"ghr_", 20},           {"github_pat_", 20},
    {"glpat-", 16},         {"gldt-", 16},
    {"glrt-", 16},          {"hf_", 30},
    {"api_org_", 30},       {"sk-", 20},
    {"sk_live_", 16},       {"sk_test_", 16},
    {"rk_live_", 16},       {"xoxb-", 10},
    {"xoxp-", 10},          {"xoxa-", 10},
    {"xoxs-", 10},          {"xapp-", 10},
    {"npm_", 30},           {"pypi-", 30},
    {"dckr_pat_", 16},      {"nvapi-", 20},
    {"gsk_", 20},           {"r8_", 30},
    {"hvs.", 16},           {"glsa_", 20},
    {"ya29.", 16},          {"AGE-SECRET-KEY-", 16},
    {"LS0tLS1CRUdJTi", 16}, {"b3BlbnNzaC1rZXk", 16}, /* keys in PEM and of OpenSSH, in base 64 */
};

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
    bool is_owned = false, is_weak = false, is_holder = false;
    char word[WORD_BYTES_MAX];
    size_t at = 0, count;

    if (HAS(folders, name, len))
        return false;
    while ((count = next_word(name, len, &at, word)) > 0) {
        if (HAS(strong_words, word, count) || is_auth(word, count) ||
            ends_with_one(strong_ends, sizeof strong_ends / sizeof *strong_ends, word, count))
            return true;
        if (HAS(values, word, count) && (is_weak || is_holder)) {
            is_weak = true;
            continue;
        }
        is_holder = HAS(holders, word, count);
        is_weak = HAS(weak_words, word, count) || (is_owned && HAS(weak_plurals, word, count)) ||
                  ends_with_one(weak_ends, sizeof weak_ends / sizeof *weak_ends, word, count);
        is_owned = HAS(owners, word, count);
    }
    return is_weak;
}

/* Is it "user:password", if it is that at all? "proxy-user", "-u"; not "user-count". */
static bool is_pair_name(const char *name, size_t len)
{
    char word[WORD_BYTES_MAX];
    size_t at = 0, count;
    bool is_pair = len == 2 && name[0] == '-' && (name[1] == 'u' || name[1] == 'U');

    while (!is_pair && (count = next_word(name, len, &at, word)) > 0)
        if (HAS(pair_words, word, count) && next_word(name, len, &at, word) == 0)
            return true;
    return is_pair;
}

/* ---- Texts --------------------------------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_byte(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
}

static bool is_key_byte(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '-';
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

static size_t word_len(const char *text, size_t len)
{
    size_t end = 0;

    while (end < len && !is_gap(text[end]))
        end++;
    return end;
}

static bool is_all_digits(const char *text, size_t len)
{
    size_t at = 0;

    while (at < len && is_digit(text[at]))
        at++;
    return at == len;
}

/* user:password; not numbers of a user and a group, nor a URL. */
static bool is_pair(const char *text, size_t len)
{
    size_t end = word_len(text, len < PAIR_BYTES_MAX ? len : PAIR_BYTES_MAX);
    const char *found = end == 0 ? NULL : memchr(text, ':', end);
    size_t colon = found == NULL ? 0 : (size_t)(found - text);

    if (colon == 0 || colon + 1 == end || text[colon + 1] == '/' || text[colon + 1] == ':' ||
        memchr(text, '/', colon) != NULL)
        return false;
    return !is_all_digits(text, colon) || !is_all_digits(text + colon + 1, end - colon - 1);
}

/* Is it no word of a language? 20 characters of base 64 with a digit and letters of both kinds, or 32 with a digit. */
static bool is_random(const char *text, size_t len)
{
    bool has_digit = false, has_upper = false, has_lower = false, has_mark = false;
    size_t count = 0;

    for (; count < len && (is_key_byte(text[count]) || strchr("+/=", text[count]) != NULL) && text[count] != 0;
         count++) {
        has_digit |= is_digit(text[count]);
        has_upper |= is_upper(text[count]);
        has_lower |= is_letter(text[count]) && !is_upper(text[count]);
        has_mark |= !is_letter(text[count]) && !is_digit(text[count]);
    }
    return has_digit && ((count >= 20 && has_upper && has_lower) || (count >= 32 && !has_mark));
}

/* ---- Behind a name ------------------------------------------------------------------------------------------------- */

typedef enum parting { PARTING_NONE, PARTING_BLANK, PARTING_SIGN } parting;

/* What begins at `at`, which is no byte of a name, and its bytes. A colon of C++ or of a URL parts nothing. */
static parting parting_at(const char *text, size_t at, size_t len, size_t *bytes)
{
    bool is_scope = (at + 1 < len && text[at + 1] == ':') || (at > 0 && text[at - 1] == ':');

    *bytes = 1;
    if (text[at] == '=')
        return PARTING_SIGN;
    if (text[at] == ':')
        return is_scope || (at + 2 < len && text[at + 1] == '/' && text[at + 2] == '/') ? PARTING_NONE : PARTING_SIGN;
    if (len - at >= 3 && (memcmp(text + at, "\xef\xbc\x9a", 3) == 0 || memcmp(text + at, "\xef\xbc\x9d", 3) == 0)) {
        *bytes = 3; /* both signs of full width */
        return PARTING_SIGN;
    }
    return text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == ',' ? PARTING_BLANK : PARTING_NONE;
}

static size_t skip_to_value(const char *text, size_t at, size_t len)
{
    while (at < len && (is_between(text[at]) || text[at] == '=' || text[at] == ':'))
        at++;
    return at;
}

/* Is what begins at `value` the secret of this name? Where a blank alone is between them: of an option, or if it looks so. */
static bool is_secret_of(const char *name, size_t name_bytes, parting between, const char *value, size_t len)
{
    bool is_option = name[0] == '-' || (name_bytes == 6 && memcmp(name + 1, "earer", 5) == 0);

    if (nm_secret_is_name(name, name_bytes))
        return between == PARTING_SIGN || is_option || is_random(value, len);
    return (between == PARTING_SIGN || is_option) && is_pair_name(name, name_bytes) && is_pair(value, len);
}

/* Does the text up to `end` end in a Chinese word for one? */
static bool is_chinese_name(const char *text, size_t end)
{
    return ends_with_one(chinese_words, sizeof chinese_words / sizeof *chinese_words, text, end);
}

/* Where a private key in PEM begins, or what is before it in PEM; len: there is none. */
static size_t find_pem(const char *text, size_t len)
{
    static const char begin[] = "-----BEGIN", kind[] = "PRIVATE KEY";
    const char *found = memmem(text, len, begin, sizeof begin - 1);

    if (found == NULL || memmem(found, len - (size_t)(found - text), kind, sizeof kind - 1) == NULL)
        return len;
    return (size_t)(found - text);
}

/* Where the value of the first secret that has a name begins, or a private key; len: there is none. */
static size_t find_named(const char *text, size_t len)
{
    size_t begin = 0, end = 0, bytes, pem = find_pem(text, len); /* begin to end: the last name; empty: none is open */
    bool is_tried = false;                                       /* with a blank behind it */

    for (size_t at = 0; at < pem; at += bytes) {
        bytes = 1;
        if (is_name_byte(text[at])) {
            begin = at == 0 || end < at ? at : begin;
            end = at + 1;
            is_tried = false;
            continue;
        }
        parting between = parting_at(text, at, len, &bytes);

        if (between == PARTING_SIGN && is_chinese_name(text, at))
            return skip_to_value(text, at + bytes, len);
        if (end > begin && (between == PARTING_SIGN || (between == PARTING_BLANK && !is_tried))) {
            size_t value = skip_to_value(text, at + bytes, len);

            if (is_secret_of(text + begin, end - begin, between, text + value, len - value))
                return value;
            is_tried = true;
        }
        if (between == PARTING_SIGN || !is_between(text[at]))
            begin = end = 0;
    }
    return pem;
}

/* ---- By themselves ------------------------------------------------------------------------------------------------- */

/* How many bytes a key of a well-known service has that begins here. 0: none does. It may go on with what else base 64 and
 * its kind have. */
static size_t key_len(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t begin = strlen(keys[i].begin), end = begin;
        bool is_mixed = false;

        if (len < begin + keys[i].rest_bytes || memcmp(text, keys[i].begin, begin) != 0)
            continue;
        for (; end < len && is_key_byte(text[end]); end++)
            is_mixed |= is_digit(text[end]) || is_upper(text[end]);
        if (!is_mixed || end < begin + keys[i].rest_bytes)
            continue;
        while (end < len && text[end] != 0 && (is_key_byte(text[end]) || strchr(".+/=~", text[end]) != NULL))
            end++;
        return end;
    }
    return 0;
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
        else if (has_colon && !is_digit(text[end]))
            is_port = false;
    }
    return found;
}

/* Begins what ends user and password outside of a URL: no digest of an image. */
static bool is_host(const char *text, size_t len)
{
    return len > 0 && (is_letter(text[0]) || is_digit(text[0]) || text[0] == '[') &&
           !(len > 3 && memcmp(text, "sha", 3) == 0 && is_digit(text[3]));
}

/* The last @ of the word that goes on at `from`; `from` where there is none. */
static size_t last_at(const char *text, size_t from, size_t len)
{
    const char *found = memrchr(text + from, '@', word_len(text + from, len - from));

    return found == NULL ? from : (size_t)(found - text);
}

typedef struct span {
    size_t begin, end;
} span;

/* The next part from `from` on that goes: a key, the user of a URL, or user:password before @. False: there is none. */
static bool find_span(const char *text, size_t from, size_t len, bool is_key_alone, span *out)
{
    size_t word = from, colon = len; /* where a word begins that may be user:password, and its first colon */
    size_t last = len;               /* @ of a word that is a URL; len: it is none */

    for (size_t at = from; at < len; at++) {
        size_t key = at == from || !is_key_byte(text[at - 1]) ? key_len(text + at, len - at) : 0;

        *out = (span){at, at + key};
        if (key > 0)
            return true;
        if (is_key_alone)
            continue;
        if (len - at > 3 && memcmp(text + at, "://", 3) == 0) {
            last = last < len ? last : last_at(text, at, len);
            *out = (span){at + 3, at < last ? find_user_end(text, at + 3, len) : at + 3};
            if (out->end > out->begin)
                return true;
        }
        if (is_gap(text[at]) || (colon == len && strchr("=,;([{<|&/?#", text[at]) != NULL)) {
            last = is_gap(text[at]) ? len : last;
            word = at + 1;
            colon = len;
        } else if (text[at] == ':' && colon == len && at > word && !(at + 1 < len && text[at + 1] == ':') &&
                   text[at - 1] != ':') {
            colon = at;
        }
        *out = (span){word, at};
        if (text[at] == '@' && last == len && colon + 1 < at && is_host(text + at + 1, len - at - 1))
            return true;
    }
    return false;
}

static size_t mask(char *text, size_t len, size_t rest, bool is_key_alone)
{
    size_t from = 0, to = 0;
    span found;

    while (find_span(text, from, rest, is_key_alone, &found)) {
        memmove(text + to, text + from, found.begin - from);
        to = put_stars(text, to + found.begin - from, to + found.end - from);
        from = found.end;
    }
    memmove(text + to, text + from, rest - from);
    to += rest - from;
    return rest < len ? put_stars(text, to, to + len - rest) : to;
}

size_t nm_secret_mask_text(char *text, size_t len)
{
    return mask(text, len, find_named(text, len), false);
}

size_t nm_secret_mask_keys(char *text, size_t len)
{
    return mask(text, len, len, true);
}

bool nm_secret_is_in_text(const char *text, size_t len)
{
    span found;

    return find_named(text, len) < len || find_span(text, 0, len, false, &found);
}

/* ---- Lists --------------------------------------------------------------------------------------------------------- */

/* Is the next argument its value? *is_pair: if that is user:password. */
static bool is_open_name(const char *text, size_t len, bool *is_of_pair)
{
    size_t name = 0;
    bool is_open = text[0] == '-' && memchr(text, '=', len) == NULL;

    while (name < len && text[name] == '-')
        name++;
    *is_of_pair = is_open && is_pair_name(text, len);
    return is_open && name < len && nm_secret_is_name(text + name, len - name);
}

/* How much of an argument that is cut may stay: what was cut off could have shown that the rest is a secret. */
static size_t cut_len(const char *text, size_t len)
{
    const char *url = memmem(text, len, "://", 3);
    size_t word = len;

    if (url != NULL)
        return (size_t)(url - text) + 3;
    while (word > 0 && !is_gap(text[word - 1]))
        word--;
    if (memchr(text + word, ':', len - word) != NULL)
        return word;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *key = memmem(text + word, len - word, keys[i].begin, strlen(keys[i].begin));

        if (key != NULL)
            return (size_t)(key - text);
    }
    return len;
}

size_t nm_secret_mask_arguments(char *list, size_t len)
{
    size_t out = 0, next;
    bool is_value = false, is_pair_next = false;

    for (size_t at = 0; at < len; at = next) {
        const char *zero = memchr(list + at, 0, len - at);
        size_t bytes = zero != NULL ? (size_t)(zero - (list + at)) : len - at;
        /* a key in PEM begins with five of them */
        bool is_option = bytes > 2 && list[at] == '-' && list[at + 1] == '-' && list[at + 2] != '-';
        bool is_secret = (is_value && !is_option) || (is_pair_next && is_pair(list + at, bytes));

        if (zero == NULL)
            bytes = cut_len(list + at, bytes);
        next = zero != NULL ? at + bytes + 1 : len;
        is_value = is_open_name(list + at, bytes, &is_pair_next);
        memmove(list + out, list + at, bytes);
        out += is_secret ? put_stars(list + out, 0, bytes) : nm_secret_mask_text(list + out, bytes);
        if (zero != NULL)
            list[out++] = 0;
    }
    return out;
}
