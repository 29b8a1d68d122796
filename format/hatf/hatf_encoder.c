/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HATF encodings: collects windows of records, makes a plan for each field, and writes the records
 * with the planned metadata between them.
 *
 * An encoding is never worse than the one below it (naive, then best, then optimal).  It also
 * computes the lower encoding's plans, and uses them if its own plan saves less than it would cost
 * to return to the lower plan's state.
 */
#include <stdlib.h>
#include <string.h>

#include "format/core/bytes.h"
#include "format/core/compress.h"
#include "format/core/grow.h"
#include "format/core/step_no_memory.h"
#include "format/hatf/hatf_plan.h"
#include "format/io/memory_output.h"

enum { WINDOW_RECORDS = 1 << 15, WINDOW_BYTES = 1 << 24 };

enum {
    ALL_MEANS = HATF_MEANS_WIDTHS | HATF_MEANS_DEFAULT | HATF_MEANS_BASE_1 | HATF_MEANS_BASE_2 |
                HATF_MEANS_BASE_4 | HATF_MEANS_STRIDE | HATF_MEANS_DELTA,
    SIZES = HATF_MEANS_WIDTHS | HATF_MEANS_DEFAULT,
    SWITCHES = HATF_MEANS_WIDTHS | HATF_MEANS_DEFAULT,
    TIMES = HATF_MEANS_WIDTHS | HATF_MEANS_DEFAULT | HATF_MEANS_DELTA,
    BASES = HATF_MEANS_BASE_1 | HATF_MEANS_BASE_2,
    IN_PLACE = HATF_MEANS_DEFAULT, /* threads and heaps in the encodings of a single field */
    PLANNED = 128                  /* attributes */
};

/* By field: size, address, time, thread, heap, attributes. */
static const struct {
    const char *name;
    uint8_t means[HATF_FIELD_COUNT];
} encodings[HATF_ENCODING_COUNT] = {
    [HATF_ENCODING_NAIVE] = {"naive", {0}},
    [HATF_ENCODING_SMALL_SIZE] = {"small-size", {HATF_MEANS_WIDTHS, 0, 0, IN_PLACE, IN_PLACE, 0}},
    [HATF_ENCODING_SAME_SIZE] = {"same-size", {HATF_MEANS_DEFAULT, 0, 0, IN_PLACE, IN_PLACE, 0}},
    [HATF_ENCODING_COMBINED_SIZE] = {"combined-size", {SIZES, 0, 0, IN_PLACE, IN_PLACE, 0}},
    [HATF_ENCODING_BASE_OFFSET_1] = {"base-offset-1",
                                     {0, HATF_MEANS_BASE_1, 0, IN_PLACE, IN_PLACE, 0}},
    [HATF_ENCODING_BASE_OFFSET_2] = {"base-offset-2",
                                     {0, HATF_MEANS_BASE_2, 0, IN_PLACE, IN_PLACE, 0}},
    [HATF_ENCODING_BEST_BASE_OFFSET] = {"best-base-offset", {0, BASES, 0, IN_PLACE, IN_PLACE, 0}},
    [HATF_ENCODING_STRIDE] = {"stride", {0, HATF_MEANS_STRIDE, 0, IN_PLACE, IN_PLACE, 0}},
    [HATF_ENCODING_BEST] = {"best",
                            {SIZES, BASES | HATF_MEANS_STRIDE, TIMES, SWITCHES, SWITCHES, PLANNED}},
    [HATF_ENCODING_OPTIMAL] = {"optimal",
                               {ALL_MEANS, ALL_MEANS, ALL_MEANS, ALL_MEANS, ALL_MEANS, PLANNED}},
};

/* The order of metadata of several fields before one record. */
static const uint8_t field_order[HATF_FIELD_COUNT] = {HATF_ATTRIBUTES, HATF_SIZE, HATF_ADDRESS,
                                                      HATF_THREAD,     HATF_HEAP, HATF_TIME};

struct pending {
    struct hatf_record record;
    size_t bytes_at; /* of its attributes or comment, in `bytes` */
};

/* One field: its items in the window, and the plans computed for it, the naive one first. */
enum { NAIVE, BEST, OPTIMAL, PLANS };
struct track {
    struct hatf_plan_item *items;
    size_t count;
    size_t capacity;
    struct hatf_plan plans[PLANS];
    struct hatf_plan spare;
    struct hatf_field_state states[PLANS]; /* before the window */
    /* for compressed output: the same plans from the writer's current state */
    struct hatf_field_state before[PLANS];
    struct hatf_plan candidates[PLANS];
};

/* Combinations to try then: the plans of sizes, of addresses, of all other fields. */
static const uint8_t trials[][3] = {{NAIVE, NAIVE, NAIVE},  {BEST, NAIVE, NAIVE},
                                    {BEST, NAIVE, BEST},    {BEST, BEST, BEST},
                                    {OPTIMAL, NAIVE, BEST}, {OPTIMAL, OPTIMAL, OPTIMAL}};
enum { TRIALS = sizeof trials / sizeof trials[0] };

struct hatf_encoder {
    struct hatf_writer *writer;
    enum hatf_encoding encoding;
    struct pending *records;
    size_t count;
    size_t capacity;
    struct step_buffer bytes;
    struct track tracks[HATF_FIELD_COUNT];
    struct step_compressor *compressor; /* for output that is compressed later; else NULL */
    struct step_buffer trial, packed;
};

const char *hatf_encoding_name(enum hatf_encoding encoding)
{
    return (unsigned) encoding < HATF_ENCODING_COUNT ? encodings[encoding].name : "?";
}

static enum step_status hatf_encoder_no_memory(struct step_error *error)
{
    return step_no_memory(error, NULL);
}

enum step_status hatf_encoder_create(struct hatf_writer *writer, enum hatf_encoding encoding,
                                     struct hatf_encoder **out, struct step_error *error)
{
    *out = NULL;
    if ((unsigned) encoding >= HATF_ENCODING_COUNT)
        return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET, "no encoding");
    struct hatf_encoder *encoder = calloc(1, sizeof *encoder);
    if (encoder == NULL)
        return hatf_encoder_no_memory(error);
    encoder->writer = writer;
    encoder->encoding = encoding;
    for (unsigned field = 0; field < HATF_FIELD_COUNT; field++)
        for (unsigned i = 0; i < PLANS; i++)
            encoder->tracks[field].states[i] = *hatf_writer_field(writer, (enum hatf_field) field);
    *out = encoder;
    return STEP_STATUS_OK;
}

enum step_status hatf_encoder_create_for(struct hatf_writer *writer, enum hatf_encoding encoding,
                                         enum step_compression packed_by, struct hatf_encoder **out,
                                         struct step_error *error)
{
    *out = NULL;
    if (encoding != HATF_ENCODING_BEST && encoding != HATF_ENCODING_OPTIMAL)
        return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                              "only best and optimal can optimise for compression");
    enum step_status status = hatf_encoder_create(writer, encoding, out, error);
    if (status != STEP_STATUS_OK)
        return status;
    status = step_compressor_create(packed_by, 0, &(*out)->compressor);
    if (status == STEP_STATUS_OK)
        return status;
    hatf_encoder_destroy(*out);
    *out = NULL;
    return step_error_set(error, status, NULL, STEP_NO_OFFSET, "%s", step_status_text(status));
}

void hatf_encoder_destroy(struct hatf_encoder *encoder)
{
    if (encoder == NULL)
        return;
    step_compressor_destroy(encoder->compressor);
    step_buffer_reset(&encoder->trial);
    step_buffer_reset(&encoder->packed);
    for (unsigned field = 0; field < HATF_FIELD_COUNT; field++) {
        for (unsigned i = 0; i < PLANS; i++)
            hatf_plan_reset(&encoder->tracks[field].plans[i]);
        for (unsigned i = 0; i < PLANS; i++)
            hatf_plan_reset(&encoder->tracks[field].candidates[i]);
        hatf_plan_reset(&encoder->tracks[field].spare);
        free(encoder->tracks[field].items);
    }
    step_buffer_reset(&encoder->bytes);
    free(encoder->records);
    free(encoder);
}

/* ---- a window's plans ---- */

static bool gather_items(struct hatf_encoder *encoder, unsigned field)
{
    struct track *track = &encoder->tracks[field];
    track->count = 0;
    if (!STEP_MAKE_ROOM(track->items, track->capacity, encoder->count))
        return false;
    for (size_t i = 0; i < encoder->count; i++) {
        const struct hatf_record *record = &encoder->records[i].record;
        if (!hatf_tag_has(record->tag, (enum hatf_field) field))
            continue;
        track->items[track->count++] = (struct hatf_plan_item){
            .value = field == HATF_ATTRIBUTES ? record->attributes.length
                                              : hatf_number_of(record, (uint8_t) field),
            .second = record->new_address,
            .record = (uint32_t) i,
            .has_second = field == HATF_ADDRESS && record->tag >= HATF_REALLOC_NO_ALLOC &&
                          record->tag <= HATF_REALLOC_FREE};
    }
    return true;
}

/* Returns true if the field's default gives every item. */
static bool needs_nothing(const struct track *track, unsigned field,
                          const struct hatf_field_state *state)
{
    if (state->interpretation != HATF_DEFAULT)
        return false;
    uint64_t value = field == HATF_ATTRIBUTES ? 0 : state->value;
    for (size_t i = 0; i < track->count; i++)
        if (track->items[i].value != value ||
            (track->items[i].has_second && track->items[i].second != value))
            return false;
    return true;
}

/* Improves on the plan below: keeps its own plan if that pays in the end, else the one below. */
static bool plan_above(struct track *track, const struct hatf_plan_task *task, unsigned means,
                       unsigned below, unsigned above)
{
    struct hatf_plan *own = &track->plans[above];
    const struct hatf_plan *other = &track->plans[below];
    const struct hatf_field_state *start = &track->states[above];
    bool ok = task->field == HATF_ATTRIBUTES
                  ? hatf_plan_attributes(task, start, own)
                  : hatf_plan_cheapest(task, start, means, &track->states[below], other, own);
    if (!ok || !hatf_plan_follow(task, start, &track->states[below], other, &track->spare))
        return false;
    uint64_t distance = task->is_last ? 0 : hatf_plan_distance(task->field, &own->end, &other->end);
    if (own->cost + distance > track->spare.cost) {
        struct hatf_plan swap = *own;
        *own = track->spare;
        track->spare = swap;
    }
    return true;
}

static const struct hatf_plan *plan_field(struct hatf_encoder *encoder, unsigned field,
                                          bool is_last, bool *ok)
{
    struct track *track = &encoder->tracks[field];
    const struct hatf_plan_task task = {(enum hatf_field) field, track->items, track->count,
                                        is_last};
    unsigned means = encodings[encoder->encoding].means[field];
    unsigned top = means == 0 ? NAIVE : BEST;
    memcpy(track->before, track->states, sizeof track->before);
    *ok = hatf_plan_naive(&task, &track->states[NAIVE], &track->plans[NAIVE]);
    if (encoder->encoding == HATF_ENCODING_OPTIMAL) {
        *ok = *ok &&
              plan_above(track, &task, encodings[HATF_ENCODING_BEST].means[field], NAIVE, BEST);
        *ok = *ok && plan_above(track, &task, means, BEST, OPTIMAL);
        top = OPTIMAL;
    } else if (means != 0) {
        *ok = *ok && plan_above(track, &task, means, NAIVE, BEST);
    }
    for (unsigned i = 0; i <= top; i++)
        track->states[i] = track->plans[i].end;
    return &track->plans[top];
}

/* ---- writing a window ---- */

static enum step_status hatf_encoder_put_record(struct hatf_encoder *encoder,
                                                struct hatf_writer *writer, struct pending *pending,
                                                struct step_error *error)
{
    struct step_bytes *bytes = pending->record.tag == HATF_COMMENT ? &pending->record.comment
                                                                   : &pending->record.attributes;
    bytes->data = bytes->length > 0 ? encoder->bytes.data + pending->bytes_at : NULL;
    return hatf_writer_put(writer, &pending->record, NULL, error);
}

static enum step_status put_step(struct hatf_writer *writer, const struct hatf_plan_step *step,
                                 struct step_error *error)
{
    const struct hatf_record record = {.tag = HATF_METADATA, .metadata = step->metadata};
    return hatf_writer_put(writer, &record, NULL, error);
}

static enum step_status put_window(struct hatf_encoder *encoder, struct hatf_writer *writer,
                                   const struct hatf_plan *const *plans, struct step_error *error)
{
    size_t done[HATF_FIELD_COUNT] = {0};
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < encoder->count && status == STEP_STATUS_OK; i++) {
        for (unsigned k = 0; k < HATF_FIELD_COUNT; k++) {
            unsigned field = field_order[k];
            for (; plans[field] != NULL && done[field] < plans[field]->count &&
                   plans[field]->steps[done[field]].record == i && status == STEP_STATUS_OK;
                 done[field]++)
                status = put_step(writer, &plans[field]->steps[done[field]], error);
        }
        if (status == STEP_STATUS_OK)
            status = hatf_encoder_put_record(encoder, writer, &encoder->records[i], error);
    }
    return status;
}

/* ---- what compresses best ---- */

/* Makes the window's plans from the writer's current state. */
static bool make_candidates(struct hatf_encoder *encoder, unsigned field, bool is_last)
{
    struct track *track = &encoder->tracks[field];
    const struct hatf_plan_task task = {(enum hatf_field) field, track->items, track->count,
                                        is_last};
    const struct hatf_field_state *start =
        hatf_writer_field(encoder->writer, (enum hatf_field) field);
    unsigned top = encoder->encoding == HATF_ENCODING_OPTIMAL ? OPTIMAL : BEST;
    for (unsigned i = 0; i <= top; i++)
        if (!hatf_plan_follow(&task, start, &track->before[i], &track->plans[i],
                              &track->candidates[i]))
            return false;
    return true;
}

/* Selects the plans of a trial.  `usual`: the fields that have plans at all. */
static void take_trial(struct hatf_encoder *encoder, unsigned trial,
                       const struct hatf_plan *const *usual, const struct hatf_plan **plans)
{
    for (unsigned field = 0; field < HATF_FIELD_COUNT; field++) {
        unsigned column = field == HATF_SIZE ? 0 : field == HATF_ADDRESS ? 1 : 2;
        plans[field] =
            usual[field] != NULL ? &encoder->tracks[field].candidates[trials[trial][column]] : NULL;
    }
}

static enum step_status pack_trial(struct hatf_encoder *encoder,
                                   const struct hatf_plan *const *plans, size_t *bytes,
                                   struct step_error *error)
{
    const struct step_output output = step_memory_output(&encoder->trial);
    struct hatf_writer *writer;
    enum step_compression method;
    encoder->trial.length = 0;
    encoder->packed.length = 0;
    enum step_status status = hatf_writer_create(&output, &writer, error);
    if (status != STEP_STATUS_OK)
        return status;
    hatf_writer_take_state(writer, encoder->writer);
    status = put_window(encoder, writer, plans, error);
    if (status == STEP_STATUS_OK)
        status = hatf_writer_close(writer, error);
    hatf_writer_destroy(writer);
    if (status == STEP_STATUS_OK)
        status = step_compress(encoder->compressor, false, encoder->trial.data,
                               encoder->trial.length, &encoder->packed, &method);
    *bytes = encoder->packed.length;
    return status;
}

static enum step_status choose_trial(struct hatf_encoder *encoder, bool is_last,
                                     const struct hatf_plan **plans, struct step_error *error)
{
    const struct hatf_plan *usual[HATF_FIELD_COUNT], *tried[HATF_FIELD_COUNT];
    size_t least = SIZE_MAX;
    unsigned best = 0;
    memcpy(usual, plans, sizeof usual);
    for (unsigned field = 0; field < HATF_FIELD_COUNT; field++)
        if (usual[field] != NULL && !make_candidates(encoder, field, is_last))
            return hatf_encoder_no_memory(error);
    for (unsigned i = 0; i < TRIALS; i++) {
        size_t bytes;
        bool is_above = trials[i][0] == OPTIMAL && encoder->encoding != HATF_ENCODING_OPTIMAL;
        if (is_above)
            continue;
        take_trial(encoder, i, usual, tried);
        enum step_status status = pack_trial(encoder, tried, &bytes, error);
        if (status != STEP_STATUS_OK)
            return status;
        best = bytes < least ? i : best;
        least = bytes < least ? bytes : least;
    }
    take_trial(encoder, best, usual, plans);
    return STEP_STATUS_OK;
}

static enum step_status flush_window(struct hatf_encoder *encoder, bool is_last,
                                     struct step_error *error)
{
    const struct hatf_plan *plans[HATF_FIELD_COUNT] = {NULL};
    for (unsigned field = 0; field < HATF_FIELD_COUNT; field++) {
        bool ok = gather_items(encoder, field);
        if (!ok)
            return hatf_encoder_no_memory(error);
        if (!needs_nothing(&encoder->tracks[field], field, &encoder->tracks[field].states[NAIVE]) ||
            !needs_nothing(&encoder->tracks[field], field,
                           hatf_writer_field(encoder->writer, (enum hatf_field) field)))
            plans[field] = plan_field(encoder, field, is_last, &ok);
        if (!ok)
            return hatf_encoder_no_memory(error);
    }
    enum step_status status =
        encoder->compressor != NULL ? choose_trial(encoder, is_last, plans, error) : STEP_STATUS_OK;
    if (status == STEP_STATUS_OK)
        status = put_window(encoder, encoder->writer, plans, error);
    encoder->count = 0;
    encoder->bytes.length = 0;
    return status;
}

enum step_status hatf_encoder_flush(struct hatf_encoder *encoder, struct step_error *error)
{
    return flush_window(encoder, true, error);
}

enum step_status hatf_encoder_put(struct hatf_encoder *encoder, const struct hatf_record *record,
                                  struct step_error *error)
{
    if ((unsigned) record->tag >= HATF_METADATA)
        return record->tag == HATF_METADATA ? STEP_STATUS_OK
                                            : step_error_set(error, STEP_STATUS_INVALID, NULL,
                                                             STEP_NO_OFFSET, "unknown tag");
    bool is_comment = record->tag == HATF_COMMENT;
    struct step_bytes bytes = is_comment ? record->comment : record->attributes;
    if (bytes.length > (is_comment ? HATF_COMMENT_MAX : HATF_ATTRIBUTES_MAX))
        return step_error_set(error, STEP_STATUS_LIMIT, NULL, STEP_NO_OFFSET, "%s of %zu bytes",
                              is_comment ? "a comment" : "attributes", bytes.length);
    if (!STEP_MAKE_ROOM(encoder->records, encoder->capacity, encoder->count + 1))
        return hatf_encoder_no_memory(error);
    struct pending *pending = &encoder->records[encoder->count];
    pending->record = *record;
    pending->bytes_at = encoder->bytes.length;
    if (bytes.length > 0 && !step_buffer_append(&encoder->bytes, bytes.data, bytes.length))
        return hatf_encoder_no_memory(error);
    encoder->count++;
    if (encoder->count < WINDOW_RECORDS && encoder->bytes.length < WINDOW_BYTES)
        return STEP_STATUS_OK;
    return flush_window(encoder, false, error);
}
