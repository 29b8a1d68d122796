/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of Meta-TF share: traces in memory, random ones of any DTD, and both readers. */
#ifndef TESTS_UNIT_FORMAT_METATF_METATF_TEST_H
#define TESTS_UNIT_FORMAT_METATF_METATF_TEST_H

#include "steptrace/metatf.h"
#include "steptrace/metatf_code.h"

/* Generated code behind one interface: get_next_event and put_event of an event on the heap. */
struct generated {
    const char *name;
    const struct metatf_dtd *dtd;
    size_t event_bytes;
    enum step_status (*get)(struct metatf_reader *reader, void *event, struct step_error *error);
    enum step_status (*put)(struct metatf_writer *writer, const void *event,
                            struct step_error *error);
    size_t (*values)(const void *event, const struct metatf_record **record, uint32_t *section,
                     struct metatf_value *values, size_t capacity);
};
extern const struct generated generated_readers[];
extern const size_t generated_count;

/* A record as a list of values, with bytes of its own. */
struct test_record {
    uint32_t section; /* number */
    const char *name;
    struct metatf_value *values;
    size_t count;
};
struct test_trace {
    struct test_record *records;
    size_t count;
};

struct test_bytes {
    uint8_t *data;
    size_t length;
    size_t capacity;
};

uint64_t test_random(uint64_t *seed);
struct test_trace test_trace_random(const struct metatf_dtd *dtd, size_t count, uint64_t seed);
void test_trace_free(struct test_trace *trace);
bool test_record_equal(const struct test_record *one, const struct test_record *other);

/* Writes the trace; with `metadata` random changes of how fields are stored stand in between. */
enum step_status test_write(const struct metatf_dtd *dtd, const struct test_trace *trace,
                            const struct metatf_writer_options *options, bool metadata,
                            uint64_t seed, struct test_bytes *out, struct step_error *error);
/* Reads all data records and comments; what was read before an error is in `trace`. */
enum step_status test_read(const struct metatf_dtd *dtd, const struct test_bytes *bytes,
                           struct test_trace *trace, struct step_error *error);
enum step_status test_read_generated(const struct generated *generated,
                                     const struct test_bytes *bytes, struct test_trace *trace,
                                     struct step_error *error);
/* Reads and writes with generated code. */
enum step_status test_copy_generated(const struct generated *generated,
                                     const struct test_bytes *bytes,
                                     const struct metatf_writer_options *options,
                                     struct test_bytes *out, struct step_error *error);

struct metatf_input test_input(const struct test_bytes *bytes);
struct step_output test_output(struct test_bytes *bytes);

#endif
