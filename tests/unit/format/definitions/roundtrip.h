/* SPDX-License-Identifier: Apache-2.0 */
/* What the generated part of the round trip and the fixed one have in common. */
#ifndef TESTS_UNIT_FORMAT_DEFINITIONS_ROUNDTRIP_H
#define TESTS_UNIT_FORMAT_DEFINITIONS_ROUNDTRIP_H

#include "all_trace.h"
#include "tests/unit/format/definitions/values.h"

/* A record type through its generated functions. */
struct roundtrip_row {
    const char *name;
    size_t slot_count;
    enum step_status (*put)(struct step_writer *writer, const uint64_t *slots);
    /* True: the getter takes the record, and its struct has the values of the slots. */
    bool (*get)(const struct all_trace_binding *binding, const struct step_record_view *view,
                const uint64_t *slots);
    /* NULL: no field names its entries. */
    enum step_status (*define)(struct step_writer *writer, const uint64_t *slots, uint64_t *id);
    bool (*look_up)(const struct all_trace_binding *binding, const struct step_reader *reader,
                    uint64_t id, const uint64_t *slots);
};

extern const struct roundtrip_row roundtrip_rows[];
extern const size_t roundtrip_row_count;

/* For a field that is an array, by its record and number in all.step. */
bool same_array(uint32_t record, uint32_t field, const struct step_array *left, uint64_t slot);

#endif
