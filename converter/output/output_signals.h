/* SPDX-License-Identifier: Apache-2.0 */
/* Signal handlers of programs that write files. They remove unfinished outputs before a signal ends
 * the program. SIGXFSZ does not end it: a write beyond the limit of file sizes fails. */
#ifndef CONVERTER_OUTPUT_OUTPUT_SIGNALS_H
#define CONVERTER_OUTPUT_OUTPUT_SIGNALS_H

#include <signal.h>
#include <sys/stat.h>

/* Makes signals of the user and SIGPIPE remove what is doomed before they end the program, and
 * SIGXFSZ harmless: the write returns EFBIG.  Programs that are started get the default of each. */
void output_signals_catch(void);

/* Blocks all signals while something is made and doomed.  Returns the previous mask for
 * output_signals_let(). */
sigset_t output_signals_hold(void);
void output_signals_let(sigset_t before);

/* Makes these signals remove the file `made` that has that name in the directory.  What is given
 * stays open, and in place, until output_signals_spare_file(). */
void output_signals_doom_file(int directory, const char *name, const struct stat *made);
void output_signals_spare_file(void);
/* The same for a directory, open as `made`, and the files in it. */
void output_signals_doom_directory(int parent, const char *name, int made);
void output_signals_spare_directory(void);

/* Removes the files in an open directory.  Is async-signal-safe. */
void output_signals_empty(int directory);

#endif
