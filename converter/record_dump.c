/* SPDX-License-Identifier: Apache-2.0 */
/* Selecting, slicing, printing. */
#include "record_dump.h"
#include "tell.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input.h"
#include "record_text.h"
#include "steptrace/records.h"

enum { MOST_NAMES = 256, MOST_DAMAGE_TOLD = 20 };

/* Where a record's time and thread stand, or STEP_NO_PROPERTY_SLOT. */
struct slice_slots {
    size_t time, thread;
};

struct dumping {
    const struct record_dump *dump;
    struct step_reader *reader;
    const struct step_definition *definition;
    struct step_selection *selection;
    struct record_text *text;
    struct slice_slots *slots; /* of each record */
    uint64_t resolution_ns;
    int spool;
};

static bool is_in_slice(const struct dumping *dumping, const struct step_record_view *view)
{
    const struct trace_wish *wish = dumping->dump->wish;
    const struct slice_slots *slots = &dumping->slots[view->record];
    uint64_t ns = 0;
    if (slots->time != STEP_NO_PROPERTY_SLOT &&
        __builtin_mul_overflow(view->slots[slots->time], dumping->resolution_ns, &ns))
        ns = UINT64_MAX;
    if (slots->time != STEP_NO_PROPERTY_SLOT && (ns < wish->from_ns || ns > wish->to_ns))
        return false;
    return !wish->has_thread ||
           (slots->thread != STEP_NO_PROPERTY_SLOT && view->slots[slots->thread] == wish->thread);
}

/* "a,b" to a selection. */
static enum step_status select_records(struct dumping *dumping, struct step_error *error)
{
    const char *names[MOST_NAMES];
    size_t count = 0;
    char *copy = strdup(dumping->dump->names != NULL ? dumping->dump->names : "");
    if (copy == NULL)
        return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, "out of memory");
    char *rest = NULL;
    for (char *at = strtok_r(copy, ",", &rest); at != NULL; at = strtok_r(NULL, ",", &rest))
        if (count < MOST_NAMES)
            names[count++] = at;
    enum step_status status = step_selection_create(
        dumping->definition, names, count, dumping->dump->maps, &dumping->selection, error);
    free(copy);
    return status;
}

static enum step_status prepare(struct dumping *dumping, struct step_error *error)
{
    const struct step_definition *definition = step_reader_borrow_definition(dumping->reader);
    const char *resolution = step_reader_property(dumping->reader, "resolution-ns");
    dumping->definition = definition;
    dumping->resolution_ns = resolution != NULL ? strtoull(resolution, NULL, 10) : 1;
    dumping->resolution_ns += dumping->resolution_ns == 0;
    dumping->slots = calloc(definition->record_count + 1, sizeof *dumping->slots);
    dumping->text = record_text_create(dumping->reader);
    if (dumping->slots == NULL || dumping->text == NULL)
        return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, "out of memory");
    for (uint32_t i = 0; i < definition->record_count; i++)
        dumping->slots[i] =
            (struct slice_slots){step_record_find_property(definition, i, "time"),
                                 step_record_find_property(definition, i, "thread")};
    return select_records(dumping, error);
}

static enum step_status put_records(struct dumping *dumping, struct step_error *error)
{
    struct step_records *records;
    struct step_record_view view;
    enum step_status status =
        step_records_create(dumping->reader, dumping->selection, &records, error);
    if (status != STEP_STATUS_OK)
        return status;
    while ((status = step_records_next(records, &view, error)) == STEP_STATUS_OK)
        if (is_in_slice(dumping, &view))
            record_text_put(dumping->text, view.record, view.slots, stdout);
    step_records_destroy(records);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

static void put_entries(const struct dumping *dumping)
{
    const uint8_t *wanted = step_selection_wanted(dumping->selection);
    for (uint32_t i = 0; i < dumping->definition->record_count; i++) {
        for (uint64_t id = 0;
             wanted[i] && (id = step_reader_dictionary_next(dumping->reader, i, id)) != 0;) {
            const uint64_t *entry = step_reader_dictionary_entry(dumping->reader, i, id);
            if (entry != NULL)
                record_text_put_entry(dumping->text, i, id, entry, stdout);
        }
    }
}

static enum step_status tell_damage(const struct step_reader *reader, const char *path)
{
    size_t count = step_reader_damage_count(reader);
    for (size_t i = 0; i < count && i < MOST_DAMAGE_TOLD; i++) {
        const struct step_damage *damage = step_reader_damage(reader, i);
        tell("%s: offset %" PRIu64 ": %s", path, damage->offset, damage->message);
    }
    if (count > MOST_DAMAGE_TOLD)
        tell("%s: and %zu more such places", path, count - MOST_DAMAGE_TOLD);
    if (count == 0 && !step_reader_is_whole(reader))
        tell("%s: the trace was not closed: its process %s", path,
             step_reader_is_running(reader) ? "still runs" : "was killed");
    return count > 0 || !step_reader_is_whole(reader) ? STEP_STATUS_CORRUPT : STEP_STATUS_OK;
}

static enum step_status open_reader(struct dumping *dumping, const char *path,
                                    struct step_error *error)
{
    char spooled[64];
    enum step_status status = STEP_STATUS_OK;
    dumping->spool = -1;
    if (strcmp(path, "-") == 0) {
        status = input_spool_stdin(&dumping->spool, error);
        snprintf(spooled, sizeof spooled, "/proc/self/fd/%d", dumping->spool);
        path = spooled;
    }
    if (status == STEP_STATUS_OK)
        status = step_reader_open(path, &dumping->reader, error);
    if (status == STEP_STATUS_OK || status == STEP_STATUS_NO_MEMORY || status == STEP_STATUS_IO ||
        status == STEP_STATUS_NOT_FOUND)
        return status;
    return error->status = STEP_STATUS_CORRUPT;
}

static void finish(struct dumping *dumping)
{
    step_selection_destroy(dumping->selection);
    record_text_destroy(dumping->text);
    step_reader_destroy(dumping->reader);
    free(dumping->slots);
    if (dumping->spool >= 0)
        close(dumping->spool);
}

enum step_status record_dump(const char *path, const struct record_dump *dump)
{
    struct dumping dumping = {.dump = dump};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = open_reader(&dumping, path, &error);
    if (status == STEP_STATUS_OK) {
        status = prepare(&dumping, &error);
        if (status == STEP_STATUS_NOT_FOUND) /* the fault is the name that was asked for */
            status = error.status = STEP_STATUS_INVALID;
    }
    if (status == STEP_STATUS_OK && dump->entries)
        put_entries(&dumping);
    else if (status == STEP_STATUS_OK)
        status = put_records(&dumping, &error);
    if (status == STEP_STATUS_OK)
        status = tell_damage(dumping.reader, path);
    else
        tell_error(&error);
    finish(&dumping);
    return status;
}

enum step_status record_dump_definition(const char *path)
{
    struct dumping dumping = {.dump = NULL};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = open_reader(&dumping, path, &error);
    if (status == STEP_STATUS_OK) {
        const struct step_definition *definition = step_reader_borrow_definition(dumping.reader);
        print_shown_lines(definition->text, stdout);
        if (definition->text_length > 0 && definition->text[definition->text_length - 1] != '\n')
            putchar('\n');
    } else {
        tell_error(&error);
    }
    finish(&dumping);
    return status;
}
