/* SPDX-License-Identifier: Apache-2.0 */
/* Where the instructions of rewritten methods without line numbers were before, and those of
 * constructors that create objects of their own class. Class loaders may
 * have different methods of the same name and length: nothing is known of these. */
#ifndef AGENT_RECORDS_CODE_PLACES_H
#define AGENT_RECORDS_CODE_PLACES_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keeps a method's places as agent/rewriter/rewrite.h describes them; `bytes` NULL: they are not
 * known, whatever its length. Any thread. */
void code_places_add(const char *class_name, const char *method_name, const char *descriptor,
                     uint32_t code_bytes, const uint8_t *bytes, size_t size);
/* Returns the bytecode index in the original code; -1: unknown. `makes`: of the innermost frame,
 * which made an object: for the call of a constructor the index of its `new`. */
jlocation code_place_of(jmethodID method, jlocation location, bool makes);

#endif
