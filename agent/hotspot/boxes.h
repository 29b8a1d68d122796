/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes (Integer, Long, ...) that compiled code makes and unboxes at once. C2 removes such calls of
 * valueOf() as a whole, with the probes in them. It does so as long as the JVM's flag
 * EliminateAutoBox is set, which it reads for each compilation. */
#ifndef AGENT_HOTSPOT_BOXES_H
#define AGENT_HOTSPOT_BOXES_H

/* Makes C2 keep these calls in code that it compiles from now on. Call before classes get probes:
 * that discards the code of before. */
void boxes_keep(void);
/* Sets the flag as it was. Call before classes lose their probes. */
void boxes_let_go(void);

#endif
