/* SPDX-License-Identifier: Apache-2.0 */
/* The permissions of new outputs: a document of a trace shows what the trace shows, so nobody may
 * read it who may not read the trace. */
#ifndef CONVERTER_FILES_OUTPUT_RIGHTS_H
#define CONVERTER_FILES_OUTPUT_RIGHTS_H

#include <sys/types.h>

/* Notes a trace that is read, if the path is a regular file's. */
void output_rights_note(const char *path);
/* Returns these permissions as the umask leaves them, without those of a group or of others that
 * may not read each trace that was noted. */
mode_t output_rights_of_new(mode_t most);

#endif
