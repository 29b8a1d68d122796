/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of a trace that describe the traced process. */
#ifndef CAPTURE_PROVENANCE_H
#define CAPTURE_PROVENANCE_H

#include <stddef.h>
#include <stdint.h>

#include "steptrace/writer.h"

/* Reads a file of the kernel's, or as much as there is room for, and ends it with a 0 byte. Returns
 * its length; 0: it cannot be read. Allocates nothing. */
size_t provenance_read(const char *path, char *text, size_t size);

enum step_status provenance_number(struct step_writer *writer, const char *key, uint64_t value);
void provenance_host(struct step_writer *writer);
/* Writes the kernel's command line of the process, words separated by spaces, secrets masked.
 * `text` is a buffer that limits its length. Allocates nothing. */
void provenance_command_line(struct step_writer *writer, uint64_t process, char *text, size_t size);

#endif
