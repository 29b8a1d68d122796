/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace says of the process that it is of. */
#ifndef CAPTURE_PROVENANCE_H
#define CAPTURE_PROVENANCE_H

#include <stddef.h>
#include <stdint.h>

#include "steptrace/writer.h"

void provenance_number(struct step_writer *writer, const char *key, uint64_t value);
void provenance_host(struct step_writer *writer);
/* As the kernel knows it, words separated by spaces: as much as `text` has room for.  Allocates
 * nothing. */
void provenance_command_line(struct step_writer *writer, char *text, size_t size);

#endif
