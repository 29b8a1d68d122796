/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the chart of live bytes, with bands of the largest classes. */
#include "converter/report/report_timeline_data.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define BAND_CLASSES 10u /* classes with their own band */

struct band {
    uint64_t weight;
    uint32_t class_id;
};

static int by_weight(const void *left, const void *right)
{
    const struct band *a = left;
    const struct band *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a->class_id < b->class_id ? -1 : a->class_id > b->class_id;
}

/* Selects the classes with most bytes over all steps.  Returns NULL if memory runs out. */
static struct band *choose_bands(const struct timeline *timeline, size_t *count)
{
    struct id_table numbers; /* uint32_t: 1 + index of the class's band */
    struct band *bands = calloc(TIMELINE_STEPS * TIMELINE_CLASSES, sizeof *bands);
    size_t found = 0;
    id_table_init(&numbers, sizeof(uint32_t));
    for (size_t i = 0; bands != NULL && i <= timeline->step; i++) {
        for (size_t k = 0; k < timeline->steps[i].class_count; k++) {
            const struct timeline_class *class = &timeline->steps[i].classes[k];
            uint32_t *number = id_table_get(&numbers, class->class_id);
            if (number == NULL)
                goto out;
            if (*number == 0) {
                bands[found].class_id = class->class_id;
                *number = (uint32_t) ++found;
            }
            bands[*number - 1].weight += class->bytes;
        }
    }
    if (found > 0)
        qsort(bands, found, sizeof *bands, by_weight);
    *count = found < BAND_CLASSES ? found : BAND_CLASSES;
    id_table_reset(&numbers);
    return bands;
out:
    id_table_reset(&numbers);
    free(bands);
    return NULL;
}

static uint64_t bytes_in_step(const struct timeline_step *step, uint32_t class_id)
{
    for (size_t i = 0; i < step->class_count; i++)
        if (step->classes[i].class_id == class_id)
            return step->classes[i].bytes;
    return 0;
}

static bool put_bands(const struct report_model *model, struct json_output *json)
{
    const struct timeline *timeline = &model->timeline;
    size_t count;
    struct band *bands = choose_bands(timeline, &count);
    if (bands == NULL)
        return false;
    json_begin_array(json, "classes");
    for (size_t i = 0; i < count; i++) {
        json_begin_object(json, NULL);
        json_bytes(json, "name", trace_class_of(&model->source->names, bands[i].class_id)->name);
        json_begin_array(json, "bytes");
        for (size_t step = 0; step <= timeline->step; step++)
            json_number(json, NULL, bytes_in_step(&timeline->steps[step], bands[i].class_id));
        json_end_array(json);
        json_end_object(json);
    }
    json_end_array(json);
    free(bands);
    return true;
}

static void put_steps(const struct report_model *model, struct json_output *json, const char *key,
                      size_t member_offset)
{
    const struct timeline *timeline = &model->timeline;
    json_begin_array(json, key);
    for (size_t i = 0; i <= timeline->step; i++) {
        uint64_t value;
        memcpy(&value, (const char *) &timeline->steps[i] + member_offset, sizeof value);
        json_number(json, NULL, value);
    }
    json_end_array(json);
}

static void put_collections(const struct report_model *model, struct json_output *json)
{
    const struct timeline *timeline = &model->timeline;
    json_begin_array(json, "collections");
    for (size_t i = 0; i <= timeline->step; i++) {
        if (timeline->steps[i].collections == 0)
            continue;
        json_begin_array(json, NULL);
        json_number(json, NULL, i);
        json_number(json, NULL, timeline->steps[i].collections);
        json_number(json, NULL, timeline->steps[i].freed_bytes);
        json_end_array(json);
    }
    json_end_array(json);
}

bool report_timeline_put_data(const struct report_model *model, struct json_output *json)
{
    const struct timeline *timeline = &model->timeline;
    json_begin_object(json, "timeline");
    json_number(json, "start_ns", timeline->start_ns);
    json_number(json, "step_ns", timeline->step_ns);
    put_steps(model, json, "live", offsetof(struct timeline_step, live_bytes));
    put_steps(model, json, "objects", offsetof(struct timeline_step, live_objects));
    put_steps(model, json, "most", offsetof(struct timeline_step, most_bytes));
    put_collections(model, json);
    bool ok = put_bands(model, json);
    json_end_object(json);
    return ok;
}
