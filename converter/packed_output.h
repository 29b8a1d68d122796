/* SPDX-License-Identifier: Apache-2.0 */
/* An output that compresses what it is given and hands it on. */
#ifndef CONVERTER_PACKED_OUTPUT_H
#define CONVERTER_PACKED_OUTPUT_H

#include "steptrace/writer.h"

enum packing { PACKING_NONE, PACKING_GZIP, PACKING_ZSTD };

struct packed_output;

/* UNSUPPORTED where this build has no zstd.  `level` 0: the packer's default. */
enum step_status packed_output_create(enum packing packing, int level, const struct step_output *to,
                                      struct packed_output **out, struct step_error *error);
struct step_output packed_output_as_output(struct packed_output *output);
/* Ends the packed data. */
enum step_status packed_output_close(struct packed_output *output, struct step_error *error);
void packed_output_destroy(struct packed_output *output);

#endif
