/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of names, and an arena for their texts. */
#include "converter/trace/names.h"

#include <stdlib.h>
#include <string.h>

#include "converter/containers/name_index.h"
#include "converter/trace/source_map.h"
#include "format/core/grow.h"

#define CHUNK_BYTES ((size_t) 65536)

struct name_chunk {
    struct name_chunk *next;
    size_t used;
    size_t size;
    uint8_t bytes[];
};

static const uint8_t question_mark[] = {'?'};
static const struct trace_class unknown_class = {.name = {question_mark, 1}};
static const struct trace_method unknown_method = {.name = {question_mark, 1},
                                                   .descriptor = {question_mark, 0}};
static const struct trace_thread unknown_thread = {.name = {question_mark, 0}};

void trace_names_init(struct trace_names *names)
{
    id_table_init(&names->classes, sizeof(struct trace_class));
    id_table_init(&names->methods, sizeof(struct trace_method));
    id_table_init(&names->threads, sizeof(struct trace_thread));
    id_table_init(&names->frames, sizeof(struct trace_frame));
    id_table_init(&names->phases, sizeof(struct trace_phase_name));
    phase_sets_init(&names->phases_open);
    names->chunks = NULL;
    names->no_memory = false;
}

void trace_names_reset(struct trace_names *names)
{
    id_table_reset(&names->classes);
    id_table_reset(&names->methods);
    id_table_reset(&names->threads);
    id_table_reset(&names->frames);
    id_table_reset(&names->phases);
    phase_sets_reset(&names->phases_open);
    while (names->chunks != NULL) {
        struct name_chunk *next = names->chunks->next;
        free(names->chunks);
        names->chunks = next;
    }
}

bool trace_names_copy(struct trace_names *names, struct step_bytes bytes, struct step_bytes *copy)
{
    struct name_chunk *chunk = names->chunks;
    if (chunk == NULL || chunk->size - chunk->used < bytes.length) {
        size_t size = bytes.length > CHUNK_BYTES ? bytes.length : CHUNK_BYTES;
        chunk = malloc(sizeof *chunk + size);
        if (chunk == NULL) {
            names->no_memory = true;
            return false;
        }
        *chunk = (struct name_chunk){.next = names->chunks, .size = size};
        names->chunks = chunk;
    }
    uint8_t *to = chunk->bytes + chunk->used;
    if (bytes.length > 0)
        memcpy(to, bytes.data, bytes.length);
    chunk->used += bytes.length;
    *copy = (struct step_bytes){to, bytes.length};
    return true;
}

static bool keep_name(void *names, struct step_bytes text, struct step_bytes *copy)
{
    return trace_names_copy(names, text, copy);
}

uint32_t trace_names_number(struct trace_names *names, struct name_index *index, uint64_t number,
                            struct step_bytes text, bool *is_new)
{
    return name_index_put_kept(index, number, text, keep_name, names, is_new);
}

/* Returns the entry of a new id, or NULL if it is not new, or memory runs out; sets `*id` to 0
 * then. */
static void *new_entry(struct trace_names *names, struct id_table *table, bool is_new, uint32_t *id)
{
    void *entry = is_new ? id_table_get(table, *id) : NULL;
    if (!is_new || entry != NULL)
        return entry;
    names->no_memory = true;
    *id = 0;
    return NULL;
}

uint32_t trace_names_class(struct trace_names *names, struct name_index *index,
                           struct step_bytes name, bool *is_new)
{
    uint32_t id = trace_names_number(names, index, 0, name, is_new);
    struct trace_class *class = new_entry(names, &names->classes, *is_new, &id);
    if (class != NULL)
        *class = (struct trace_class){.name = index->entries[id].text, .known = true};
    return id;
}

uint32_t trace_names_method(struct trace_names *names, struct name_index *index, uint32_t class_id,
                            struct step_bytes name)
{
    bool is_new;
    uint32_t id = trace_names_number(names, index, class_id, name, &is_new);
    struct trace_method *method = new_entry(names, &names->methods, is_new, &id);
    if (method != NULL)
        *method = (struct trace_method){
            .class_id = class_id, .name = index->entries[id].text, .known = true};
    return id;
}

uint32_t trace_names_thread(struct trace_names *names, struct name_index *index, uint64_t number,
                            bool *is_new)
{
    uint32_t id = trace_names_number(names, index, number, step_text(""), is_new);
    struct trace_thread *thread = new_entry(names, &names->threads, *is_new, &id);
    if (thread != NULL)
        *thread =
            (struct trace_thread){.number = number, .name = index->entries[id].text, .known = true};
    return id;
}

const struct trace_class *trace_class_of(const struct trace_names *names, uint32_t id)
{
    const struct trace_class *entry = id_table_find(&names->classes, id);
    return entry != NULL && entry->known ? entry : &unknown_class;
}

const struct trace_method *trace_method_of(const struct trace_names *names, uint32_t id)
{
    const struct trace_method *entry = id_table_find(&names->methods, id);
    return entry != NULL && entry->known ? entry : &unknown_method;
}

const struct trace_frame *trace_frame_of(const struct trace_names *names, uint32_t id)
{
    static const struct trace_frame unknown_frame = {0};
    const struct trace_frame *entry = id_table_find(&names->frames, id);
    return entry != NULL && entry->known ? entry : &unknown_frame;
}

bool frame_chain_find(struct frame_chain *chain, const struct trace_names *names,
                      const struct id_table *written, uint32_t id)
{
    chain->count = 0;
    for (uint32_t at = id, before = UINT32_MAX; at != 0 && at < before;
         before = at, at = trace_frame_of(names, at)->parent) {
        const uint64_t *entry = id_table_find(written, at);
        if (entry != NULL && *entry != 0)
            break;
        if (!STEP_MAKE_ROOM(chain->ids, chain->capacity, chain->count + 1))
            return false;
        chain->ids[chain->count++] = at;
    }
    return true;
}

const struct trace_thread *trace_thread_of(const struct trace_names *names, uint32_t id)
{
    const struct trace_thread *entry = id_table_find(&names->threads, id);
    return entry != NULL && entry->known ? entry : &unknown_thread;
}

struct frame_place trace_place(const struct trace_names *names, uint32_t method_id, uint32_t line,
                               uint32_t bytecode)
{
    const struct trace_class *class =
        trace_class_of(names, trace_method_of(names, method_id)->class_id);
    struct frame_place place = {.line = line, .bytecode = bytecode, .file = class->file};
    source_map_find(class->map, &place);
    return place;
}

size_t trace_source_path(const struct trace_names *names, uint32_t class_id,
                         const struct frame_place *place, char *out, size_t out_size)
{
    struct step_bytes directory = place->directory;
    if (directory.length == 0) {
        directory = trace_class_of(names, class_id)->name;
        while (directory.length > 0 && directory.data[directory.length - 1] != '/')
            directory.length--;
    }
    const struct step_bytes parts[] = {directory, place->file};
    size_t used = 0;
    for (size_t i = 0; place->file.length > 0 && i < 2; i++) {
        size_t room = out_size - 1 - used;
        size_t length = parts[i].length < room ? parts[i].length : room;
        if (length > 0)
            memcpy(out + used, parts[i].data, length);
        used += length;
    }
    out[used] = '\0';
    return used;
}
