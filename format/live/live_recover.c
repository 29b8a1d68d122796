/* SPDX-License-Identifier: Apache-2.0 */
/* Recovers the records that a dead process left in its live file into a writer.  The file is read,
 * not mapped, and none of it is trusted. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/no_memory.h"
#include "format/live/live_allocs.h"
#include "format/live/live_decoder.h"
#include "format/live/live_file.h"
#include "format/live/live_streams.h"
#include "steptrace/definition.h"
#include "steptrace/hatf_trace.h"
#include "steptrace/java_trace.h"
#include "steptrace/live.h"

/*
 * The record types that the decoders write, as required of a trace's definition.  (The definition
 * in this program is not checked: a program may link the library with its own code for java.step.)
 */

struct put_record {
    uint32_t number;
    const char *name;
    const char *fields; /* a blank after each; `$` a text, `*` bytes, `#` a dictionary entry */
};

#define EVENT "time thread# "
#define STEP_HEAP_EVENT "time thread attributes# "
#define STEP_HEAP_REALLOC STEP_HEAP_EVENT "heap size address new_address "

static const struct put_record java_records[] = {
    {STEP_JAVA_CLASS, "java.Class", "name$ loader "},
    {STEP_JAVA_METHOD, "java.Method", "class# name$ descriptor$ modifiers "},
    {STEP_JAVA_THREAD, "java.Thread", "name$ flags "},
    {STEP_JAVA_FRAME, "java.Frame", "parent# method# line bytecode "},
    {STEP_JAVA_VM_START, "java.VMStart", EVENT},
    {STEP_JAVA_VM_INIT, "java.VMInit", EVENT},
    {STEP_JAVA_VM_DEATH, "java.VMDeath", EVENT},
    {STEP_JAVA_CLASS_LOAD, "java.ClassLoad", EVENT "class# "},
    {STEP_JAVA_CLASS_EXISTING, "java.ClassExisting", EVENT "class# "},
    {STEP_JAVA_THREAD_START, "java.ThreadStart", EVENT},
    {STEP_JAVA_THREAD_EXISTING, "java.ThreadExisting", EVENT},
    {STEP_JAVA_THREAD_END, "java.ThreadEnd", EVENT},
    {STEP_JAVA_OBJECT_ALLOC, "java.ObjectAlloc", EVENT "class# size object padding "},
    {STEP_JAVA_OBJECT_EXISTING, "java.ObjectExisting", EVENT "class# size object padding "},
    {STEP_JAVA_OBJECT_ALLOC_AT, "java.ObjectAllocAt", EVENT "class# size object padding stack# "},
    {STEP_JAVA_OBJECT_FREE, "java.ObjectFree", EVENT "object "},
    {STEP_JAVA_METHOD_ENTRY, "java.MethodEntry", EVENT "method# object "},
    {STEP_JAVA_METHOD_EXIT, "java.MethodExit", EVENT "method# "},
    {STEP_JAVA_FRAME_POP, "java.FramePop", EVENT "method# "},
    {STEP_JAVA_NOT_PROBED, "java.NotProbed", EVENT "class$ method$ descriptor$ reason$ missing "},
    {STEP_JAVA_METHOD_COUNT, "java.MethodCount",
     EVENT "method# calls exceptions inclusive exclusive "},
    {STEP_JAVA_PHASE_NAME, "java.PhaseName", "name$ "},
    {STEP_JAVA_SOURCE_FILE, "java.SourceFile", "class# file$ map$ "},
    {STEP_JAVA_LAYOUT, "java.Layout", "class# super# fields$ "},
    {STEP_JAVA_PHASE_BEGIN, "java.PhaseBegin", EVENT "name# depth scope "},
    {STEP_JAVA_PHASE_END, "java.PhaseEnd", EVENT "name# depth scope "},
    {STEP_JAVA_OBJECT_SAMPLED, "java.ObjectSampled",
     EVENT "class# size object padding stack# interval "},
    {STEP_JAVA_OBJECT_GIVEN_UP, "java.ObjectGivenUp", EVENT "object threshold "},
    {STEP_JAVA_OBJECT_FREE_EARLIER, "java.ObjectFreeEarlier", EVENT "object "},
    {STEP_JAVA_FIELD, "java.Field", "class# name$ descriptor$ modifiers "},
    {STEP_JAVA_FIELD_STORE, "java.FieldStore", EVENT "holder target field# "},
    {STEP_JAVA_ELEMENT_STORE, "java.ElementStore", EVENT "holder target index "},
    {STEP_JAVA_RANGE_STORE, "java.RangeStore", EVENT "source source_index holder index length "},
    {STEP_JAVA_CLONE_STORE, "java.CloneStore", EVENT "source holder "},
    {STEP_JAVA_SNAPSHOT, "java.Snapshot", EVENT "number reason$ "},
    {STEP_JAVA_ROOT, "java.Root", EVENT "target kind owner# method# depth "},
    {STEP_JAVA_FIELD_REFERENCE, "java.FieldReference", EVENT "holder target field# "},
    {STEP_JAVA_ELEMENT_REFERENCE, "java.ElementReference", EVENT "holder target index "},
    {STEP_JAVA_OTHER_REFERENCE, "java.OtherReference", EVENT "holder target kind "},
    {STEP_JAVA_SNAPSHOT_END, "java.SnapshotEnd", EVENT "number objects references roots unknown "},
};

static const struct put_record alloc_records[] = {
    {STEP_HEAP_ATTRIBUTES, "heap.Attributes", "value* "},
    {STEP_HEAP_THREAD_CREATE, "heap.ThreadCreate", STEP_HEAP_EVENT},
    {STEP_HEAP_THREAD_DESTROY, "heap.ThreadDestroy", STEP_HEAP_EVENT},
    {STEP_HEAP_HEAP_CREATE, "heap.HeapCreate", STEP_HEAP_EVENT "heap "},
    {STEP_HEAP_HEAP_DESTROY, "heap.HeapDestroy", STEP_HEAP_EVENT "heap "},
    {STEP_HEAP_ALLOC, "heap.Alloc", STEP_HEAP_EVENT "heap size address "},
    {STEP_HEAP_FREE, "heap.Free", STEP_HEAP_EVENT "heap address "},
    {STEP_HEAP_REALLOC_IN_PLACE, "heap.ReallocInPlace", STEP_HEAP_REALLOC},
    {STEP_HEAP_REALLOC_MOVE, "heap.ReallocMove", STEP_HEAP_REALLOC},
    {STEP_HEAP_REALLOC_ALLOC, "heap.ReallocAlloc", STEP_HEAP_REALLOC},
    {STEP_HEAP_REALLOC_FREE, "heap.ReallocFree", STEP_HEAP_REALLOC},
};

/* The encoding does not matter. */
static char kind_of(const struct step_field *field)
{
    if (field->array_depth > 0 || step_field_is_variant(field))
        return '?';
    if (step_field_is_identifier(field))
        return field->kind == STEP_TYPE_RECORD ? '#' : '?';
    static const char kinds[] = {[STEP_TYPE_INT] = ' ',
                                 [STEP_TYPE_STRING] = '$',
                                 [STEP_TYPE_DATA] = '*',
                                 [STEP_TYPE_RECORD] = '?'};
    return kinds[field->kind];
}

static bool has_fields(const struct step_record *record, const char *fields)
{
    size_t i = 0;
    for (; i < record->field_count && *fields != '\0'; i++) {
        size_t length = strcspn(fields, " #$*");
        const struct step_field *field = &record->fields[i];
        if (strlen(field->name) != length || memcmp(field->name, fields, length) != 0 ||
            kind_of(field) != fields[length])
            return false;
        fields += length + (fields[length] != ' ') + 1;
    }
    return i == record->field_count && *fields == '\0';
}

static bool all_fit(const struct put_record *rows, size_t count,
                    const struct step_definition *theirs)
{
    bool fits = true;
    for (size_t i = 0; fits && i < count; i++) {
        if (rows[i].number >= theirs->record_count)
            continue; /* an older definition: the writer refuses such records */
        const struct step_record *record = &theirs->records[rows[i].number];
        fits = strcmp(record->name, rows[i].name) == 0 && has_fields(record, rows[i].fields);
    }
    return fits;
}

/* Returns true if all of the decoders' record types that the trace's definition has are the same
 * there.  The decoders write records by the numbers and slots that this program knows, so only then
 * may such a live file be decoded into a writer with that definition.  (The last types may be
 * missing: the writer refuses those records.) */
static bool live_schema_fits(uint64_t kind, const struct step_definition *theirs)
{
    switch (kind) {
    case STEP_LIVE_DEFINITION_JAVA:
        return all_fit(java_records, sizeof java_records / sizeof java_records[0], theirs);
    case STEP_LIVE_DEFINITION_HEAP:
        return all_fit(alloc_records, sizeof alloc_records / sizeof alloc_records[0], theirs);
    default:
        return false;
    }
}

/* The global stream comes first, because others use its definitions; the frees last, because a
 * batch that was cut gets the latest time of all. */
static int stream_rank(uint64_t stream)
{
    return stream == STEP_LIVE_STREAM_GLOBAL ? 0 : stream == STEP_LIVE_STREAM_FREES ? 2 : 1;
}

static int compare_chunks(const void *left, const void *right)
{
    const struct found_chunk *a = left, *b = right;
    if (stream_rank(a->head.stream) != stream_rank(b->head.stream))
        return stream_rank(a->head.stream) - stream_rank(b->head.stream);
    if (a->head.stream != b->head.stream)
        return a->head.stream < b->head.stream ? -1 : 1;
    return a->head.order < b->head.order ? -1 : a->head.order > b->head.order;
}

/* The decoder for the file's definition, and its functions. */
struct decoding {
    void *decoder;
    bool is_heap;
    enum step_status (*words)(void *decoder, uint64_t stream, const uint64_t *words, size_t count,
                              size_t *consumed, struct step_error *error);
};

static enum step_status check_definition(struct live_file *file, const struct step_writer *writer)
{
    if (live_schema_fits(file->header.definition, step_writer_borrow_definition(writer)))
        return STEP_STATUS_OK;
    return step_error_set(file->error, STEP_STATUS_UNSUPPORTED, file->path,
                          offsetof(struct step_live_header, definition),
                          "the trace beside it does not have the records of a %s program",
                          file->header.definition == STEP_LIVE_DEFINITION_HEAP ? "native" : "Java");
}

static struct decoding start_decoding(const struct live_file *file, struct step_writer *writer)
{
    if (file->header.definition == STEP_LIVE_DEFINITION_HEAP) {
        struct live_allocs_decoder *heap = live_allocs_decoder_create(&file->header, writer);
        if (heap != NULL && file->header.lost_stamp != 0)
            live_allocs_decoder_end_before(heap, file->header.lost_stamp);
        return (struct decoding){heap, true, live_allocs_decoder_words};
    }
    struct live_decoder *java = live_decoder_create(&file->header, writer);
    if (java != NULL)
        live_decoder_end_at_death(java);
    return (struct decoding){java, false, live_decoder_words};
}

/* Decodes pending frees after all records of the stream. */
static enum step_status decode_owed(struct live_file *file, const struct decoding *decoding,
                                    const struct found_chunk *chunk)
{
    uint64_t words[STEP_LIVE_OWED_WORDS];
    uint64_t at = sizeof(struct step_live_chunk) + chunk->head.owed_at * sizeof words[0];
    if (chunk->head.owed_at == 0 || !decoding->is_heap ||
        !live_file_read(file, chunk->offset + at, words, sizeof words))
        return STEP_STATUS_OK;
    return live_allocs_decoder_owed(decoding->decoder, chunk->head.stream, chunk->head.owed_record,
                                    words, file->error);
}

static enum step_status decode_chunk(struct live_file *file, const struct decoding *decoding,
                                     const struct found_chunk *chunk)
{
    uint64_t *words = malloc((size_t) chunk->head.used + 1);
    if (words == NULL)
        return step_error_set(file->error, STEP_STATUS_NO_MEMORY, file->path, chunk->offset,
                              "out of memory");
    enum step_status status = live_streams_begin(decoding->decoder, chunk->head.stream,
                                                 chunk->head.first_record, chunk->head.thread);
    size_t consumed = 0;
    if (status == STEP_STATUS_OK &&
        live_file_read(file, chunk->offset + sizeof(struct step_live_chunk), words,
                       (size_t) chunk->head.used))
        status = decoding->words(decoding->decoder, chunk->head.stream, words,
                                 (size_t) chunk->head.used / sizeof *words, &consumed, file->error);
    if (status == STEP_STATUS_OK)
        status = decode_owed(file, decoding, chunk);
    free(words);
    if (status != STEP_STATUS_OK && file->error != NULL) {
        file->error->offset =
            chunk->offset + sizeof(struct step_live_chunk) + consumed * sizeof(uint64_t);
        snprintf(file->error->file, sizeof file->error->file, "%s", file->path);
    }
    return status;
}

/* Decodes every readable chunk.  The caller gets the first damage. */
static enum step_status decode_chunks(struct live_file *file, struct step_writer *writer)
{
    struct decoding decoding = start_decoding(file, writer);
    if (decoding.decoder == NULL)
        return step_no_memory(file->error, file->path);
    enum step_status first = STEP_STATUS_OK;
    for (size_t i = 0; i < file->count; i++) {
        enum step_status status = decode_chunk(file, &decoding, &file->chunks[i]);
        if (first == STEP_STATUS_OK)
            first = status;
        if (status != STEP_STATUS_OK && status != STEP_STATUS_CORRUPT)
            break;
        file->error = first == STEP_STATUS_OK ? file->error : NULL;
    }
    enum step_status status = STEP_STATUS_OK;
    if (decoding.is_heap) {
        live_allocs_decoder_destroy(decoding.decoder);
    } else {
        status = live_decoder_finish(decoding.decoder, file->header.free_stamp);
        live_decoder_destroy(decoding.decoder);
    }
    return first != STEP_STATUS_OK ? first : status;
}

enum step_status step_live_recover(const char *path, struct step_writer *writer,
                                   struct step_live_report *report, struct step_error *error)
{
    struct live_file file = {.path = path, .descriptor = -1, .error = error};
    enum step_status status = live_file_open(&file);
    if (status == STEP_STATUS_OK)
        status = live_file_check_owner(&file);
    if (status == STEP_STATUS_OK)
        status = check_definition(&file, writer);
    if (status == STEP_STATUS_OK)
        status = live_file_find_chunks(&file);
    if (status == STEP_STATUS_OK) {
        if (file.count > 1)
            qsort(file.chunks, file.count, sizeof *file.chunks, compare_chunks);
        status = decode_chunks(&file, writer);
    }
    if (report != NULL) {
        *report = (struct step_live_report){.dropped = file.header.dropped,
                                            .is_lost = file.header.lost_stamp != 0};
        if (report->is_lost && file.header.resolution_ns != 0) {
            const struct step_live_header clock = live_clock(&file.header);
            report->lost_ns = live_stamp_ns(&clock, file.header.lost_stamp);
        }
        memcpy(report->internals, file.header.internals, sizeof report->internals - 1);
    }
    live_file_close(&file);
    return status;
}
