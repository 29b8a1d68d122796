/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compressed files (gzip, zstd): an output that compresses, and an input that decompresses a file
 * and detects the method from its first bytes.  Both stream.  Each object is used by one thread at
 * a time.
 */
#ifndef STEPTRACE_PACKED_H
#define STEPTRACE_PACKED_H

#include "steptrace/status.h"
#include "steptrace/writer.h"

/* The declarations below are exported by the shared library. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

enum step_packing { STEP_PACKING_NONE, STEP_PACKING_GZIP, STEP_PACKING_ZSTD };

/* Returns the method that a file name's suffix selects: .gz, .zst, or none. */
enum step_packing step_packing_by_ending(const char *path);

struct step_packed_output;

/* Creates an output that writes compressed bytes to `to`, which is copied.  `level` 0 is the
 * default of the method.  UNSUPPORTED: this build has no zstd. */
enum step_status step_packed_output_create(enum step_packing packing, int level,
                                           const struct step_output *to,
                                           struct step_packed_output **out,
                                           struct step_error *error);
/* From now on a thread compresses, and calls `to`, until step_packed_output_close(); without effect
 * where the process may use one processor only.  To be called before
 * step_packed_output_as_output(). */
enum step_status step_packed_output_use_thread(struct step_packed_output *output,
                                               struct step_error *error);
struct step_output step_packed_output_as_output(struct step_packed_output *output);
/* Writes the end of the compressed data.  Nothing may be written afterwards. */
enum step_status step_packed_output_close(struct step_packed_output *output,
                                          struct step_error *error);
void step_packed_output_destroy(struct step_packed_output *output);

struct step_packed_input;

/* Opens a file, which may be a pipe. */
enum step_status step_packed_input_open(const char *path, struct step_packed_input **out,
                                        struct step_error *error);
/* Opens a descriptor.  The input owns and closes it, also if the call fails.  `start` has the bytes
 * that the caller already read from it, at most STEP_PACKED_START_MAX. */
#define STEP_PACKED_START_MAX 4096u
enum step_status step_packed_input_open_descriptor(int descriptor, const char *name,
                                                   const void *start, size_t start_length,
                                                   struct step_packed_input **out,
                                                   struct step_error *error);
/* Opens bytes in memory, which are borrowed for the input's life. */
enum step_status step_packed_input_open_memory(const void *data, size_t length, const char *name,
                                               struct step_packed_input **out,
                                               struct step_error *error);
/* Reads 1 to `size` decompressed bytes and sets `*got` to their number, or to 0 at the end.  `user`
 * is the input.  CUT or CORRUPT: the compressed data ends early or is damaged, or is more than 1
 * GiB and 1,100 times its compressed bytes; the error has the offset in the decompressed bytes. */
enum step_status step_packed_input_read(void *user, void *buffer, size_t size, size_t *got,
                                        struct step_error *error);
enum step_packing step_packed_input_packing(const struct step_packed_input *input);
/* Returns the share of the file that was read, 0 to 1, or 1 if it is unknown. */
double step_packed_input_progress(const struct step_packed_input *input);
void step_packed_input_close(struct step_packed_input *input);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
