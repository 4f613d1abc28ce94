/* SPDX-License-Identifier: Apache-2.0
 *
 * Which values are secrets, by their names and by how they look, and how they are left out: before anything is written, also
 * inside the recorded program, and of every text that --redact leaves. docs/security.md says the rules to users.
 */
#ifndef NM_BASE_SECRET_H
#define NM_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Is what has this name a secret? Judged by whole words ("api-key", "HF_TOKEN", "clientSecret"): one that says password,
 * secret, credential or auth decides wherever it stands, key, token, pass, pwd and their kind only at the end of the name. So neither
 * "max-tokens", "tokenizer", "pattern", "num-key-value-heads" nor "keyframe-interval" is.
 */
bool nm_secret_is_name(const char *name, size_t len);

/*
 * Replaces secrets in a text, in place, by at most three stars: what follows NAME=, NAME: or --NAME, or a private key, up to
 * the end of the text; users and passwords of URLs and before @host; keys that look like those of well-known services. The result,
 * which is never longer, is its length.
 */
size_t nm_secret_mask_text(char *text, size_t len);

/* The same of keys that are known by their look alone: for what has the form of no text, as names of functions. */
size_t nm_secret_mask_keys(char *text, size_t len);

bool nm_secret_is_in_text(const char *text, size_t len); /* is there one to replace? */

/* As nm_secret_mask_text in a list of arguments, each with a zero byte behind it (the last may be cut), where a secret may also be the
 * argument after its name. */
size_t nm_secret_mask_arguments(char *list, size_t len);

#endif
