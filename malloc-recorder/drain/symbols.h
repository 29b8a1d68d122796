/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves the addresses of a running process to modules, functions and lines. */
#ifndef MALLOC_RECORDER_DRAIN_SYMBOLS_H
#define MALLOC_RECORDER_DRAIN_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct symbols;

/* Returns NULL if out of memory. */
struct symbols *symbols_create(uint64_t process);

/* Describes the code that a return address returns to, as far as known: "function file.c:123",
 * "function", "library.so+0x12", "0x7f12".  Returns the length, less than `size`. */
size_t symbols_describe(void *symbols, uint64_t address, char *out, size_t size);

/* Returns the modules seen so far, one per line: path, a blank, the build id; NULL: none.  Lives as
 * long as `symbols`. */
const char *symbols_modules(struct symbols *symbols);

#endif
