/* SPDX-License-Identifier: Apache-2.0 */
/* Source of the uncompressed bytes of a trace's text; the layer hatf also reads other entries of a
 * ZIP file with it. */
#ifndef FORMAT_IO_ZIP_ENTRY_H
#define FORMAT_IO_ZIP_ENTRY_H

#include <minizip/unzip.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "format/io/zip_file.h"
#include "steptrace/status.h"

struct text_source;

#define TEXT_ENTRY "trace"

/* Open a source like step_text_reader_open() and its variants; `name` is copied, `entry` must
 * outlive the source. */
enum step_status text_source_open_entry(const char *path, const char *entry,
                                        struct text_source **out, struct step_error *error);
enum step_status text_source_open_memory(const void *data, size_t length, const char *name,
                                         struct text_source **out, struct step_error *error);
enum step_status text_source_open_plain(const void *data, size_t length, const char *name,
                                        struct text_source **out, struct step_error *error);
/* Reads the text from a descriptor, which is borrowed; `size` bytes, 0: until its end. */
enum step_status text_source_open_file(int file, uint64_t size, const char *name,
                                       struct text_source **out, struct step_error *error);

/* Reads 1 to `size` bytes of the text_source `user`, or 0 at the end, if the checksum is right. The
 * offset of an error is that of the first unreadable byte. */
enum step_status text_source_read(void *user, void *buffer, size_t size, size_t *got,
                                  struct step_error *error);

const char *text_source_name(const struct text_source *source);
/* Returns the ZIP file's comment, cut to 255 bytes; "" if there is none. */
const char *text_source_remark(const struct text_source *source);
/* Returns the uncompressed size that the file states, or 0. */
uint64_t text_source_size(const struct text_source *source);
/* Returns the part of the text that was read, up to 1.0. */
double text_source_progress(const struct text_source *source);

void text_source_destroy(struct text_source *source);

#endif
