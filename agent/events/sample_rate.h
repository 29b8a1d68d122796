/* SPDX-License-Identifier: Apache-2.0 */
/* engine=sampled: the JVM's sampling interval, which grows while there are more samples a second
 * than rate= allows, and shrinks to that of sample= when there are fewer. */
#ifndef AGENT_EVENTS_SAMPLE_RATE_H
#define AGENT_EVENTS_SAMPLE_RATE_H

#include "agent/base/tracer.h"

/* Sets the interval, and sets it back to the JVM's default. Java threads only. */
void sample_rate_begin(const struct session *session);
void sample_rate_end(void);
/* Returns the interval in force. */
uint64_t sample_rate_interval(void);
/* Counts a sample, and changes the interval where it must. Java threads only. */
void sample_rate_count(void);

#endif
