/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole files that are packed by gzip or zstd: an output that packs what it is given, and an input
 * that unpacks a file, whatever its packing, as its first bytes say.  Both stream.  Each is used by
 * one thread at a time.
 */
#ifndef STEPTRACE_PACKED_H
#define STEPTRACE_PACKED_H

#include "steptrace/status.h"
#include "steptrace/writer.h"

/* What follows is what the shared library exports. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

enum step_packing { STEP_PACKING_NONE, STEP_PACKING_GZIP, STEP_PACKING_ZSTD };

/* By the ending of a file's name: .gz, .zst, or none. */
enum step_packing step_packing_by_ending(const char *path);

struct step_packed_output;

/* `to` is copied.  UNSUPPORTED where this build has no zstd.  `level` 0: the packer's default. */
enum step_status step_packed_output_create(enum step_packing packing, int level,
                                           const struct step_output *to,
                                           struct step_packed_output **out,
                                           struct step_error *error);
struct step_output step_packed_output_as_output(struct step_packed_output *output);
/* Writes the end of the packed data; nothing may be written after it. */
enum step_status step_packed_output_close(struct step_packed_output *output,
                                          struct step_error *error);
void step_packed_output_destroy(struct step_packed_output *output);

struct step_packed_input;

/* Opens a file, which may be a pipe. */
enum step_status step_packed_input_open(const char *path, struct step_packed_input **out,
                                        struct step_error *error);
/* The same for a descriptor, which the input closes (where the call fails as well).  `start` are
 * bytes that the caller has read from it already, at most STEP_PACKED_START_MAX. */
#define STEP_PACKED_START_MAX 4096u
enum step_status step_packed_input_open_descriptor(int descriptor, const char *name,
                                                   const void *start, size_t start_length,
                                                   struct step_packed_input **out,
                                                   struct step_error *error);
/* The same for bytes in memory, which are borrowed for the input's life. */
enum step_status step_packed_input_open_memory(const void *data, size_t length, const char *name,
                                               struct step_packed_input **out,
                                               struct step_error *error);
/* Gives 1 to `size` unpacked bytes in `*got`, or 0 at the end.  `user` is the input.  CUT and
 * CORRUPT for packed data that end too early or are damaged, with the offset in the unpacked bytes.
 */
enum step_status step_packed_input_read(void *user, void *buffer, size_t size, size_t *got,
                                        struct step_error *error);
enum step_packing step_packed_input_packing(const struct step_packed_input *input);
/* The share of the file that was read, 0 to 1; 1 where that is not known. */
double step_packed_input_progress(const struct step_packed_input *input);
void step_packed_input_close(struct step_packed_input *input);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
