/* SPDX-License-Identifier: Apache-2.0 */
/* The deaths of tagged objects, of which the JVM tells by ObjectFree. */
#ifndef AGENT_EVENTS_TAGGED_DEATHS_H
#define AGENT_EVENTS_TAGGED_DEATHS_H

#include <stdbool.h>

/* They are told from now on, as long as the JVM lives: see tagged_deaths_flush(). */
void tagged_deaths_report(void);

/* Returns when all has been told that the JVM has found dead; on a Java thread only.  Switching the
 * event off would do that too, but JDK 17 can hang then: the thread that switches and the JVM's own
 * that tells wait for each other, one at a safepoint, the other where it stops for none. */
void tagged_deaths_flush(void);

#endif
