/* SPDX-License-Identifier: Apache-2.0
 *
 * What programs print in the reader's language. A text, or a format of printf, is known by its English, which stands where it is
 * printed; who links say/ has it in Chinese (say/spoken.h). Without that all is English.
 */
#ifndef NM_BASE_SPOKEN_H
#define NM_BASE_SPOKEN_H

/* Gives the text in the language, of the same conversions; NULL: there is none. */
typedef const char *nm_spoken_find(const char *english);

/* From here on texts are looked up so; NULL: English. Not while another thread prints. */
void nm_spoken_by(nm_spoken_find *find);

/* The text in the reader's language, or as it is. */
const char *nm_spoken(const char *english) __attribute__((format_arg(1)));

/* What printf takes for a column of so many (less than 0: left-aligned), so that the text has them on a screen, where a Chinese
 * character has two. */
int nm_spoken_width(int columns, const char *text);

#endif
