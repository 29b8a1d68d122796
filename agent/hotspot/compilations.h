/* SPDX-License-Identifier: Apache-2.0 */
/* Which compilers have made code of a few methods: for proofs that a technique holds in whatever
 * code runs it. */
#ifndef AGENT_HOTSPOT_COMPILATIONS_H
#define AGENT_HOTSPOT_COMPILATIONS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

#define COMPILATIONS_METHODS 3u /* at the most */

/* From now on, until compilations_end(); false: this JVM does not say it.  One at a time. */
bool compilations_watch(const jmethodID *methods, size_t count);
void compilations_end(void);
/* Each was compiled by C1 and by C2; by C2 without tiers (-XX:-TieredCompilation). */
bool compilations_are_made(void);
/* The JVM compiles nothing (-Xint). */
bool compilations_never_come(void);
/* Between two looks at the above. */
void compilations_wait(void);

#endif
