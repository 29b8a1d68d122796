/* SPDX-License-Identifier: Apache-2.0 */
/* Copies rotated files, one after the other, into one trace. */
#include "converter/files/file_joining.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/cli/error_report.h"
#include "converter/containers/no_memory.h"
#include "converter/files/joined_files.h"
#include "converter/files/joined_types.h"
#include "converter/files/spool.h"
#include "converter/files/trace_files.h"
#include "converter/files/trace_gap.h"
#include "converter/numbers/trace_ticks.h"
#include "steptrace/live.h"
#include "steptrace/writer.h"

#define GAPS_ROOM 1000u
/* Each file measures its clock's rate anew, so that it may begin a little before the last one
 * ended. */
#define OVERLAP_MOST_NS UINT64_C(1000000000)

/* Objects whose allocations one of the files has. */
struct object_range {
    uint64_t first, next;
};

struct joining {
    struct rotated_files files; /* those that can be read; their paths are borrowed */
    size_t at;                  /* the current file */
    struct step_reader *first;  /* of the first file: its definition is the joined trace's */
    struct step_writer *writer;
    struct joined_entries entries;
    struct joined_types types;
    struct object_range *ranges; /* by file */
    size_t *time_slots;          /* by record */
    uint64_t begin_ticks;        /* of the first file, if it is known */
    uint64_t end_ticks;          /* of the files so far */
    uint64_t pauses_ticks;       /* between files */
    uint64_t repeats;            /* the last known; UINT64_MAX: none */
    uint64_t unknown_deaths;
    struct joined_window window;
    bool has_properties;
    bool others_left; /* there are files of another recording */
    char gaps[GAPS_ROOM];
    int spool;
};

static const char *path_of(const struct joining *joining)
{
    return joining->files.items[joining->at].path;
}

static bool is_first(const struct joining *joining)
{
    return joining->at == 0;
}

static bool is_last(const struct joining *joining)
{
    return joining->at + 1 == joining->files.count;
}

__attribute__((format(printf, 2, 3))) static void add_gap(struct joining *joining,
                                                          const char *format, ...)
{
    size_t used = strlen(joining->gaps);
    if (used > 0 && used + 3 < GAPS_ROOM)
        used += (size_t) snprintf(joining->gaps + used, GAPS_ROOM - used, "; ");
    va_list values;
    va_start(values, format);
    vsnprintf(joining->gaps + used, GAPS_ROOM - used, format, values);
    va_end(values);
}

/* ---- the files ---- */

static const char *const same_keys[] = {"file-set", "resolution-ns", "clock", "start-time-ns"};

static bool is_window(const struct step_reader *reader)
{
    const char *window = step_reader_property(reader, "window");
    return window != NULL && strcmp(window, "exact") == 0;
}

static bool joining_same(const struct step_reader *a, const struct step_reader *b, const char *key)
{
    const char *of_a = step_reader_property(a, key), *of_b = step_reader_property(b, key);
    return of_a == of_b || (of_a != NULL && of_b != NULL && strcmp(of_a, of_b) == 0);
}

static enum step_status joining_refuse(const struct joining *joining, struct step_error *error,
                                       const char *reason)
{
    return step_error_set(error, STEP_STATUS_CORRUPT, path_of(joining), STEP_NO_OFFSET,
                          "it cannot be joined with %s: %s", joining->files.items[0].path, reason);
}

static bool has_same_definition(const struct step_reader *a, const struct step_reader *b)
{
    const struct step_definition *of_a = step_reader_borrow_definition(a);
    const struct step_definition *of_b = step_reader_borrow_definition(b);
    return of_a->text_length == of_b->text_length &&
           memcmp(of_a->text, of_b->text, of_a->text_length) == 0;
}

/* Returns CORRUPT for a trace that is no file of rotate= with this number. */
static enum step_status check_kind(struct rotated_file *file, const struct step_reader *reader,
                                   struct step_error *error)
{
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    struct joined_types types = joined_types_find(definition);
    if (step_reader_property(reader, "file-set") == NULL || !joined_types_fit(definition, &types) ||
        !joined_window_fits(definition))
        return step_error_set(error, STEP_STATUS_CORRUPT, file->path, STEP_NO_OFFSET,
                              "it is named like a file of rotate=, but is not one");
    if (trace_number(step_reader_property(reader, "file-number"), 0) != file->number)
        return step_error_set(error, STEP_STATUS_CORRUPT, file->path, STEP_NO_OFFSET,
                              "the number in its name differs from its property file-number");
    return rotated_file_note_set(file, reader) ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
}

static enum step_status check_same(const struct joining *joining, const struct step_reader *reader,
                                   struct step_error *error)
{
    if (!has_same_definition(joining->first, reader))
        return joining_refuse(joining, error, "their definitions differ");
    for (size_t i = 0; i < sizeof same_keys / sizeof same_keys[0]; i++)
        if (!joining_same(joining->first, reader, same_keys[i]))
            return joining_refuse(joining, error,
                                  "they are of different recordings: move one away");
    return STEP_STATUS_OK;
}

/* Takes the files of rotate=; others are reported. */
static enum step_status take_files(struct joining *joining, const struct rotated_files *files,
                                   struct step_error *error)
{
    joining->files = (struct rotated_files){.items = calloc(files->count, sizeof *files->items),
                                            .first = files->first,
                                            .last = files->last};
    size_t left_out = 0;
    if (joining->files.items == NULL)
        return no_memory(error);
    for (size_t i = 0; i < files->count; i++) {
        struct step_reader *reader = NULL;
        struct step_error fault = {.offset = STEP_NO_OFFSET};
        enum step_status status = step_reader_open(files->items[i].path, &reader, &fault);
        if (status == STEP_STATUS_OK)
            status = check_kind(&files->items[i], reader, &fault);
        step_reader_destroy(reader);
        if (status == STEP_STATUS_NO_MEMORY)
            return no_memory(error);
        if (status == STEP_STATUS_OK)
            joining->files.items[joining->files.count++] = files->items[i];
        else if (rotated_files_are_told(left_out++))
            report_error(&fault);
    }
    rotated_files_tell_rest(files->items[0].path, left_out);
    size_t read = joining->files.count;
    rotated_files_leave_others(&joining->files);
    joining->others_left = read > joining->files.count;
    return joining->files.count > 0
               ? STEP_STATUS_OK
               : step_error_set(error, STEP_STATUS_CORRUPT, files->items[0].path, STEP_NO_OFFSET,
                                "neither this file nor another one of its name can be read");
}

/* ---- the spool ---- */

static bool find_slots(struct joining *joining, const struct step_definition *definition)
{
    joining->time_slots = calloc(definition->record_count + 1, sizeof *joining->time_slots);
    joining->ranges = calloc(joining->files.count, sizeof *joining->ranges);
    if (joining->time_slots == NULL || joining->ranges == NULL)
        return false;
    for (uint32_t i = 0; i < definition->record_count; i++)
        joining->time_slots[i] = step_record_find_property(definition, i, "time");
    return true;
}

static enum step_status joining_begin(struct joining *joining, struct step_error *error)
{
    const struct step_definition *definition = step_reader_borrow_definition(joining->first);
    struct step_writer_options options;
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = spool_as_output(&joining->spool);
    joining->types = joined_types_find(definition);
    enum step_status status = spool_open(&joining->spool, error);
    if (status == STEP_STATUS_OK)
        status = step_writer_create(&options, &joining->writer, error);
    if (status != STEP_STATUS_OK)
        return status;
    return joined_window_init(&joining->window, definition, joining->writer) &&
                   joined_entries_init(&joining->entries, definition, joining->writer) &&
                   find_slots(joining, definition)
               ? STEP_STATUS_OK
               : no_memory(error);
}

/* ---- records ---- */

static bool has_allocation(const struct joining *joining, uint64_t object)
{
    for (size_t i = joining->at; i-- > 0;)
        if (object >= joining->ranges[i].first)
            return object < joining->ranges[i].next;
    return false;
}

/* Returns false if the joined trace has no such record: what begins again with each file. */
static bool joining_wants(struct joining *joining, uint32_t *record, const uint64_t *slots)
{
    const struct joined_types *types = &joining->types;
    const struct step_definition *definition = joining->entries.definition;
    if (*record == types->vm_start || *record == types->vm_init)
        return is_first(joining);
    if (*record == types->vm_death)
        return is_last(joining);
    if (*record == types->object_free_earlier) {
        bool is_known = has_allocation(joining, slots[2]);
        joining->unknown_deaths += !is_known;
        *record = types->object_free;
        return is_known;
    }
    bool is_class = *record == types->class_existing || *record == types->class_load;
    bool is_thread = *record == types->thread_existing || *record == types->thread_start;
    if (is_first(joining) || (!is_class && !is_thread))
        return true;
    size_t named = is_class ? 2 : 1;
    uint32_t dictionary = definition->records[*record].fields[named].record;
    *record = is_class ? types->class_load : types->thread_start; /* between the files */
    return !joined_entries_was_known(&joining->entries, dictionary, slots[named]);
}

static enum step_status joining_put(struct joining *joining, uint64_t stream,
                                    const struct step_record_view *view)
{
    uint32_t record = view->record;
    uint64_t *slots = joined_entries_record(&joining->entries, record, view->slots);
    size_t time = joining->time_slots[record];
    if (time != STEP_NO_PROPERTY_SLOT && slots[time] < joining->end_ticks)
        slots[time] = joining->end_ticks;
    if (record == joining->types.thread_end)
        joined_entries_end(&joining->entries,
                           joining->entries.definition->records[record].fields[1].record, slots[1]);
    return joining_wants(joining, &record, slots)
               ? joined_window_put(&joining->window, stream, record, slots)
               : STEP_STATUS_OK;
}

static enum step_status joining_put_block(struct joining *joining, struct step_reader *reader,
                                          size_t i, struct step_block **block,
                                          struct step_error *error)
{
    struct step_record_view view;
    uint64_t stream = step_reader_block_info(reader, i)->stream;
    enum step_status status = trace_load_block(reader, i, NULL, block, error);
    if (status != STEP_STATUS_OK)
        return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
    while (status == STEP_STATUS_OK && step_block_next(*block, &view) == STEP_STATUS_OK)
        status = joining_put(joining, stream, &view);
    return status;
}

/* ---- a file ---- */

static bool has_records(const struct step_block_info *info, uint32_t record)
{
    bool has = false;
    for (size_t i = 0; i < info->type_count; i++)
        has = has || info->counts[i].record == record;
    return has;
}

/* Finds when the file was begun: its record VMInit says so. UINT64_MAX: not known. */
static enum step_status find_begin(const struct joining *joining, struct step_reader *reader,
                                   uint64_t *begin_ticks, struct step_error *error)
{
    struct step_block *block = NULL;
    struct step_record_view view;
    enum step_status status = STEP_STATUS_OK;
    *begin_ticks = UINT64_MAX;
    for (size_t i = 0; i < step_reader_block_count(reader) && *begin_ticks == UINT64_MAX; i++) {
        if (!has_records(step_reader_block_info(reader, i), joining->types.vm_init))
            continue;
        status = step_reader_load(reader, i, NULL, &block, error);
        while (status == STEP_STATUS_OK && step_block_next(block, &view) == STEP_STATUS_OK)
            if (view.record == joining->types.vm_init)
                *begin_ticks = view.slots[0];
    }
    step_block_destroy(block);
    return status == STEP_STATUS_NO_MEMORY || status == STEP_STATUS_IO ? status : STEP_STATUS_OK;
}

/* Notes the file's times and objects. Returns CORRUPT if it was written at the same time as the one
 * before. */
static enum step_status take_ranges(struct joining *joining, struct step_reader *reader,
                                    uint64_t *begin_ticks, uint64_t *end_ticks,
                                    struct step_error *error)
{
    uint64_t begin, resolution_ns = trace_number(step_reader_property(reader, "resolution-ns"), 1);
    enum step_status status = find_begin(joining, reader, &begin, error);
    if (status != STEP_STATUS_OK)
        return status;
    *end_ticks = joining->end_ticks;
    for (size_t i = 0; i < step_reader_block_count(reader); i++) {
        const struct step_block_info *info = step_reader_block_info(reader, i);
        *end_ticks = info->time_max > *end_ticks ? info->time_max : *end_ticks;
    }
    joining->ranges[joining->at] = (struct object_range){
        trace_number(step_reader_property(reader, "first-object"), 1),
        trace_number(step_reader_property(reader, "next-object"), UINT64_MAX)};
    uint64_t most = OVERLAP_MOST_NS / (resolution_ns > 0 ? resolution_ns : 1);
    if (begin < joining->end_ticks && joining->end_ticks - begin > most)
        return step_error_set(error, STEP_STATUS_CORRUPT, path_of(joining), STEP_NO_OFFSET,
                              "it begins before %s ends",
                              joining->files.items[joining->at - 1].path);
    if (is_first(joining) && begin != UINT64_MAX && begin <= *end_ticks)
        joining->begin_ticks = begin;
    if (!is_first(joining) && begin != UINT64_MAX && begin > joining->end_ticks)
        joining->pauses_ticks += begin - joining->end_ticks;
    *begin_ticks =
        begin > joining->end_ticks && begin != UINT64_MAX ? begin - 1 : joining->end_ticks;
    return STEP_STATUS_OK;
}

static enum step_status copy_blocks(struct joining *joining, struct step_reader *reader,
                                    struct step_error *error)
{
    struct step_block *block = NULL;
    enum step_status status = joined_entries_next(&joining->entries, reader);
    for (size_t i = 0; i < step_reader_block_count(reader) && status == STEP_STATUS_OK; i++)
        status = joining_put_block(joining, reader, i, &block, error);
    step_block_destroy(block);
    return status;
}

static enum step_status copy_records(struct joining *joining, struct step_reader *reader,
                                     struct step_error *error)
{
    uint64_t begin_ticks = 0, end_ticks = 0;
    bool is_exact = is_window(reader);
    enum step_status status = take_ranges(joining, reader, &begin_ticks, &end_ticks, error);
    if (status == STEP_STATUS_OK && is_exact)
        status = joined_window_begin(&joining->window, begin_ticks);
    if (status == STEP_STATUS_OK)
        status = copy_blocks(joining, reader, error);
    if (status == STEP_STATUS_OK && is_exact)
        status = joined_window_end(&joining->window, end_ticks);
    joining->end_ticks = end_ticks;
    return status;
}

/* Notes the files from `first` to `last` as missing, if there are any. */
static void note_missing(struct joining *joining, uint64_t first, uint64_t last)
{
    if (first == last)
        add_gap(joining, "file %" PRIu64 " is missing", first);
    else if (first < last)
        add_gap(joining, "files %" PRIu64 " to %" PRIu64 " are missing", first, last);
}

/* Notes what the file lacks, and what lies between it and the one before. */
static void note_gaps(struct joining *joining, const struct step_reader *reader)
{
    char text[TRACE_GAP_ROOM];
    const struct rotated_file *file = &joining->files.items[joining->at];
    const char *gap = trace_gap(reader, text);
    uint64_t expected = is_first(joining) ? joining->files.first : file[-1].number + 1;
    if (file->number > expected)
        note_missing(joining, expected, file->number - 1);
    if (report_damaged_blocks(reader, file->path) != STEP_STATUS_OK)
        add_gap(joining, "file %" PRIu64 " is damaged", file->number);
    else if (gap != NULL)
        add_gap(joining, "file %" PRIu64 ": %s", file->number, gap);
    joining->repeats =
        trace_number(step_reader_property(reader, "file-set-repeats"), joining->repeats);
}

/* Those that are of one file. */
static bool is_of_file(const char *key)
{
    static const char *const keys[] = {"file-number",
                                       "sample-repeats",
                                       "file-set-repeats",
                                       "first-object",
                                       "next-object",
                                       "dropped",
                                       "end",
                                       "waited-ns",
                                       "longest-wait-ns",
                                       STEP_LIVE_REST,
                                       STEP_LIVE_MISSING_AFTER};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return strncmp(key, "memory-", sizeof "memory-" - 1) == 0;
}

static enum step_status joining_copy(struct joining *joining, const struct step_reader *reader)
{
    enum step_status status = STEP_STATUS_OK;
    joining->has_properties = true;
    for (size_t i = 0; i < step_reader_property_count(reader) && status == STEP_STATUS_OK; i++)
        if (!is_of_file(step_reader_property_key(reader, i)))
            status = step_writer_property(joining->writer, step_reader_property_key(reader, i),
                                          step_reader_property_value(reader, i));
    return status;
}

static enum step_status copy_file(struct joining *joining, struct step_error *error)
{
    struct step_reader *reader = joining->first;
    enum step_status status =
        is_first(joining) ? STEP_STATUS_OK : step_reader_open(path_of(joining), &reader, error);
    if (status != STEP_STATUS_OK)
        return status;
    status = check_same(joining, reader, error);
    if (status == STEP_STATUS_OK)
        status = copy_records(joining, reader, error);
    if (status == STEP_STATUS_OK)
        note_gaps(joining, reader);
    if (status == STEP_STATUS_OK && !joining->has_properties && !is_window(reader))
        status = joining_copy(joining, reader);
    const char *end = step_reader_property(reader, "end");
    if (status == STEP_STATUS_OK && is_last(joining) && end != NULL)
        status = step_writer_property(joining->writer, "end", end);
    if (!is_first(joining))
        step_reader_destroy(reader);
    return status;
}

static enum step_status joining_note(struct joining *joining, const char *key, const char *format,
                                     ...) __attribute__((format(printf, 3, 4)));

static enum step_status joining_note(struct joining *joining, const char *key, const char *format,
                                     ...)
{
    char text[GAPS_ROOM];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return step_writer_property(joining->writer, key, text);
}

static enum step_status put_properties(struct joining *joining)
{
    const struct rotated_file *files = joining->files.items;
    uint64_t resolution_ns = trace_number(step_reader_property(joining->first, "resolution-ns"), 1);
    enum step_status status = STEP_STATUS_OK;
    joining_note(joining, "file-numbers", "%" PRIu64 " to %" PRIu64, files[0].number,
                 files[joining->files.count - 1].number);
    joining_note(joining, "file-set-pauses-ns", "%" PRIu64, joining->pauses_ticks * resolution_ns);
    joining_note(joining, "file-set-span-ns", "%" PRIu64,
                 (joining->end_ticks - joining->begin_ticks) * resolution_ns);
    if (joining->window.count > 0)
        joining_note(joining, "file-set-windows", "%" PRIu64, joining->window.count);
    if (joining->repeats != UINT64_MAX)
        joining_note(joining, "sample-repeats", "%" PRIu64, joining->repeats);
    return joining->gaps[0] == '\0' ? status
                                    : joining_note(joining, TRACE_FILES_GAPS, "%s", joining->gaps);
}

/* Files that keep= has removed are reported; they are no damage. */
static void report_removed(const struct joining *joining, const char *path)
{
    const struct rotated_files *files = &joining->files;
    uint64_t first = files->items[0].number, last = files->items[files->count - 1].number;
    if (first > 1)
        report_line("%s: files %" PRIu64 " to %" PRIu64
                    "; earlier files were removed, and their objects are missing (%" PRIu64
                    " of them died later)",
                    path, first, last, joining->unknown_deaths);
    if (joining->window.survivors > 0)
        report_line("%s: %" PRIu64 " objects of exact windows outlived them: they count as "
                    "allocated, neither as dead nor as alive",
                    path, joining->window.survivors);
}

/* ---- all files ---- */

static enum step_status copy_files(struct joining *joining, struct step_error *error)
{
    enum step_status status = step_reader_open(path_of(joining), &joining->first, error);
    if (status == STEP_STATUS_OK)
        status = joining_begin(joining, error);
    for (; status == STEP_STATUS_OK && joining->at < joining->files.count; joining->at++)
        status = copy_file(joining, error);
    if (status == STEP_STATUS_OK && !joining->has_properties)
        status = step_error_set(error, STEP_STATUS_CORRUPT, joining->files.items[0].path,
                                STEP_NO_OFFSET, "no file of its recording has samples");
    if (status == STEP_STATUS_OK) {
        const struct rotated_files *files = &joining->files;
        note_missing(joining, files->items[files->count - 1].number + 1, files->last);
        if (joining->others_left)
            add_gap(joining, "files of another recording were left out");
        status = put_properties(joining);
    }
    if (status == STEP_STATUS_OK)
        status = step_writer_close(joining->writer, error);
    if (status != STEP_STATUS_OK && error->status == STEP_STATUS_OK)
        step_error_set(error, status, joining->files.items[0].path, STEP_NO_OFFSET,
                       "its files cannot be joined: %s", step_status_text(status));
    return status;
}

static void joining_reset(struct joining *joining)
{
    joined_entries_reset(&joining->entries);
    joined_window_reset(&joining->window);
    step_writer_destroy(joining->writer);
    step_reader_destroy(joining->first);
    free(joining->files.items);
    free(joining->time_slots);
    free(joining->ranges);
}

enum step_status file_joining_run(const struct rotated_files *files, const char *path, int *spool,
                                  uint64_t *bytes, struct step_error *error)
{
    struct joining joining = {.repeats = UINT64_MAX, .spool = -1};
    enum step_status status = take_files(&joining, files, error);
    if (status == STEP_STATUS_OK)
        status = copy_files(&joining, error);
    if (status == STEP_STATUS_OK)
        report_removed(&joining, path);
    else if (joining.spool >= 0)
        close(joining.spool);
    *spool = joining.spool;
    *bytes = status == STEP_STATUS_OK ? (uint64_t) lseek(joining.spool, 0, SEEK_CUR) : 0;
    joining_reset(&joining);
    return status;
}
