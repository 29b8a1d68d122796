/* SPDX-License-Identifier: Apache-2.0 */
/* Deaths of tagged objects, which the JVM reports with ObjectFree. */
#ifndef AGENT_EVENTS_TAGGED_DEATHS_H
#define AGENT_EVENTS_TAGGED_DEATHS_H

#include <stdbool.h>

/* Enables these reports for the rest of the JVM's life: see tagged_deaths_flush(). */
void tagged_deaths_report(void);

/* Returns when every object that the JVM has found dead is reported. Java threads only. Disabling
 * the event would also flush, but can hang JDK 17: the thread that disables it and the JVM's
 * reporting thread wait for each other, one at a safepoint, the other in code that does not stop
 * for one. */
void tagged_deaths_flush(void);

#endif
