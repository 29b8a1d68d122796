/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the text of a trace to the single entry of a ZIP file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/bytes.h"
#include "format/core/grow.h"
#include "format/core/step_no_memory.h"
#include "format/io/output_behind.h"
#include "format/io/zip_file.h"
#include "steptrace/text.h"

#define LEVEL 6

/* Offsets in the header of the file's only entry. */
#define SIZES_AT 18u                                /* the sizes in 32 bits */
#define EXTRA_AT (30u + (unsigned) sizeof NAME - 1) /* the ZIP64 field: id, length, sizes */
#define ZIP64_FIELD_BYTES 20u

#define NAME "trace"

struct step_text_writer {
    char name[256];
    char remark[256]; /* "": none */
    struct zip_file file;
    zipFile zip;
    char *line; /* room for an event's line; grows */
    size_t line_space;
    struct step_output_behind *behind; /* compresses */
    uint64_t packed;                   /* bytes of text */
    enum step_status status;
    struct step_error error;
};

static enum step_status text_writer_fail(struct step_text_writer *writer, enum step_status status,
                                         const char *message)
{
    if (writer->status == STEP_STATUS_OK)
        writer->status =
            step_error_set(&writer->error, status, writer->name, STEP_NO_OFFSET, "%s", message);
    return writer->status;
}

static const char *reason(const struct step_text_writer *writer)
{
    return writer->file.error != 0 ? strerror(writer->file.error) : "cannot write the ZIP file";
}

static enum step_status fail_output(struct step_text_writer *writer)
{
    return text_writer_fail(writer, STEP_STATUS_IO, reason(writer));
}

/* Called by one thread at a time: that of `behind`, or at the end the caller's. */
static enum step_status text_writer_pack(void *user, const void *data, size_t length,
                                         struct step_error *error)
{
    struct step_text_writer *writer = user;
    if (zipWriteInFileInZip(writer->zip, data, (unsigned) length) != ZIP_OK ||
        writer->file.error != 0)
        return step_error_set(error, STEP_STATUS_IO, writer->name, STEP_NO_OFFSET, "%s",
                              reason(writer));
    writer->packed += length;
    return STEP_STATUS_OK;
}

enum step_status step_text_writer_create(const char *path, struct step_text_writer **out,
                                         struct step_error *error)
{
    *out = NULL;
    struct step_text_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return step_no_memory(error, path);
    memcpy(writer->name, path, strnlen(path, sizeof writer->name - 1));
    writer->behind = step_output_behind_create(&(struct step_output){writer, text_writer_pack});
    if (writer->behind == NULL) {
        step_text_writer_destroy(writer);
        return step_no_memory(error, path);
    }
    if (zip_file_open(&writer->file, path, "wb"))
        writer->zip = zip_file_start(&writer->file, writer->name);
    if (writer->zip != NULL && zip_file_add(writer->zip, NAME, LEVEL, false)) {
        *out = writer;
        return STEP_STATUS_OK;
    }
    enum step_status status = fail_output(writer);
    if (error != NULL)
        *error = writer->error;
    step_text_writer_destroy(writer);
    return status;
}

/* Keeps the first failure. */
static enum step_status text_writer_keep(struct step_text_writer *writer, enum step_status status,
                                         const struct step_error *error)
{
    if (status != STEP_STATUS_OK && writer->status == STEP_STATUS_OK) {
        writer->status = status;
        writer->error = *error;
    }
    return writer->status;
}

enum step_status step_text_writer_put_line(struct step_text_writer *writer, const void *line,
                                           size_t length)
{
    struct step_error error;
    if (writer->status != STEP_STATUS_OK)
        return writer->status;
    return text_writer_keep(writer, step_output_behind_write(writer->behind, line, length, &error),
                            &error);
}

enum step_status step_text_writer_put(struct step_text_writer *writer,
                                      const struct step_text_event *event)
{
    if (writer->status != STEP_STATUS_OK)
        return writer->status;
    size_t class_length = event->class_name.length;
    size_t method_length = event->method_name.length;
    if ((unsigned) event->kind >= STEP_TEXT_KIND_COUNT || class_length > STEP_TEXT_LINE_MAX ||
        method_length > STEP_TEXT_LINE_MAX)
        return text_writer_fail(writer, STEP_STATUS_INVALID, "an event that has no line");
    if (!STEP_MAKE_ROOM(writer->line, writer->line_space,
                        STEP_TEXT_LINE_SPACE(STEP_TEXT_ESCAPED_MAX(class_length),
                                             STEP_TEXT_ESCAPED_MAX(method_length))))
        return text_writer_fail(writer, STEP_STATUS_NO_MEMORY, "out of memory");
    size_t length = step_text_format(event, writer->line);
    if (length == 0)
        return text_writer_fail(writer, STEP_STATUS_INVALID, "a name that is empty or not UTF-8");
    return step_text_writer_put_line(writer, writer->line, length);
}

/* minizip leaves the ZIP64 field of the entry's header zero if 32 bits suffice for the sizes.  We
 * always store the sizes there, so that readers see only one form.  The file now ends with the
 * compressed data. */
static bool fill_zip64_field(struct step_text_writer *writer)
{
    uint8_t sizes[16];
    uint64_t data_at = EXTRA_AT + ZIP64_FIELD_BYTES;
    uint64_t end = zip_file_size(&writer->file);
    if (end < data_at)
        return false;
    step_store_u64(sizes, writer->packed);
    step_store_u64(sizes + 8, end - data_at);
    return zip_file_write_at(&writer->file, SIZES_AT, "\xff\xff\xff\xff\xff\xff\xff\xff", 8) &&
           zip_file_write_at(&writer->file, EXTRA_AT + 4, sizes, sizeof sizes) &&
           zip_file_size(&writer->file) == end;
}

void step_text_writer_set_remark(struct step_text_writer *writer, const char *remark)
{
    snprintf(writer->remark, sizeof writer->remark, "%s", remark);
}

enum step_status step_text_writer_close(struct step_text_writer *writer, struct step_error *error)
{
    struct step_error last;
    text_writer_keep(writer, step_output_behind_finish(writer->behind, &last), &last);
    if (writer->zip != NULL) {
        bool entry = zipCloseFileInZip(writer->zip) == ZIP_OK && fill_zip64_field(writer);
        const char *remark = writer->remark[0] != '\0' ? writer->remark : NULL;
        bool directory = zipClose(writer->zip, remark) == ZIP_OK;
        writer->zip = NULL;
        if (!entry || !directory)
            fail_output(writer);
    }
    if (!zip_file_close(&writer->file))
        fail_output(writer);
    if (writer->status != STEP_STATUS_OK && error != NULL)
        *error = writer->error;
    return writer->status;
}

void step_text_writer_destroy(struct step_text_writer *writer)
{
    if (writer == NULL)
        return;
    step_output_behind_destroy(writer->behind);
    if (writer->zip != NULL)
        zipClose(writer->zip, NULL);
    zip_file_close(&writer->file);
    free(writer->line);
    free(writer);
}
