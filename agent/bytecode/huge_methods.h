/* SPDX-License-Identifier: Apache-2.0 */
/* Methods that the JVM compiles without probes but not with them (-XX:+DontCompileHugeMethods, the
 * default: none over 8,000 bytes). If omitting the probes of their events helps, they are omitted,
 * and the trace lists the methods like others without probes. The remaining ones are counted
 * here. */
#ifndef AGENT_BYTECODE_HUGE_METHODS_H
#define AGENT_BYTECODE_HUGE_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HUGE_METHODS_TEXT 2048u

/* Call when a session begins. Returns the size of the largest method that the JVM compiles, 0 if it
 * compiles all. */
uint32_t huge_methods_begin(void);
/* Records that the method has probes and will be interpreted; logs the first one. */
void huge_method_add(const char *class_name, const char *method_name, const char *descriptor);
/* Writes "2: a/B.c()V, a/B.d()V", with as many as there is room for. Returns false if there are
 * none. */
bool huge_methods_describe(char text[HUGE_METHODS_TEXT]);

#endif
