/* SPDX-License-Identifier: Apache-2.0 */
/* Reads records of HATF files, binary and text, and of standard input as a stream. */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/formats/hatf/hatf_format.h"
#include "format/core/step_no_memory.h"
#include "steptrace/packed.h"

struct hatf_alloc_source {
    struct alloc_source base;
    struct hatf_reader *binary; /* exactly one of the two is set */
    struct hatf_text_reader *text;
    struct step_packed_input *packed; /* for standard input; else NULL */
    int descriptor;
    bool gives_metadata, has_begun;
};

/* A recorder begins with a note (HATF_METADATA): a file without any record is of one that died
 * before, or was cut, and no trace of nothing. */
static enum step_status check_begin(struct hatf_alloc_source *source, enum step_status status,
                                    struct step_error *error)
{
    if (status == STEP_STATUS_END && !source->has_begun)
        return step_error_set(error, STEP_STATUS_CORRUPT, source->base.path, 0,
                              "the file is empty");
    source->has_begun = true;
    return status;
}

static enum step_status hatf_source_next(struct alloc_source *base, struct hatf_record *record,
                                         struct step_error *error)
{
    struct hatf_alloc_source *source = (struct hatf_alloc_source *) base;
    enum step_status status;
    if (source->text != NULL) {
        status = check_begin(source, hatf_text_reader_next(source->text, record, error), error);
        base->offset = hatf_text_reader_offset(source->text);
        return status;
    }
    for (;; base->number++) {
        base->offset = hatf_reader_offset(source->binary);
        status = check_begin(source, hatf_reader_next(source->binary, record, error), error);
        if (status != STEP_STATUS_OK || record->tag != HATF_METADATA || source->gives_metadata)
            return status;
    }
}

static double hatf_source_progress(struct alloc_source *base)
{
    const struct hatf_alloc_source *source = (const struct hatf_alloc_source *) base;
    return source->text != NULL ? hatf_text_reader_progress(source->text)
                                : hatf_reader_progress(source->binary);
}

static void hatf_source_destroy(struct alloc_source *base)
{
    struct hatf_alloc_source *source = (struct hatf_alloc_source *) base;
    hatf_reader_destroy(source->binary);
    hatf_text_reader_destroy(source->text);
    step_packed_input_close(source->packed);
    free(source);
}

static const struct alloc_source_operations operations = {
    .next = hatf_source_next,
    .progress = hatf_source_progress,
    .destroy = hatf_source_destroy,
};

static struct hatf_alloc_source *new_source(const char *path, bool is_text,
                                            const struct event_selection *selected,
                                            struct step_error *error)
{
    struct hatf_alloc_source *source = calloc(1, sizeof *source);
    if (source == NULL) {
        step_no_memory(error, path);
        return NULL;
    }
    source->base.operations = &operations;
    source->base.path = path;
    source->base.about.format = is_text ? "hatf.txt" : "hatf";
    source->gives_metadata = selected->metadata;
    return source;
}

enum step_status hatf_source_create(const char *path, const struct event_selection *selected,
                                    struct opened_trace *out, struct step_error *error)
{
    bool is_text = out->format == &format_hatf_txt;
    struct hatf_alloc_source *source = new_source(path, is_text, selected, error);
    if (source == NULL)
        return STEP_STATUS_NO_MEMORY;
    struct stat facts;
    if (stat(path, &facts) == 0 && S_ISREG(facts.st_mode))
        source->base.about.file_bytes = (uint64_t) facts.st_size;
    enum step_status status = is_text ? hatf_text_reader_open(path, &source->text, error)
                                      : hatf_reader_open(path, &source->binary, error);
    if (status == STEP_STATUS_OK)
        out->allocs = &source->base;
    else
        hatf_source_destroy(&source->base);
    return status;
}

/* ---- standard input ---- */

static bool would_wait(int descriptor)
{
    struct pollfd waiting = {.fd = descriptor, .events = POLLIN};
    return poll(&waiting, 1, 0) == 0;
}

static enum step_status read_stream(void *user, void *buffer, size_t size, size_t *got,
                                    struct step_error *error)
{
    struct hatf_alloc_source *source = user;
    if (source->base.before_wait != NULL && would_wait(source->descriptor))
        source->base.before_wait(source->base.before_wait_user);
    return step_packed_input_read(source->packed, buffer, size, got, error);
}

static enum step_status open_stream(struct hatf_alloc_source *source,
                                    const struct standard_input *start, bool is_text,
                                    struct step_error *error)
{
    const struct hatf_input input = {source, read_stream};
    source->descriptor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    enum step_status status =
        step_packed_input_open_descriptor(source->descriptor, STANDARD_INPUT_NAME, start->start,
                                          start->length, &source->packed, error);
    if (status != STEP_STATUS_OK)
        return status;
    return is_text ? hatf_text_reader_create(&input, STANDARD_INPUT_NAME, &source->text, error)
                   : hatf_reader_create(&input, STANDARD_INPUT_NAME, &source->binary, error);
}

enum step_status hatf_stream_create(const struct standard_input *start,
                                    const struct event_selection *selected,
                                    struct opened_trace *out, struct step_error *error)
{
    bool is_text = out->format == &format_hatf_txt;
    struct hatf_alloc_source *source = new_source(STANDARD_INPUT_NAME, is_text, selected, error);
    if (source == NULL)
        return STEP_STATUS_NO_MEMORY;
    enum step_status status = open_stream(source, start, is_text, error);
    if (status == STEP_STATUS_OK)
        out->allocs = &source->base;
    else
        hatf_source_destroy(&source->base);
    return status;
}
