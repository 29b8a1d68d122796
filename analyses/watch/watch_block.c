/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the columns of blocks.  Finds them by field name, so that other versions of the definition
 * work. */
#include "analyses/watch/watch_feed.h"

#include <stdlib.h>

#include "converter/files/record_layout.h"
#include "format/core/step_no_memory.h"

/* ---- positions ---- */

static const char *const field_names[WATCH_FIELDS] = {"time",   "thread", "class", "size",
                                                      "object", "stack",  "method"};

/* Births come before deaths. */
static const struct {
    int record;
    uint8_t kind;
} event_records[WATCH_EVENTS] = {{STEP_JAVA_OBJECT_ALLOC, EVENT_OBJECT_ALLOC},
                                 {STEP_JAVA_METHOD_ENTRY, EVENT_METHOD_ENTRY},
                                 {STEP_JAVA_OBJECT_FREE, EVENT_OBJECT_FREE}};

static void watch_block_find_field(const struct watch_tail *tail, uint32_t record,
                                   enum watch_field field, struct watch_columns *columns)
{
    const struct step_definition *definition = step_reader_borrow_definition(tail->reader);
    size_t found = step_record_find_field(&definition->records[record], field_names[field]);
    columns->owner[field] = found != SIZE_MAX ? record : STEP_NO_RECORD;
    if (found != SIZE_MAX)
        columns->slots[field] = record_field_slot(definition, record, found);
}

static void find_columns(const struct watch_tail *tail, int known, struct watch_columns *columns)
{
    columns->record = java_record_of(&tail->decoder.java, known);
    for (int i = 0; columns->record != STEP_NO_RECORD && i < WATCH_FIELDS; i++)
        watch_block_find_field(tail, columns->record, (enum watch_field) i, columns);
}

bool watch_schema_init(struct watch_schema *schema, const struct watch_tail *tail, bool phases)
{
    const struct java_records *java = &tail->decoder.java;
    watch_schema_reset(schema);
    for (size_t i = 0; i < WATCH_EVENTS; i++)
        find_columns(tail, event_records[i].record, &schema->events[i]);
    struct watch_columns *births = &schema->events[0];
    uint32_t with_stack = java_record_of(java, STEP_JAVA_OBJECT_ALLOC_AT);
    if (with_stack != STEP_NO_RECORD && births->record != STEP_NO_RECORD)
        watch_block_find_field(tail, with_stack, WATCH_STACK, births);
    schema->facts = java_record_of(java, STEP_JAVA_METHOD_COUNT);
    schema->given_up = java_record_of(java, STEP_JAVA_OBJECT_GIVEN_UP);
    schema->wanted = calloc(java->count + 1, 1);
    if (schema->wanted == NULL)
        return false;
    for (uint32_t i = 0; i < java->count; i++) {
        uint8_t kind = java_kind_of(java, i)->event;
        schema->wanted[i] = kind == EVENT_OBJECT_ALLOC || kind == EVENT_OBJECT_FREE ||
                            kind == EVENT_METHOD_ENTRY || i == schema->facts ||
                            i == schema->given_up ||
                            (phases && java_is_phase(java_kind_of(java, i)));
    }
    return true;
}

void watch_schema_reset(struct watch_schema *schema)
{
    free(schema->wanted);
    schema->wanted = NULL;
}

uint64_t watch_schema_count(const struct watch_schema *schema, const struct step_block_info *info)
{
    uint64_t count = 0;
    for (size_t i = 0; i < info->type_count; i++)
        count += schema->wanted[info->counts[i].record] ? info->counts[i].count : 0;
    return count;
}

/* ---- values ---- */

struct columns {
    struct step_column_view views[WATCH_FIELDS];
    struct step_column_view types; /* record types */
    size_t count;
};

static enum step_status load_columns(struct step_block *block, const struct watch_columns *from,
                                     struct columns *out, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    *out = (struct columns){.count = 0};
    if (from->record == STEP_NO_RECORD)
        return STEP_STATUS_OK;
    for (int i = 0; i < WATCH_FIELDS && status == STEP_STATUS_OK; i++) {
        if (from->owner[i] == STEP_NO_RECORD)
            continue;
        status = step_block_column(block, from->record, from->owner[i], from->slots[i],
                                   &out->views[i], error);
        if (status == STEP_STATUS_OK)
            out->count = out->views[i].count;
    }
    if (status == STEP_STATUS_OK)
        status = step_block_types(block, from->record, &out->types, error);
    return status;
}

static uint64_t watch_block_value_at(const struct step_column_view *view, size_t row)
{
    return view->values != NULL ? view->values[row * view->step] : 0;
}

static uint32_t id_at(const struct step_column_view *view, size_t row)
{
    return java_id(watch_block_value_at(view, row));
}

/* Returns what the type of a record says of its event: that an object existed already. */
static uint8_t flags_at(const struct watch_tail *tail, const struct step_column_view *types,
                        size_t row)
{
    return java_kind_of(&tail->decoder.java, (uint32_t) watch_block_value_at(types, row))->flags;
}

/* Filters need names, and rows of methods need frames. */
static void name_event(struct watch_tail *tail, const struct watch_model *model,
                       const struct trace_event *event)
{
    watch_tail_name_frame(tail, event->stack_id);
    if (!model->filter.everything)
        watch_tail_has_names(tail, event);
}

/* Fields that the record does not have are 0.  Nobody asks which thread a death is of. */
static void watch_block_put_events(struct watch_tail *tail, uint8_t kind,
                                   const struct columns *columns, struct watch_model *model)
{
    const struct step_column_view *views = columns->views;
    for (size_t i = 0; i < columns->count; i++) {
        const struct trace_event event = {
            .kind = kind,
            .flags = flags_at(tail, &columns->types, i),
            .time_ns = watch_tail_time_ns(tail, watch_block_value_at(&views[WATCH_TIME], i)),
            .object = watch_block_value_at(&views[WATCH_OBJECT], i),
            .size = watch_block_value_at(&views[WATCH_SIZE], i),
            .method_id = id_at(&views[WATCH_METHOD], i),
            .stack_id = id_at(&views[WATCH_STACK], i),
            .class_id = id_at(&views[WATCH_CLASS], i),
            .thread_id = kind != EVENT_OBJECT_FREE ? id_at(&views[WATCH_THREAD], i) : 0};
        name_event(tail, model, &event);
        watch_model_put(model, &event);
    }
}

static void put_facts(struct watch_tail *tail, struct step_block *block, struct watch_model *model)
{
    struct step_record_view view;
    struct trace_fact fact;
    while (step_block_next(block, &view) == STEP_STATUS_OK)
        if (stepfile_decoder_fact(&tail->decoder, &view, &fact) && fact.kind == TRACE_METHOD_COUNT)
            watch_model_put_calls(model, fact.method_id, fact.calls);
}

/* ---- records in order, for phases and samples; the counts of calls are of the whole trace ---- */

static void watch_block_put_event(struct watch_tail *tail, const struct step_record_view *view,
                                  struct watch_model *model, struct watch_phases *phases)
{
    struct trace_event event;
    uint64_t ticks;
    if (!stepfile_decoder_event(&tail->decoder, view, &event, &ticks))
        return;
    event.time_ns = watch_tail_time_ns(tail, ticks);
    if (event.kind == EVENT_OBJECT_FREE)
        event.stack_id = 0;
    if (watch_phases_accept(phases, event.thread_id, event.time_ns))
        event.flags |= TRACE_IN_PHASE;
    name_event(tail, model, &event);
    watch_model_put(model, &event);
}

static void watch_block_put_records(struct watch_tail *tail, const struct watch_schema *schema,
                                    struct step_block *block, struct watch_model *model,
                                    struct watch_phases *phases)
{
    struct step_record_view view;
    struct step_java_phase mark;
    while (step_block_next(block, &view) == STEP_STATUS_OK) {
        const struct java_kind *kind = java_kind_of(&tail->decoder.java, view.record);
        if (view.record == schema->given_up)
            model->gave_up = true;
        else if (!java_is_phase(kind))
            watch_block_put_event(tail, &view, model, phases);
        else if (step_java_phase_get(&tail->decoder.java.binding, &view, &mark) &&
                 !watch_phases_put(phases, &tail->names, &mark,
                                   (kind->traits & JAVA_BEGINS_PHASE) != 0))
            model->no_memory = true;
    }
}

/* ---- blocks ---- */

static enum step_status put_columns(struct watch_tail *tail, const struct watch_schema *schema,
                                    const struct step_block_info *info, struct step_block *block,
                                    struct watch_model *model, struct step_error *error)
{
    struct columns columns;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < WATCH_EVENTS && status == STEP_STATUS_OK; i++) {
        status = load_columns(block, &schema->events[i], &columns, error);
        if (status == STEP_STATUS_OK)
            watch_block_put_events(tail, event_records[i].kind, &columns, model);
    }
    for (size_t i = 0; i < info->type_count && status == STEP_STATUS_OK; i++)
        if (info->counts[i].record == schema->facts)
            put_facts(tail, block, model);
    return status;
}

enum step_status watch_block_read(struct watch_tail *tail, const struct watch_schema *schema,
                                  size_t number, struct step_block **block,
                                  struct watch_model *model, struct watch_phases *phases,
                                  struct step_error *error)
{
    const struct step_block_info *info = step_reader_block_info(tail->reader, number);
    enum step_status status = step_reader_load(tail->reader, number, schema->wanted, block, error);
    if (status == STEP_STATUS_OK && phases != NULL)
        watch_block_put_records(tail, schema, *block, model, phases);
    else if (status == STEP_STATUS_OK)
        status = put_columns(tail, schema, info, *block, model, error);
    if (model->no_memory)
        return step_no_memory(error, tail->path);
    return status == STEP_STATUS_NO_MEMORY || status == STEP_STATUS_IO ? status : STEP_STATUS_OK;
}
