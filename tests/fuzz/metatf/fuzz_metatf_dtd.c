/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a DTD.  One that is taken drives a writer and a reader: what is written with it is
 * read as what it was. */
#include <stdlib.h>
#include <string.h>

#include "steptrace/metatf.h"
#include "tests/fuzz/kept_output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum step_status read_at(void *user, uint64_t offset, void *buffer, size_t size,
                                struct step_error *error)
{
    const struct kept_output *bytes = user;
    (void) error;
    if (offset > bytes->length || size > bytes->length - offset)
        abort();
    memcpy(buffer, bytes->data + offset, size);
    return STEP_STATUS_OK;
}

/* Zeros, but for what the DTD prescribes; nothing is repeated.  Records that zeros do not do for
 * are left out.  Returns how many were written. */
static size_t put_all(struct metatf_writer *writer, const struct metatf_dtd *dtd)
{
    static const uint8_t zeros[64];
    static struct metatf_value values[METATF_FIELD_LIMIT];
    size_t written = 0;
    for (uint32_t s = 0; s < dtd->section_count; s++)
        for (uint32_t r = 0; r < dtd->sections[s].record_count; r++) {
            const struct metatf_record *record = &dtd->sections[s].records[r];
            size_t count = 0;
            for (uint32_t f = 0; f < record->field_count; f += 1 + record->fields[f].repeat) {
                const struct metatf_field *field = &record->fields[f];
                values[count] =
                    (struct metatf_value){.number = field->has_value ? field->value : 0};
                if (field->kind == METATF_BYTES && field->width <= sizeof zeros)
                    values[count].bytes = (struct step_bytes){zeros, field->width};
                count++;
            }
            written += record->role != METATF_METADATA && record->role != METATF_SECTION &&
                       metatf_writer_put(writer, s, r, values, count, NULL, NULL) == STEP_STATUS_OK;
        }
    return written;
}

static void check(const struct metatf_dtd *dtd)
{
    struct kept_output bytes = {NULL, 0};
    struct metatf_writer_options options;
    struct metatf_writer *writer;
    struct metatf_file *file;
    struct metatf_reader *reader;
    struct metatf_event event;
    size_t read = 0;
    metatf_writer_options_init(&options);
    options.dtd = dtd;
    options.output = kept_output_of(&bytes);
    if (metatf_writer_create(&options, &writer, NULL) != STEP_STATUS_OK)
        abort();
    size_t written = put_all(writer, dtd);
    if (metatf_writer_close(writer, NULL) != STEP_STATUS_OK)
        abort();
    metatf_writer_destroy(writer);
    const struct metatf_input input = {&bytes, bytes.length, read_at};
    if (metatf_file_open(&input, "fuzz", &file, NULL) != STEP_STATUS_OK ||
        metatf_reader_create(file, dtd, &reader, NULL) != STEP_STATUS_OK)
        abort();
    enum step_status status;
    while ((status = metatf_reader_next(reader, &event, NULL)) == STEP_STATUS_OK)
        read += event.record->role == METATF_DATA || event.record->role == METATF_COMMENT;
    if (status != STEP_STATUS_END || read != written)
        abort();
    metatf_reader_destroy(reader);
    metatf_file_close(file);
    free(bytes.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct metatf_dtd *dtd;
    struct step_error error = {.status = STEP_STATUS_OK};
    if (metatf_dtd_parse((const char *) data, size, "fuzz", NULL, NULL, &dtd, &error) ==
        STEP_STATUS_OK)
        check(dtd);
    else if (error.status == STEP_STATUS_OK || error.message[0] == '\0')
        abort();
    metatf_dtd_destroy(dtd);
    return 0;
}
