/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a trace: reads its header, its definition, and then its blocks.
 *
 * Without a definition no block can be read, so it has three chances: the block after the file
 * header, its copy at the end, and a text that the caller provides.  The file header itself is
 * needed for nothing but the version: if it is damaged and a definition follows, the file is read
 * all the same, and the damage is noted.
 *
 * A later version of the format is refused at once, in contrast, even if a definition follows: the
 * bytes may have another meaning, and wrong records are worse than none.
 */
#include "steptrace/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/step_no_memory.h"
#include "format/step/read/reader_internal.h"

/* Sets the reader's definition from a text.  The plan is made here as well, since a text may be
 * good STEP-DL and still pass the limits of a plan.  Definition and plan are set together or not at
 * all, so that the next of the three chances finds nothing of the one before. */
static enum step_status take_definition(struct step_reader *reader, struct step_bytes text,
                                        struct step_error *error)
{
    enum step_status status =
        step_definition_parse((const char *) text.data, text.length, "definition", NULL, NULL,
                              &reader->definition, error);
    if (status == STEP_STATUS_OK)
        status = step_plan_create(reader->definition, &reader->plan, error);
    if (status == STEP_STATUS_OK)
        return status;
    step_definition_destroy(reader->definition);
    reader->definition = NULL;
    return status;
}

/* Parses the definition in a block.  Whatever is wrong with the text is damage of the file, since
 * no writer makes such a definition; lack of memory is not. */
static enum step_status parse_definition(struct step_reader *reader, uint64_t offset,
                                         const struct step_block_header *header,
                                         struct step_error *error)
{
    struct step_payload payload;
    enum step_status status =
        step_reader_payload(reader, &reader->file, offset, header, &payload, error);
    reader->bytes.length = 0;
    if (status == STEP_STATUS_OK)
        status = step_block_decode_bytes(&reader->blocks, &payload, STEP_MAX_DEFINITION_BYTES,
                                         &reader->bytes, error);
    if (status == STEP_STATUS_OK)
        status = take_definition(
            reader, (struct step_bytes){reader->bytes.data, reader->bytes.length}, error);
    if (status == STEP_STATUS_OK || status == STEP_STATUS_NO_MEMORY || status == STEP_STATUS_IO)
        return status;
    step_error_prefix(error, "the definition cannot be read");
    if (error != NULL) {
        error->status = STEP_STATUS_CORRUPT;
        snprintf(error->file, sizeof error->file, "%s", reader->name);
        error->offset = error->offset == STEP_NO_OFFSET ? offset : error->offset;
    }
    return STEP_STATUS_CORRUPT;
}

/* The block after the file header must be the definition. */
static enum step_status first_definition(struct step_reader *reader, struct step_error *error)
{
    const uint8_t *bytes;
    struct step_block_header header;
    enum step_status status =
        step_byte_source_read(&reader->file, STEP_FILE_HEADER_BYTES, STEP_BLOCK_HEADER_BYTES,
                              &reader->head, &bytes, error);
    if (status == STEP_STATUS_CUT)
        return step_error_set(error, STEP_STATUS_CORRUPT, reader->name, reader->file.size,
                              "the file is cut before its definition");
    if (status != STEP_STATUS_OK)
        return status;
    if (!step_block_header_unpack(bytes, &header) || header.kind != STEP_BLOCK_DEFINITION)
        return step_error_set(error, STEP_STATUS_CORRUPT, reader->name, STEP_FILE_HEADER_BYTES,
                              "the header of the definition is damaged");
    return parse_definition(reader, STEP_FILE_HEADER_BYTES, &header, error);
}

/* If it is damaged, its copy at the end of the file is used, or the caller's definition.  The
 * search begins one byte behind the place of the first, which may have a good header over damaged
 * contents and would be found again.  The caller's text comes last, since nothing says that it is
 * that of this file.  Only damage to the first leads to the others: a lack of memory must not pass
 * for a lost definition. */
static enum step_status load_definition(struct step_reader *reader, struct step_error *error)
{
    struct step_error local = {.offset = STEP_NO_OFFSET};
    struct step_block_header header;
    uint64_t offset = STEP_FILE_HEADER_BYTES + 1;
    enum step_status status = first_definition(reader, &local);
    if (status == STEP_STATUS_CORRUPT && step_reader_find_definition(reader, &offset, &header) &&
        parse_definition(reader, offset, &header, NULL) == STEP_STATUS_OK)
        return step_reader_note(reader, local.offset, 0, "%.100s; its copy is used", local.message);
    if (status == STEP_STATUS_CORRUPT && reader->given.data != NULL) {
        status = take_definition(reader, reader->given, error);
        return status == STEP_STATUS_OK
                   ? step_reader_note(reader, local.offset, 0,
                                      "%.80s; the one that was given is used", local.message)
                   : status;
    }
    if (status != STEP_STATUS_OK && error != NULL)
        *error = local;
    return status;
}

/* By the first bytes of what gzip, xz and zstd write. */
static bool is_compressed(const uint8_t *bytes, size_t length)
{
    static const char *const starts[] = {"\x1f\x8b", "\xfd\x37zXZ", "\x28\xb5\x2f\xfd"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (length >= strlen(starts[i]) && memcmp(bytes, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* A file with a damaged header is accepted if a definition follows. */
static enum step_status check_file_header(struct step_reader *reader, struct step_error *error)
{
    const struct step_byte_source *file = &reader->file;
    const uint8_t *bytes;
    uint64_t length = file->size < STEP_FILE_HEADER_BYTES + STEP_BLOCK_HEADER_BYTES
                          ? file->size
                          : STEP_FILE_HEADER_BYTES + STEP_BLOCK_HEADER_BYTES;
    enum step_status status = step_byte_source_read(file, 0, length, &reader->head, &bytes, error);
    if (status != STEP_STATUS_OK)
        return status;
    enum step_file_header_fault fault = step_file_header_check(bytes, (size_t) length);
    struct step_block_header header;
    bool followed = length == STEP_FILE_HEADER_BYTES + STEP_BLOCK_HEADER_BYTES &&
                    step_block_header_unpack(bytes + STEP_FILE_HEADER_BYTES, &header) &&
                    header.kind == STEP_BLOCK_DEFINITION;
    switch (fault) {
    case STEP_FILE_HEADER_GOOD:
        return STEP_STATUS_OK;
    case STEP_FILE_HEADER_VERSION:
        return step_error_set(error, STEP_STATUS_UNSUPPORTED, reader->name, 8,
                              "a trace of a later version of the format");
    case STEP_FILE_HEADER_FOREIGN:
    case STEP_FILE_HEADER_MANGLED:
        break;
    }
    if (followed)
        return step_reader_note(reader, 0, STEP_FILE_HEADER_BYTES, "the file header is damaged");
    if (fault == STEP_FILE_HEADER_FOREIGN)
        return step_error_set(error, STEP_STATUS_FORMAT, reader->name, 0,
                              length == 0 ? "the file is empty"
                              : is_compressed(bytes, (size_t) length)
                                  ? "a compressed file (gzip, xz, Zstandard): decompress it first"
                                  : "not a STEP trace");
    return step_error_set(error, STEP_STATUS_CORRUPT, reader->name, 0,
                          length < STEP_FILE_HEADER_BYTES
                              ? "the file is cut in its header"
                              : "the file header is damaged: was the file transferred as text?");
}

/* The plan comes after the definition, and blocks after the plan: dictionaries are decoded as they
 * are found.  Index and walk both begin with the first block, so they pass the definition once more
 * and note damage in it.  Tables of dictionaries are last, when the number of entries is known. */
enum step_status step_reader_read_file(struct step_reader *reader, struct step_error *error)
{
    enum step_status status = step_block_reader_init(&reader->blocks, NULL);
    if (status != STEP_STATUS_OK)
        return step_reader_no_memory(reader, error);
    step_arena_clear(&reader->counts, UINT64_MAX); /* bounded by a multiple of the file's size */
    status = check_file_header(reader, error);
    if (status == STEP_STATUS_OK)
        status = load_definition(reader, error);
    if (status != STEP_STATUS_OK)
        return status;
    reader->blocks.plan = reader->plan;
    reader->dictionaries = calloc(reader->definition->record_count, sizeof *reader->dictionaries);
    if (reader->dictionaries == NULL)
        return step_reader_no_memory(reader, error);
    if (step_reader_use_index(reader, &status, error))
        reader->whole = true;
    else
        status = step_reader_walk(reader, &reader->file, STEP_FILE_HEADER_BYTES, error);
    if (status == STEP_STATUS_OK)
        step_dictionary_finish(reader);
    return status;
}

enum step_status step_reader_create(const char *name, struct step_reader **out,
                                    struct step_error *error)
{
    struct step_reader *reader = calloc(1, sizeof *reader);
    *out = NULL;
    if (reader != NULL)
        reader->name = strdup(name);
    if (reader == NULL || reader->name == NULL) {
        free(reader);
        return step_no_memory(error, name);
    }
    reader->file.file = -1;
    reader->live.file = -1;
    *out = reader;
    return STEP_STATUS_OK;
}

/* Opens a source that is not a file, so there is no live file beside it. */
static enum step_status open_source(const struct step_byte_source *source, const char *name,
                                    struct step_reader **out, struct step_error *error)
{
    enum step_status status = step_reader_create(name, out, error);
    if (status != STEP_STATUS_OK)
        return status;
    (*out)->file = *source;
    (*out)->file.name = (*out)->name;
    status = step_reader_read_file(*out, error);
    if (status != STEP_STATUS_OK) {
        step_reader_destroy(*out);
        *out = NULL;
    }
    return status;
}

enum step_status step_reader_open_memory(const void *data, size_t length, const char *name,
                                         struct step_reader **out, struct step_error *error)
{
    static const uint8_t nothing[1] = {0};
    const struct step_byte_source source = {
        .file = -1, .memory = data != NULL ? data : nothing, .size = length};
    return open_source(&source, name, out, error);
}

enum step_status step_reader_open_input(const struct step_input *input, const char *name,
                                        struct step_reader **out, struct step_error *error)
{
    const struct step_byte_source source = {.file = -1, .input = *input, .size = input->size_bytes};
    return open_source(&source, name, out, error);
}
