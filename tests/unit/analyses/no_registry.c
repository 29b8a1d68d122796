/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of a program without commands, for tests of one of them (cmake/registry.cmake makes
 * that of `steptrace`). */
#include <stddef.h>

#include "converter/cli/verb.h"
#include "converter/recorders/recording.h"
#include "converter/statistics/findings_maker.h"

const struct verb verbs[1];
const size_t verb_count = 0;
const char *const verbs_left_out[] = {NULL};
const struct page_maker *const page_maker = NULL;
const struct findings_maker *const findings_maker = NULL;
