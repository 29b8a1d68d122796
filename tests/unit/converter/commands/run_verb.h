/* SPDX-License-Identifier: Apache-2.0 */
/* Runs commands of the heart in this process, and small traces for them. */
#ifndef TESTS_UNIT_CONVERTER_COMMANDS_RUN_VERB_H
#define TESTS_UNIT_CONVERTER_COMMANDS_RUN_VERB_H

#include "steptrace/status.h"
#include "tests/unit/scratch.h"

/* What a command returned and printed; the texts are valid until the next. */
struct verb_result {
    enum step_status status;
    const char *out, *err;
};

/* Runs `steptrace VERB ARGUMENT...`; the arguments end with NULL. */
__attribute__((sentinel)) struct verb_result run_verb(const char *verb, ...);

bool has_text(const char *text, const char *wanted);

/* 20 events of a closed trace: 4 allocations, 2 of them freed, 2 classes that have objects, a
 * method that an exception ends. */
extern const char java_lines[];
/* A heap trace without a fault: 4 allocations of 240 bytes, 2 frees; at most 3 live, 208 bytes. */
extern const char heap_lines[];
/* `java_lines` as a STEP trace: its path. */
const char *java_trace(const char *name);

#endif
