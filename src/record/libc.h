/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of libc that moved between its libraries in version 2.34. Named here by their first version, so that the
 * libraries load on every glibc from 2.17 on, and weak: on an old one, a program without libpthread or libdl has them not.
 */
#ifndef NM_RECORD_LIBC_H
#define NM_RECORD_LIBC_H

#include <pthread.h>

int nm_libc_key_create(pthread_key_t *key, void (*destructor)(void *)) __attribute__((weak));
int nm_libc_setspecific(pthread_key_t key, const void *value) __attribute__((weak));
void *nm_libc_dlvsym(void *handle, const char *name, const char *version) __attribute__((weak));

#if defined(__x86_64__)
#define NM_LIBC_FIRST "GLIBC_2.2.5"
#else
#define NM_LIBC_FIRST "GLIBC_2.17"
#endif

__asm__(".symver nm_libc_key_create, pthread_key_create@" NM_LIBC_FIRST);
__asm__(".symver nm_libc_setspecific, pthread_setspecific@" NM_LIBC_FIRST);
__asm__(".symver nm_libc_dlvsym, dlvsym@" NM_LIBC_FIRST);

#endif
