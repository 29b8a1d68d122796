/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the results of a replay as text, CSV, JSON or a picture. */
#ifndef CONVERTER_REPLAY_REPLAY_REPORT_H
#define CONVERTER_REPLAY_REPLAY_REPORT_H

#include <stdio.h>

#include "converter/replay/replay_run.h"

void replay_print_table(const struct replay *replay, FILE *out);
void replay_print_csv(const struct replay *replay, FILE *out);
void replay_print_json(const struct replay *replay, FILE *out);
/* Prints an SVG of live bytes, and of the resident bytes of each allocator, over the trace's
 * calls.  For output_file_print(). */
bool replay_print_picture(const void *replay, FILE *out);

#endif
