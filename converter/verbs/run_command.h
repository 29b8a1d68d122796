/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the command that is recorded, and looks at its program. */
#ifndef CONVERTER_VERBS_RUN_COMMAND_H
#define CONVERTER_VERBS_RUN_COMMAND_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "steptrace/status.h"

/* Identification in the header of ELF files. */
struct elf_kind {
    unsigned char class; /* ELFCLASS64 */
    unsigned char order; /* ELFDATA2LSB */
    Elf64_Half machine;  /* EM_X86_64 */
    bool is_musl;        /* the program uses musl's loader */
    bool is_static;      /* of 64 bits, and uses no loader */
};

/* Returns false if the file is none of ELF. */
bool elf_kind_read(const char *path, struct elf_kind *kind);
/* Searches like execvp(). */
bool command_find(const char *command, char *path, size_t size);
/* Reports what a verb cannot do.  Returns IO. */
enum step_status command_fail(const char *verb, const char *what, const char *why);
/* Runs the command to its end, whose exit status becomes the verb's; the keyboard's signals are for
 * the command alone, and with `passes_on` it gets those that end this program.  `prepare` (NULL:
 * nothing) runs in the child before it; returns false with errno.  Sets `*process`.  Reports why
 * the command could not be started. */
enum step_status command_run(const char *verb, char **words, bool passes_on,
                             bool (*prepare)(const void *user), const void *user, pid_t *process);

#endif
