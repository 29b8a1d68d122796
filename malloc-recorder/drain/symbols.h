/* SPDX-License-Identifier: Apache-2.0 */
/* What lies at the addresses of a running process: modules, functions, lines. */
#ifndef MALLOC_RECORDER_DRAIN_SYMBOLS_H
#define MALLOC_RECORDER_DRAIN_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct symbols;

/* NULL: out of memory. */
struct symbols *symbols_create(uint64_t process);

/* "function file.c:123", "function", "library.so+0x12", "0x7f12": as much as is known of what a
 * return address returns to.  Returns the length, less than `size`. */
size_t symbols_describe(void *symbols, uint64_t address, char *out, size_t size);

/* The modules that were met, a line each: path, a blank, the build id; NULL: none.  Lives as long
 * as `symbols`. */
const char *symbols_modules(struct symbols *symbols);

#endif
