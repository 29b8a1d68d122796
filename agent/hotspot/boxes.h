/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes (Integer, Long, ...) that compiled code makes and unboxes at once. C2 removes such calls of
 * valueOf() as a whole, with the probes in them. It does so as long as the JVM's flag
 * EliminateAutoBox is set, which it reads for each compilation. */
#ifndef AGENT_HOTSPOT_BOXES_H
#define AGENT_HOTSPOT_BOXES_H

#include <stdbool.h>

/* Makes C2 keep these calls in code that it compiles from now on. Call before classes get probes:
 * that discards the code of before. */
void boxes_keep(void);
/* Returns false if the flag is not as it was, and the option internals does not allow that now. */
bool boxes_may_stay(void);
/* Instead of boxes_keep(), where classes have their probes from an earlier trace. */
void boxes_stay(void);
/* Sets the flag as it was. Call before classes lose their probes. */
void boxes_let_go(void);

#endif
