/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps sampled traces from commands that need all objects. */
#include "converter/base/sampled_trace.h"

#include <stdlib.h>
#include <string.h>

#include "converter/base/estimates.h"

#define INTERVAL_MOST (UINT64_C(1) << 30)
#define REPEATS_UNIT 1e9 /* agent/events/draw_repeats.c */

static const char *refusing = "this command"; /* NULL: sampled traces are accepted */

void sampled_traces_accept(const char *unless)
{
    refusing = unless;
}

static bool is_sampled(const char *engine)
{
    return engine != NULL && strcmp(engine, "sampled") == 0;
}

uint64_t sampled_interval_bytes(const char *engine, const char *sample)
{
    if (!is_sampled(engine) || sample == NULL || sample[0] < '0' || sample[0] > '9')
        return 0;
    char *end;
    unsigned long long interval = strtoull(sample, &end, 10);
    return *end == '\0' && interval <= INTERVAL_MOST ? interval : 0;
}

/* Of a trace that has no end the property is not known. */
static enum step_status take_repeats(const struct step_reader *reader, const char *path,
                                     struct step_error *error)
{
    const char *text = step_reader_property(reader, "sample-repeats");
    char *end;
    if (text == NULL) {
        estimates_repeat_unknown();
        return STEP_STATUS_OK;
    }
    unsigned long long share = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || share > (unsigned long long) REPEATS_UNIT)
        return step_error_set(error, STEP_STATUS_CORRUPT, path, STEP_NO_OFFSET,
                              "its property sample-repeats is not a number from 0 to 1000000000");
    estimates_repeat((double) share / REPEATS_UNIT);
    return STEP_STATUS_OK;
}

enum step_status sampled_trace_check(const struct step_reader *reader, const char *path,
                                     struct step_error *error)
{
    const char *engine = step_reader_property(reader, "engine");
    const char *sample = step_reader_property(reader, "sample");
    if (is_sampled(engine) && sampled_interval_bytes(engine, sample) == 0)
        return step_error_set(error, STEP_STATUS_CORRUPT, path, STEP_NO_OFFSET,
                              "its property engine is 'sampled', but its property sample is not a "
                              "number of bytes from 1 to 1073741824");
    return is_sampled(engine) ? take_repeats(reader, path, error) : STEP_STATUS_OK;
}

enum step_status sampled_trace_admit(const struct step_reader *reader, const char *path,
                                     struct step_error *error)
{
    enum step_status status = sampled_trace_check(reader, path, error);
    if (status != STEP_STATUS_OK || refusing == NULL ||
        !is_sampled(step_reader_property(reader, "engine")))
        return status;
    return step_error_set(error, STEP_STATUS_CORRUPT, path, STEP_NO_OFFSET,
                          "it has a sample of the objects (engine=sampled), and %s needs all of "
                          "them; docs/engine-sampled.md has what can read it",
                          refusing);
}
