/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, selects and writes records of Meta-TF traces. */
#include "converter/formats/metatf/metatf_records.h"

#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/containers/no_memory.h"
#include "converter/formats/metatf/metatf_format.h"
#include "converter/formats/metatf/metatf_trace.h"
#include "converter/output/output_file.h"
#include "converter/output/output_stream.h"

/* ---- reading ---- */

enum step_status metatf_reading_open(struct metatf_records_reading *reading, const char *path,
                                     const char *dtd_path)
{
    *reading = (struct metatf_records_reading){.error = {.offset = STEP_NO_OFFSET}};
    enum step_status status = seekable_path_open(&reading->seekable, path, &reading->error);
    reading->trace.descriptor = -1;
    if (status == STEP_STATUS_OK)
        status =
            metatf_trace_open(&reading->trace, reading->seekable.path, dtd_path, &reading->error);
    return status == STEP_STATUS_OK ? status : metatf_reading_report(reading, status);
}

enum step_status metatf_reading_next(struct metatf_records_reading *reading,
                                     struct metatf_event *event)
{
    return metatf_reader_next(reading->trace.reader, event, &reading->error);
}

enum step_status metatf_reading_report(struct metatf_records_reading *reading,
                                       enum step_status status)
{
    report_error(&reading->error);
    return status == STEP_STATUS_NO_MEMORY || status == STEP_STATUS_IO ||
                   status == STEP_STATUS_NOT_FOUND
               ? status
               : STEP_STATUS_CORRUPT;
}

void metatf_reading_close(struct metatf_records_reading *reading)
{
    metatf_trace_reset(&reading->trace);
    seekable_path_close(&reading->seekable);
}

/* ---- choosing ---- */

static bool is_named(const char *names, const struct metatf_section *section, const char *record)
{
    size_t prefix = strlen(section->name);
    for (const char *name = names; name != NULL;) {
        size_t length = strcspn(name, ",");
        bool is_record = strlen(record) == length && strncmp(name, record, length) == 0;
        bool is_both = length == prefix + 1 + strlen(record) && name[prefix] == '.' &&
                       strncmp(name, section->name, prefix) == 0 &&
                       strncmp(name + prefix + 1, record, strlen(record)) == 0;
        if (is_record || is_both)
            return true;
        name = name[length] == ',' ? name + length + 1 : NULL;
    }
    return false;
}

static bool mtf_records_is_wanted(const struct metatf_choice *choice,
                                  const struct metatf_event *event)
{
    switch (event->record->role) {
    case METATF_METADATA:
        return choice->metadata && choice->form == METATF_AS_LINES;
    case METATF_COMMENT:
        return choice->names == NULL && choice->form == METATF_AS_LINES;
    case METATF_SECTION:
        return false;
    case METATF_DATA:
        break;
    }
    return choice->names == NULL || is_named(choice->names, event->section, event->record->name);
}

/* Returns INVALID if a name matches no record. */
static enum step_status mtf_records_check_names(const struct metatf_choice *choice,
                                                const struct metatf_dtd *dtd,
                                                struct step_error *error)
{
    for (const char *name = choice->names; name != NULL;) {
        size_t length = strcspn(name, ",");
        char one[256];
        bool is_there = false;
        snprintf(one, sizeof one, "%.*s", (int) (length < 255 ? length : 255), name);
        for (uint32_t s = 0; s < dtd->section_count; s++)
            for (uint32_t r = 0; r < dtd->sections[s].record_count; r++)
                is_there = is_there ||
                           (dtd->sections[s].records[r].role == METATF_DATA &&
                            is_named(one, &dtd->sections[s], dtd->sections[s].records[r].name));
        if (!is_there)
            return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                                  "no record of the DTD is called %s", one);
        name = name[length] == ',' ? name + length + 1 : NULL;
    }
    return STEP_STATUS_OK;
}

/* ---- as text ---- */

static enum step_status mtf_records_put_events(struct metatf_records_reading *reading,
                                               const struct metatf_choice *choice,
                                               const struct metatf_columns *columns, FILE *out)
{
    struct metatf_event event;
    enum step_status status;
    while ((status = metatf_reading_next(reading, &event)) == STEP_STATUS_OK && !ferror(out)) {
        if (!mtf_records_is_wanted(choice, &event))
            continue;
        if (choice->form == METATF_AS_LINES)
            metatf_line_put(&event, out);
        else if (choice->form == METATF_AS_JSON_LINES)
            metatf_json_put(&event, out);
        else
            metatf_columns_put(columns, &event, out);
    }
    return status;
}

/* Also writes the part before a fault.  Returns END if everything was written. */
static enum step_status mtf_records_put_text(struct metatf_records_reading *reading,
                                             const struct metatf_choice *choice,
                                             struct output_file *file, struct step_error *error)
{
    const struct step_output output = output_file_as_output(file);
    struct metatf_columns columns = {.count = 0};
    struct output_stream stream;
    enum step_status status = output_stream_open(&stream, &output, STEP_PACKING_NONE, 0, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (choice->form == METATF_AS_CSV && !metatf_columns_init(&columns, reading->trace.dtd))
        status = no_memory(error);
    else if (choice->form == METATF_AS_CSV)
        metatf_columns_put_head(&columns, stream.file);
    if (status == STEP_STATUS_OK)
        status = mtf_records_put_events(reading, choice, &columns, stream.file);
    enum step_status closed = output_stream_close(&stream, error);
    output_stream_reset(&stream);
    metatf_columns_reset(&columns);
    return closed != STEP_STATUS_OK ? closed : status;
}

/* ---- as Meta-TF ---- */

static enum step_status copy_event(struct metatf_writer *writer, const struct metatf_dtd *dtd,
                                   const struct metatf_event *event, struct step_error *error)
{
    uint32_t section = (uint32_t) (event->section - dtd->sections);
    uint32_t record = (uint32_t) (event->record - event->section->records);
    switch (event->record->role) {
    case METATF_METADATA:
        return metatf_writer_put_metadata(writer, section, &event->metadata, error);
    case METATF_SECTION:
        return STEP_STATUS_OK;
    default:
        return metatf_writer_put(writer, section, record, event->values, event->value_count, NULL,
                                 error);
    }
}

#define ANY_SECTION UINT32_MAX

/* Returns true if a field of the DTD refers to section `number` with this interpretation. */
static bool goes_to(const struct metatf_dtd *dtd, uint8_t interpretation, uint32_t number)
{
    for (uint32_t s = 0; s < dtd->section_count; s++)
        for (uint32_t r = 0; r < dtd->sections[s].record_count; r++)
            for (uint32_t f = 1; f < dtd->sections[s].records[r].field_count; f++) {
                const struct metatf_field *field = &dtd->sections[s].records[r].fields[f];
                if (field->interpretation == interpretation &&
                    (number == ANY_SECTION || field->argument == number))
                    return true;
            }
    return false;
}

static bool strides_through_records(const struct metatf_dtd *dtd)
{
    for (uint32_t s = 1; s < dtd->section_count; s++)
        if (!dtd->sections[s].is_data &&
            goes_to(dtd, STEP_FIELD_SECTION_STRIDE, dtd->sections[s].number))
            return true;
    return false;
}

/* Returns why a copy would not be an equivalent trace, or NULL. */
static const char *copy_fault(const struct metatf_records_reading *reading,
                              const struct metatf_writer_options *how)
{
    const struct metatf_dtd *dtd = reading->trace.dtd;
    const struct metatf_file_about *about = metatf_file_about(reading->trace.file);
    bool is_one_run = about->layout == METATF_RECORDS || how->layout == METATF_RECORDS;
    if (strides_through_records(dtd))
        return "its fields stride through sections of records, which would be written twice";
    if (is_one_run && about->layout != how->layout &&
        goes_to(dtd, STEP_FIELD_SECTION_OFFSET, ANY_SECTION))
        return "its records are named by offsets, which would be others in that layout";
    return NULL;
}

/* Metadata are as wide as ints, so another width would move what follows them. */
static const char *metadata_fault(const struct metatf_records_reading *reading,
                                  const struct metatf_writer_options *how,
                                  const struct metatf_event *event)
{
    const struct metatf_file_about *about = metatf_file_about(reading->trace.file);
    const struct metatf_dtd *dtd = reading->trace.dtd;
    uint8_t interpretation = metatf_property_interpretation(event->metadata.property);
    bool keeps_ints = (about->wide && !about->short_ints) == (how->wide && !how->short_ints);
    if (event->record->role != METATF_METADATA)
        return NULL;
    if (event->metadata.property == METATF_PROPERTY_WIDTH)
        interpretation = STEP_FIELD_NONE;
    uint32_t section = metatf_dtd_section(dtd, (uint32_t) event->metadata.value);
    if (interpretation == STEP_FIELD_SECTION_STRIDE && section != UINT32_MAX &&
        !dtd->sections[section].is_data)
        return "its fields stride through sections of records, which would be written twice";
    if (!keeps_ints && (interpretation == STEP_FIELD_SECTION_OFFSET ||
                        goes_to(dtd, STEP_FIELD_SECTION_OFFSET, event->section->number)))
        return "its records are named by offsets, which would be others with ints of another size";
    return NULL;
}

/* The content of each section stays identical except for the width of metadata's values, so offsets
 * remain valid.  Therefore metadata are copied, and none are added. */
static enum step_status put_metatf(struct metatf_records_reading *reading,
                                   const struct metatf_choice *choice, struct output_file *file,
                                   struct step_error *error)
{
    const struct metatf_dtd *dtd = reading->trace.dtd;
    struct metatf_writer_options how;
    struct metatf_writer *writer;
    metatf_layout_options(&how, choice->settings);
    how.dtd = dtd;
    how.dtd_name = metatf_file_about(reading->trace.file)->dtd_name;
    how.output = output_file_as_output(file);
    how.adapt = false;
    const char *fault = copy_fault(reading, &how);
    if (fault != NULL)
        return step_error_set(error, STEP_STATUS_UNSUPPORTED, reading->trace.path, STEP_NO_OFFSET,
                              "%s", fault);
    enum step_status status = metatf_writer_create(&how, &writer, error);
    if (status != STEP_STATUS_OK)
        return status;
    struct metatf_event event;
    enum step_status put = STEP_STATUS_OK;
    while (put == STEP_STATUS_OK &&
           (status = metatf_reading_next(reading, &event)) == STEP_STATUS_OK) {
        fault = metadata_fault(reading, &how, &event);
        put = fault == NULL ? copy_event(writer, dtd, &event, error)
                            : step_error_set(error, STEP_STATUS_UNSUPPORTED, reading->trace.path,
                                             STEP_NO_OFFSET, "%s", fault);
    }
    if (put == STEP_STATUS_OK)
        put = metatf_writer_close(writer, error);
    metatf_writer_destroy(writer);
    return put != STEP_STATUS_OK ? put : status;
}

/* ---- output ---- */

static enum step_status write_output(struct metatf_records_reading *reading, const char *output,
                                     const struct metatf_choice *choice)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct output_file file;
    enum step_status status = mtf_records_check_names(choice, reading->trace.dtd, &error);
    if (status == STEP_STATUS_OK)
        status = output_file_open(&file, output, &error);
    if (status != STEP_STATUS_OK)
        return report_error(&error);
    status = choice->form == METATF_AS_METATF
                 ? put_metatf(reading, choice, &file, &error)
                 : mtf_records_put_text(reading, choice, &file, &error);
    bool is_read = status == STEP_STATUS_END;
    bool is_damaged = !is_read && error.status == STEP_STATUS_OK; /* an error of the reader */
    if (is_read || is_damaged)
        status = output_file_commit(&file, &error);
    output_file_abort(&file);
    if (error.status != STEP_STATUS_OK)
        return report_error(&error);
    return is_damaged ? metatf_reading_report(reading, reading->error.status) : status;
}

enum step_status metatf_records_put(const char *path, const char *output,
                                    const struct metatf_choice *choice)
{
    struct metatf_records_reading reading;
    enum step_status status = metatf_reading_open(&reading, path, choice->dtd_path);
    if (status == STEP_STATUS_OK)
        status = write_output(&reading, output, choice);
    metatf_reading_close(&reading);
    return status;
}
