/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The form `runs`, for values that are mostly 0: a varint with the number of nonzero values; for
 * each of them a varint with the number of zeros before it; then each of them less 1, as a varint.
 *
 * Transforms make a rightly guessed value 0, so this is the form of what was predicted well: its
 * size is that of the surprises.  Zeros after the last of these need no bytes, as the reader knows
 * how many values there are.  Distances and values are two parts, each of its own kind, for the
 * compressor's sake.
 */
#include <string.h>

#include "format/codec/forms/form.h"
#include "format/core/bytes.h"

static uint64_t runs_bound(uint64_t parameter, uint64_t count)
{
    (void) parameter;
    return STEP_VARINT_MAX + count * 2 * STEP_VARINT_MAX;
}

/* State of the encoder, which writes the runs of zeros and the other values in one pass. */
struct runs_state {
    uint8_t *run;
    uint8_t *rest;
    size_t others;
    size_t zeros; /* since the last nonzero value */
};

enum { GROUP = 8 };

/* Encodes values of any size one by one. */
static void form_runs_put_values(struct runs_state *state, const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (values[i] == 0) {
            state->zeros++;
            continue;
        }
        state->run = step_varint_put(state->run, state->zeros);
        state->rest = step_varint_put(state->rest, values[i] - 1);
        state->zeros = 0;
        state->others++;
    }
}

/* Encodes small values after few zeros, where each number takes one byte.  Each is written, and
 * unwanted ones are overwritten, because a branch for each value would be mispredicted. */
static inline void form_runs_put_group(struct runs_state *state, const uint64_t *values)
{
    for (size_t i = 0; i < GROUP; i++) {
        bool other = values[i] != 0;
        *state->run = (uint8_t) state->zeros;
        *state->rest = (uint8_t) (values[i] - 1);
        state->run += other;
        state->rest += other;
        state->others += other;
        state->zeros = other ? 0 : state->zeros + 1;
    }
}

static size_t runs_encode(uint64_t parameter, const uint64_t *values, size_t count, uint8_t *out)
{
    (void) parameter;
    /* reserve room for the longest numbers; close the remaining gap at the end */
    uint8_t *runs = out + STEP_VARINT_MAX;
    uint8_t *rests = runs + count * STEP_VARINT_MAX;
    struct runs_state state = {runs, rests, 0, 0};
    size_t i = 0;
    for (; i + GROUP <= count; i += GROUP) {
        const uint64_t *group = values + i;
        uint64_t mask = 0;
        for (size_t k = 0; k < GROUP; k++)
            mask |= group[k];
        if (mask == 0)
            state.zeros += GROUP;
        else if (mask < 0x80 && state.zeros + GROUP < 0x80)
            form_runs_put_group(&state, group);
        else
            form_runs_put_values(&state, group, GROUP);
    }
    form_runs_put_values(&state, values + i, count - i);
    size_t run_bytes = (size_t) (state.run - runs);
    size_t rest_bytes = (size_t) (state.rest - rests);
    uint8_t *at = step_varint_put(out, state.others);
    memmove(at, runs, run_bytes);
    memmove(at + run_bytes, rests, rest_bytes);
    return (size_t) (at - out) + run_bytes + rest_bytes;
}

/* Skips `others` varints: the values begin there, as the first part has no length of its own. */
static const uint8_t *skip_varints(const uint8_t *at, const uint8_t *end, uint64_t others)
{
    while (others > 0 && at < end)
        others -= *at++ < 0x80;
    return others == 0 ? at : NULL;
}

static bool runs_decode(uint64_t parameter, const uint8_t *in, size_t length, uint64_t *values,
                        size_t count)
{
    (void) parameter;
    const uint8_t *end = in + length;
    uint64_t others;
    const uint8_t *run = step_varint_get(in, end, &others);
    if (run == NULL || others > count)
        return false;
    const uint8_t *value = skip_varints(run, end, others);
    if (value == NULL)
        return false;
    const uint8_t *run_end = value;
    if (count > 0)
        memset(values, 0, count * sizeof *values);
    size_t at = 0;
    for (uint64_t k = 0; k < others; k++) {
        uint64_t zeros;
        uint64_t less;
        run = step_varint_get(run, run_end, &zeros);
        if (run == NULL || zeros >= count - at)
            return false;
        value = step_varint_get(value, end, &less);
        if (value == NULL || less == UINT64_MAX)
            return false;
        at += (size_t) zeros;
        values[at++] = less + 1;
    }
    return value == end;
}

const struct step_form step_form_runs = {
    .id = STEP_FORM_RUNS,
    .name = "runs",
    .bound = runs_bound,
    .encode = runs_encode,
    .decode = runs_decode,
};
