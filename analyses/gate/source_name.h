/* SPDX-License-Identifier: Apache-2.0 */
/* Names of classes as they are written in source code, the same in each run. */
#ifndef ANALYSES_GATE_SOURCE_NAME_H
#define ANALYSES_GATE_SOURCE_NAME_H

#include "steptrace/value.h"

/* Returns "byte[]" for "[B", and "a.B$$Lambda" for "a/B$$Lambda$7/0x7f03c0": what has an address or
 * a number of this run loses it.  Escaped as by step_show().  The caller frees it; NULL if out of
 * memory. */
char *source_name_of(struct step_bytes name);

#endif
