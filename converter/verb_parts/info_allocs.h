/* SPDX-License-Identifier: Apache-2.0 */
/* What `steptrace info` says of a heap trace. */
#ifndef CONVERTER_VERB_PARTS_INFO_ALLOCS_H
#define CONVERTER_VERB_PARTS_INFO_ALLOCS_H

#include "converter/open/input.h"

/* Reads the trace, prints, and tells its damage. */
enum step_status info_allocs(struct input *input, const char *path, bool json);

#endif
