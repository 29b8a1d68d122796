/* SPDX-License-Identifier: Apache-2.0 */
/* The source of a reader's bytes: a file with random access (it may shrink meanwhile), memory, or a
 * caller's input. */
#ifndef FORMAT_IO_BYTE_SOURCE_H
#define FORMAT_IO_BYTE_SOURCE_H

#include "format/core/bytes.h"
#include "steptrace/reader.h"

struct step_byte_source {
    int file; /* -1: memory or input */
    const uint8_t *memory;
    struct step_input input; /* used if its `read` is not NULL */
    uint64_t size;
    uint64_t base;    /* added to offsets in messages */
    const char *name; /* borrowed */
};

enum step_status step_byte_source_open(const char *path, struct step_byte_source *source,
                                       struct step_error *error);
void step_byte_source_close(struct step_byte_source *source);

/* Points `*bytes` to `length` bytes at `offset`, either in memory or in `buffer`.  CUT: the source
 * ends earlier. */
enum step_status step_byte_source_read(const struct step_byte_source *source, uint64_t offset,
                                       uint64_t length, struct step_buffer *buffer,
                                       const uint8_t **bytes, struct step_error *error);

#endif
