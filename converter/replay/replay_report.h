/* SPDX-License-Identifier: Apache-2.0 */
/* What a replay found: for people, as CSV, as JSON, as a picture. */
#ifndef CONVERTER_REPLAY_REPLAY_REPORT_H
#define CONVERTER_REPLAY_REPLAY_REPORT_H

#include <stdio.h>

#include "converter/replay/replay_run.h"

void replay_print_table(const struct replay *replay, FILE *out);
void replay_print_csv(const struct replay *replay, FILE *out);
void replay_print_json(const struct replay *replay, FILE *out);
/* SVG: live bytes, and the resident bytes of each allocator, over the calls of the trace. */
void replay_print_picture(const struct replay *replay, FILE *out);

#endif
