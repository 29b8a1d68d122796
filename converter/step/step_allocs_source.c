/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads STEP traces with records of hatf.step: merges their streams by time, then by number; for a
 * trace that is being written, reads block by block.
 */
#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/files/trace_gap.h"
#include "converter/numbers/trace_ticks.h"
#include "converter/step/stepfile.h"
#include "converter/trace/address_model.h"
#include "steptrace/hatf_trace.h"
#include "steptrace/records.h"

const struct alloc_form alloc_forms[HATF_COMMENT] = {
    [HATF_ALLOC] = {STEP_HEAP_ALLOC, STEP_HEAP_ALLOC_BY_RANK, false, true},
    [HATF_FREE] = {STEP_HEAP_FREE, STEP_HEAP_FREE_BY_AGE, true, false},
    [HATF_REALLOC_NO_ALLOC] = {STEP_HEAP_REALLOC_IN_PLACE, STEP_HEAP_REALLOC_IN_PLACE_BY_RANK, true,
                               true},
    [HATF_REALLOC_ALLOC_FREE] = {STEP_HEAP_REALLOC_MOVE, STEP_HEAP_REALLOC_MOVE_BY_RANK, true,
                                 true},
    [HATF_REALLOC_ALLOC] = {STEP_HEAP_REALLOC_ALLOC, STEP_HEAP_REALLOC_ALLOC_BY_RANK, true, true},
    [HATF_REALLOC_FREE] = {STEP_HEAP_REALLOC_FREE, STEP_HEAP_REALLOC_FREE_BY_RANK, true, true},
    [HATF_CREATE_HEAP] = {STEP_HEAP_HEAP_CREATE, STEP_HEAP_HEAP_CREATE, false, false},
    [HATF_DESTROY_HEAP] = {STEP_HEAP_HEAP_DESTROY, STEP_HEAP_HEAP_DESTROY, false, false},
    [HATF_CREATE_THREAD] = {STEP_HEAP_THREAD_CREATE, STEP_HEAP_THREAD_CREATE, false, false},
    [HATF_DESTROY_THREAD] = {STEP_HEAP_THREAD_DESTROY, STEP_HEAP_THREAD_DESTROY, false, false},
};

struct stepfile_alloc_source {
    struct alloc_source base;
    struct step_reader *reader;
    struct step_hatf_trace_binding binding;
    struct address_model *model;  /* NULL unless the trace has encoded addresses */
    struct step_records *records; /* NULL: read block by block, */
    struct step_block *block;     /* the current block */
    size_t next_block;            /* the block after it */
    uint64_t number;              /* number of the last record in its stream */
    stepfile_is_known is_known;   /* NULL: skip no frees */
    void *is_known_user;
    size_t damage_before;              /* damage that opening the file found */
    struct step_bytes next_attributes; /* from STEP_HEAP_NEXT_ATTRIBUTES, in `next_bytes` */
    bool has_next_attributes;
    uint8_t next_bytes[HATF_ATTRIBUTES_MAX];
};

bool stepfile_reader_has_heap_events(const struct step_reader *reader)
{
    return step_definition_find(step_reader_borrow_definition(reader), "heap.Event") !=
           STEP_NO_RECORD;
}

/* ---- records ---- */

static enum step_status damage_of(const struct stepfile_alloc_source *source, const char *what,
                                  struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_CORRUPT, source->base.path, STEP_NO_OFFSET, "%s",
                          what);
}

static void take_attributes(struct stepfile_alloc_source *source, uint64_t id,
                            struct hatf_record *record)
{
    struct step_heap_attributes entry;
    source->base.attributes_number = source->has_next_attributes ? 0 : id;
    if (source->has_next_attributes)
        record->attributes = source->next_attributes;
    else if (id != 0 &&
             step_heap_attributes_look_up(&source->binding, source->reader, id, &entry) &&
             entry.value.length <= HATF_ATTRIBUTES_MAX)
        record->attributes = entry.value;
    source->has_next_attributes = false;
}

static enum step_status step_allocs_give(enum address_answer answer,
                                         const struct stepfile_alloc_source *source,
                                         struct step_error *error)
{
    if (answer == HEAP_NO_MEMORY)
        return no_memory(error);
    return answer == HEAP_IMPOSSIBLE
               ? damage_of(source, "a place that the heap's model does not have", error)
               : STEP_STATUS_OK;
}

/* Sets the addresses, from the record itself or with the model. */
static enum step_status take_addresses(struct stepfile_alloc_source *source, bool is_placed,
                                       uint64_t old, uint64_t new, struct hatf_record *record,
                                       struct step_error *error)
{
    const struct alloc_form *form = &alloc_forms[record->tag];
    if (is_placed && step_reader_damage_count(source->reader) > source->damage_before)
        return damage_of(source,
                         "what follows a damaged block cannot be decoded: its addresses are "
                         "places",
                         error);
    if (is_placed) {
        const struct address_place place = {old, new};
        return step_allocs_give(address_model_find(source->model, &place, record), source, error);
    }
    record->address = form->has_old ? old : new;
    record->new_address = form->has_old ? new : 0;
    return source->model != NULL
               ? step_allocs_give(address_model_note(source->model, record), source, error)
               : STEP_STATUS_OK;
}

static bool tag_of(int known, enum hatf_tag *tag, bool *is_placed)
{
    for (unsigned i = 0; i < HATF_COMMENT; i++) {
        const struct alloc_form *form = &alloc_forms[i];
        if (known != form->plain && known != form->placed)
            continue;
        *tag = (enum hatf_tag) i;
        *is_placed = known != form->plain;
        return true;
    }
    return false;
}

static enum step_status step_allocs_take_event(struct stepfile_alloc_source *source,
                                               const struct step_record_view *view, int known,
                                               struct hatf_record *record, struct step_error *error)
{
    uint64_t values[HEAP_STEP_SLOTS];
    bool is_placed;
    if (!tag_of(known, &record->tag, &is_placed))
        return STEP_STATUS_END;
    const struct alloc_form *form = &alloc_forms[record->tag];
    bool has_heap = hatf_tag_has(record->tag, HATF_HEAP);
    bool has_size = hatf_tag_has(record->tag, HATF_SIZE);
    size_t count = 3u + has_heap + has_size + form->has_old + form->has_new;
    const uint64_t *slots =
        step_binding_slots(source->binding.inner, view, (uint32_t) known, count, values);
    if (slots == NULL)
        return STEP_STATUS_END;
    if (__builtin_mul_overflow(slots[0], source->base.about.resolution_ns, &record->time))
        record->time = UINT64_MAX;
    record->thread = slots[1];
    take_attributes(source, slots[2], record);
    slots += 3;
    record->heap = has_heap ? *slots++ : 0;
    record->size = has_size ? *slots++ : 0;
    uint64_t old = form->has_old ? *slots++ : 0;
    uint64_t new = form->has_new ? *slots++ : 0;
    return take_addresses(source, is_placed, old, new, record, error);
}

/* Returns END for a record that does not become a HATF record. */
static enum step_status step_allocs_take(struct stepfile_alloc_source *source,
                                         const struct step_record_view *view,
                                         struct hatf_record *record, struct step_error *error)
{
    struct step_heap_comment comment;
    struct step_heap_next_attributes next;
    int known = step_hatf_trace_record(&source->binding, view->record);
    *record = (struct hatf_record){.tag = HATF_COMMENT};
    if (known == STEP_HEAP_COMMENT && step_heap_comment_get(&source->binding, view, &comment)) {
        record->comment = comment.text;
        if (record->comment.length > HATF_COMMENT_MAX)
            record->comment.length = HATF_COMMENT_MAX;
        return STEP_STATUS_OK;
    }
    if (known == STEP_HEAP_NEXT_ATTRIBUTES &&
        step_heap_next_attributes_get(&source->binding, view, &next)) {
        if (next.value.length > HATF_ATTRIBUTES_MAX)
            return damage_of(source, "attributes of more than 65535 bytes", error);
        if (next.value.length > 0)
            memcpy(source->next_bytes, next.value.data, next.value.length);
        source->next_attributes = (struct step_bytes){source->next_bytes, next.value.length};
        source->has_next_attributes = true;
        return STEP_STATUS_END;
    }
    return step_allocs_take_event(source, view, known, record, error);
}

static enum step_status next_of_blocks(struct stepfile_alloc_source *source,
                                       struct step_record_view *view, struct step_error *error)
{
    enum step_status status = STEP_STATUS_END;
    for (;;) {
        source->number++;
        if (source->block != NULL &&
            (status = step_block_next(source->block, view)) != STEP_STATUS_END)
            return status;
        if (source->next_block == step_reader_block_count(source->reader))
            return STEP_STATUS_END;
        source->number =
            step_reader_block_info(source->reader, source->next_block)->first_record - 1;
        status =
            step_reader_load(source->reader, source->next_block++, NULL, &source->block, error);
        if (status == STEP_STATUS_CORRUPT || status == STEP_STATUS_CUT) {
            step_block_destroy(source->block);
            source->block = NULL;
        } else if (status != STEP_STATUS_OK) {
            return status;
        }
    }
}

static enum step_status next_view(struct stepfile_alloc_source *source,
                                  struct step_record_view *view, struct step_error *error)
{
    return source->records != NULL ? step_records_next(source->records, view, error)
                                   : next_of_blocks(source, view, error);
}

static bool was_reported(const struct stepfile_alloc_source *source)
{
    return source->is_known != NULL &&
           source->is_known(source->is_known_user,
                            step_reader_block_info(source->reader, source->next_block - 1)->stream,
                            source->number);
}

static enum step_status next_record(struct alloc_source *base, struct hatf_record *record,
                                    struct step_error *error)
{
    struct stepfile_alloc_source *source = (struct stepfile_alloc_source *) base;
    enum step_status status = STEP_STATUS_END;
    while (status == STEP_STATUS_END) {
        struct step_record_view view;
        status = next_view(source, &view, error);
        if (status != STEP_STATUS_OK)
            return status;
        status = step_allocs_take(source, &view, record, error);
        if (status == STEP_STATUS_OK && record->tag == HATF_FREE && was_reported(source))
            status = STEP_STATUS_END;
    }
    return status;
}

static double step_allocs_progress(struct alloc_source *base)
{
    const struct stepfile_alloc_source *source = (const struct stepfile_alloc_source *) base;
    uint64_t done = source->next_block, all = step_reader_block_count(source->reader);
    if (source->records != NULL)
        step_records_progress(source->records, &done, &all);
    return all > 0 ? (double) done / (double) all : 1.0;
}

static void step_allocs_destroy(struct alloc_source *base)
{
    struct stepfile_alloc_source *source = (struct stepfile_alloc_source *) base;
    step_records_destroy(source->records);
    if (source->binding.inner != NULL)
        step_hatf_trace_unbind(&source->binding);
    address_model_destroy(source->model);
    step_block_destroy(source->block);
    if (!base->may_grow)
        step_reader_destroy(source->reader);
    free(source);
}

static const struct alloc_source_operations operations = {
    .next = next_record,
    .progress = step_allocs_progress,
    .destroy = step_allocs_destroy,
};

/* ---- opening ---- */

static bool has_places(const struct stepfile_alloc_source *source,
                       const struct step_block_info *info)
{
    for (size_t i = 0; i < info->type_count; i++) {
        int known = step_hatf_trace_record(&source->binding, info->counts[i].record);
        enum hatf_tag tag;
        bool is_placed;
        if (tag_of(known, &tag, &is_placed) && is_placed)
            return true;
    }
    return false;
}

/* Returns whether the trace has records of the earlier model, which had no ranks. */
static bool has_old_places(const struct step_reader *reader)
{
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    for (size_t k = 0; k < step_reader_block_count(reader); k++) {
        const struct step_block_info *info = step_reader_block_info(reader, k);
        for (size_t i = 0; i < info->type_count; i++) {
            const char *name = definition->records[info->counts[i].record].name;
            size_t length = strlen(name);
            if (strncmp(name, "heap.", 5) == 0 && length > 7 &&
                strcmp(name + length - 7, "ByPlace") == 0)
                return true;
        }
    }
    return false;
}

static enum step_status step_allocs_start(struct stepfile_alloc_source *source,
                                          struct step_error *error)
{
    if (has_old_places(source->reader))
        return step_error_set(error, STEP_STATUS_UNSUPPORTED, source->base.path, STEP_NO_OFFSET,
                              "its addresses are places in a model of an earlier version, which "
                              "can still convert it to .hatf");
    size_t count = step_reader_block_count(source->reader);
    source->base.about.resolution_ns = trace_resolution_ns(source->reader);
    enum step_status status = step_hatf_trace_bind(step_reader_borrow_definition(source->reader),
                                                   &source->binding, error);
    if (status != STEP_STATUS_OK)
        return status;
    bool is_placed = false;
    for (size_t i = 0; i < count && !is_placed; i++)
        is_placed = has_places(source, step_reader_block_info(source->reader, i));
    if (is_placed && (source->model = address_model_create(true)) == NULL)
        return no_memory(error);
    source->damage_before = step_reader_damage_count(source->reader);
    return source->base.may_grow
               ? STEP_STATUS_OK
               : step_records_create(source->reader, NULL, &source->records, error);
}

static enum step_status step_allocs_create(const char *path, struct step_reader *reader,
                                           bool may_grow, struct alloc_source **out,
                                           struct step_error *error)
{
    struct stepfile_alloc_source *source = calloc(1, sizeof *source);
    if (source == NULL) {
        if (!may_grow)
            step_reader_destroy(reader);
        return no_memory(error);
    }
    source->base.may_grow = may_grow;
    source->base.operations = &operations;
    source->base.path = path;
    source->base.about.format = "step (heap)";
    source->base.about.reader = reader;
    source->reader = reader;
    enum step_status status = step_allocs_start(source, error);
    if (status == STEP_STATUS_OK)
        *out = &source->base;
    else
        step_allocs_destroy(&source->base);
    return status;
}

enum step_status stepfile_alloc_source_create(const char *path, struct step_reader *reader,
                                              struct alloc_source **out, struct step_error *error)
{
    return step_allocs_create(path, reader, false, out, error);
}

enum step_status stepfile_alloc_tail_create(const char *path, struct step_reader *reader,
                                            struct alloc_source **out, struct step_error *error)
{
    return step_allocs_create(path, reader, true, out, error);
}

void stepfile_alloc_tail_pass(struct alloc_source *tail, stepfile_is_known is_known, void *user)
{
    struct stepfile_alloc_source *source = (struct stepfile_alloc_source *) tail;
    source->is_known = is_known;
    source->is_known_user = user;
}
