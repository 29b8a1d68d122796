/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the records of a Meta-TF trace of any DTD. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/containers/no_memory.h"
#include "converter/formats/metatf/metatf_records.h"
#include "converter/formats/metatf/metatf_trace.h"
#include "converter/numbers/quantity.h"
#include "format/json/json_output.h"

struct counts {
    const struct metatf_dtd *dtd;
    uint64_t **records; /* by section and record of the DTD */
    uint64_t data, comments, metadata;
};

static void mtf_info_reset(struct counts *counts)
{
    for (uint32_t s = 0; counts->records != NULL && s < counts->dtd->section_count; s++)
        free(counts->records[s]);
    free(counts->records);
}

static bool init(struct counts *counts, const struct metatf_dtd *dtd)
{
    *counts = (struct counts){.dtd = dtd};
    counts->records = calloc(dtd->section_count, sizeof *counts->records);
    for (uint32_t s = 0; counts->records != NULL && s < dtd->section_count; s++) {
        counts->records[s] = calloc(dtd->sections[s].record_count + 1, sizeof(uint64_t));
        if (counts->records[s] == NULL)
            return false;
    }
    return counts->records != NULL;
}

static void mtf_info_count(struct counts *counts, const struct metatf_event *event)
{
    size_t section = (size_t) (event->section - counts->dtd->sections);
    counts->records[section][event->record - event->section->records]++;
    counts->data += event->record->role == METATF_DATA;
    counts->comments += event->record->role == METATF_COMMENT;
    counts->metadata += event->record->role == METATF_METADATA;
}

/* Returns END if everything could be read. */
static enum step_status count_all(struct counts *counts, struct metatf_records_reading *reading)
{
    struct metatf_event event;
    enum step_status status;
    while ((status = metatf_reading_next(reading, &event)) == STEP_STATUS_OK)
        mtf_info_count(counts, &event);
    return status;
}

static const char *layout_name(enum metatf_layout layout)
{
    static const char *const names[] = {
        [METATF_SEGMENTS] = "segments", [METATF_INDEX] = "index", [METATF_RECORDS] = "records"};
    return names[layout];
}

static void mtf_info_print_row(const char *label, uint64_t value)
{
    printf("%-14s %s\n", label, quantity_of_count(value).text);
}

static void mtf_info_print_text(const struct counts *counts,
                                const struct metatf_records_reading *reading, const char *shown,
                                const char *state)
{
    const struct metatf_file_about *about = metatf_file_about(reading->trace.file);
    uint64_t bytes = reading->trace.file_bytes;
    print_shown_label("trace", stdout);
    print_shown_text(shown, stdout);
    printf("\n%-14s mtf, %s bytes, %.3f a record\n", "format", quantity_of_count(bytes).text,
           counts->data > 0 ? (double) bytes / (double) counts->data : 0.0);
    printf("%-14s class %d, ints of %d bytes, %s-endian, %s\n", "layout", about->wide ? 2 : 1,
           about->wide && !about->short_ints ? 8 : 4, about->big_endian ? "big" : "little",
           layout_name(about->layout));
    printf("%-14s %s\n", "state", state);
    print_shown_label("DTD", stdout);
    print_shown_text(about->dtd_name, stdout);
    printf("%s\n", about->dtd_text != NULL ? " (in the file)" : "");
    mtf_info_print_row("records", counts->data);
    for (uint32_t s = 0; s < counts->dtd->section_count; s++)
        for (uint32_t r = 0; r < counts->dtd->sections[s].record_count; r++)
            if (counts->records[s][r] > 0 &&
                counts->dtd->sections[s].records[r].role == METATF_DATA) {
                printf("  %18s  ", quantity_of_count(counts->records[s][r]).text);
                metatf_name_put(&counts->dtd->sections[s], &counts->dtd->sections[s].records[r],
                                stdout);
                putchar('\n');
            }
    mtf_info_print_row("comments", counts->comments);
    mtf_info_print_row("metadata", counts->metadata);
}

static void mtf_info_print_json(const struct counts *counts,
                                const struct metatf_records_reading *reading, const char *shown,
                                const char *state)
{
    const struct metatf_file_about *about = metatf_file_about(reading->trace.file);
    struct json_output json;
    json_open(&json, stdout);
    json_text(&json, "trace", shown);
    json_text(&json, "format", "mtf");
    json_number(&json, "file_bytes", reading->trace.file_bytes);
    json_bool(&json, "whole", strcmp(state, "whole") == 0);
    json_text(&json, "state", state);
    json_text(&json, "dtd", about->dtd_name);
    json_bool(&json, "dtd_in_file", about->dtd_text != NULL);
    json_number(&json, "class", about->wide ? 2 : 1);
    json_number(&json, "int_bytes", about->wide && !about->short_ints ? 8 : 4);
    json_text(&json, "byte_order", about->big_endian ? "big" : "little");
    json_text(&json, "layout", layout_name(about->layout));
    json_number(&json, "records", counts->data);
    json_number(&json, "comments", counts->comments);
    json_number(&json, "metadata", counts->metadata);
    json_begin_array(&json, "types");
    for (uint32_t s = 0; s < counts->dtd->section_count; s++)
        for (uint32_t r = 0; r < counts->dtd->sections[s].record_count; r++)
            if (counts->records[s][r] > 0) {
                json_begin_object(&json, NULL);
                json_text(&json, "section", counts->dtd->sections[s].name);
                json_text(&json, "record", counts->dtd->sections[s].records[r].name);
                json_number(&json, "count", counts->records[s][r]);
                json_end_object(&json);
            }
    json_end_array(&json);
    json_close(&json);
}

static const char *state_of(const struct metatf_records_reading *reading, enum step_status status)
{
    return status == STEP_STATUS_END                        ? "whole"
           : !metatf_file_about(reading->trace.file)->whole ? "cut"
                                                            : "damaged";
}

static enum step_status mtf_info_run(const char *path, const char *shown, const char *dtd_path,
                                     void (*print)(const struct counts *counts,
                                                   const struct metatf_records_reading *reading,
                                                   const char *shown, const char *state))
{
    struct metatf_records_reading reading;
    struct counts counts = {.records = NULL};
    enum step_status status = metatf_reading_open(&reading, path, dtd_path);
    if (status == STEP_STATUS_OK && !init(&counts, reading.trace.dtd)) {
        status = metatf_reading_report(&reading, no_memory(&reading.error));
    } else if (status == STEP_STATUS_OK) {
        status = count_all(&counts, &reading);
        print(&counts, &reading, shown, state_of(&reading, status));
        status =
            status == STEP_STATUS_END ? STEP_STATUS_OK : metatf_reading_report(&reading, status);
    }
    mtf_info_reset(&counts);
    metatf_reading_close(&reading);
    return status;
}

enum step_status metatf_records_info(const char *path, const char *shown, const char *dtd_path,
                                     bool json)
{
    return mtf_info_run(path, shown, dtd_path, json ? mtf_info_print_json : mtf_info_print_text);
}

static void mtf_info_print_verdict(const struct counts *counts,
                                   const struct metatf_records_reading *reading, const char *shown,
                                   const char *state)
{
    bool is_whole = strcmp(state, "whole") == 0;
    (void) reading, (void) shown;
    printf("%" PRIu64 " records: %s\n", counts->data,
           is_whole ? "as the DTD, the header and the index say"
                    : "no breach in the part that could be read");
}

enum step_status metatf_records_check(const char *path, const char *dtd_path)
{
    return mtf_info_run(path, path, dtd_path, mtf_info_print_verdict);
}

enum step_status metatf_records_print_dtd(const char *path, const char *dtd_path)
{
    struct metatf_records_reading reading;
    enum step_status status = metatf_reading_open(&reading, path, dtd_path);
    if (status == STEP_STATUS_OK) {
        const struct metatf_dtd *dtd = reading.trace.dtd;
        print_shown_lines(dtd->text, stdout);
        if (dtd->text_length > 0 && dtd->text[dtd->text_length - 1] != '\n')
            putchar('\n');
    }
    metatf_reading_close(&reading);
    return status;
}
