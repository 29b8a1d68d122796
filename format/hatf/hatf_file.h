/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to the HATF layer: the files that traces are read from and written to. */
#ifndef FORMAT_HATF_HATF_FILE_H
#define FORMAT_HATF_HATF_FILE_H

#include "steptrace/hatf.h"

struct hatf_file;

/* Opens a file; its content shows whether it is plain, gzip, zstd, or a ZIP file. */
enum step_status hatf_file_open(const char *path, struct hatf_file **out, struct step_error *error);
enum hatf_split hatf_file_split(const struct hatf_file *file);
/* Returns one input for each stream of the split; they live as long as the file. */
const struct hatf_input *hatf_file_inputs(const struct hatf_file *file);
double hatf_file_progress(const struct hatf_file *file);
void hatf_file_close(struct hatf_file *file);

struct hatf_output_file;

/* Creates a file, like hatf_writer_open(). */
enum step_status hatf_output_file_open(const char *path, enum hatf_split split, int level,
                                       struct hatf_output_file **out, struct step_error *error);
const struct step_output *hatf_output_file_outputs(const struct hatf_output_file *file);
/* Completes the file. */
enum step_status hatf_output_file_finish(struct hatf_output_file *file, struct step_error *error);
void hatf_output_file_destroy(struct hatf_output_file *file);

#endif
