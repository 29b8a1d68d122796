/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a Meta-TF file and finds its DTD. */
#include "converter/formats/metatf/metatf_trace.h"
#include "format/core/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "steptrace/hatf_metatf.h"
#include "steptrace/hatf_split_metatf.h"
#include "steptrace/java_metatf.h"

#define DTD_LIMIT ((size_t) 1 << 20)

static enum step_status mtf_trace_read_file(void *user, uint64_t offset, void *buffer, size_t size,
                                            struct step_error *error)
{
    const struct metatf_trace *trace = user;
    uint8_t *at = buffer;
    while (size > 0) {
        ssize_t got = pread(trace->descriptor, at, size, (off_t) offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return step_error_set(error, STEP_STATUS_IO, trace->path, offset, "cannot read: %s",
                                  strerror(errno));
        if (got == 0)
            return step_error_set(error, STEP_STATUS_CUT, trace->path, offset,
                                  "the file ends too early");
        at += got;
        offset += (uint64_t) got;
        size -= (size_t) got;
    }
    return STEP_STATUS_OK;
}

/* Closes the file, which may be NULL. */
static enum step_status read_dtd(struct metatf_trace *trace, FILE *file, const char *path,
                                 struct step_error *error)
{
    char *text = file != NULL ? malloc(DTD_LIMIT + 1) : NULL;
    size_t length = text != NULL ? fread(text, 1, DTD_LIMIT + 1, file) : 0;
    enum step_status status;
    if (text == NULL || ferror(file))
        status = step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET, "cannot read: %s",
                                strerror(errno));
    else
        status = metatf_dtd_parse(text, length, path, NULL, NULL, &trace->dtd, error);
    if (file != NULL)
        fclose(file);
    free(text);
    return status;
}

/* StepTrace's own DTDs are built in, so they need not be beside the trace. */
static const struct metatf_dtd *find_own_dtd(const char *name)
{
    return strcmp(name, METATF_JAVA_DTD) == 0         ? &step_java_metatf_dtd
           : strcmp(name, METATF_HATF_DTD) == 0       ? &step_hatf_metatf_dtd
           : strcmp(name, METATF_HATF_SPLIT_DTD) == 0 ? &step_hatf_split_metatf_dtd
                                                      : NULL;
}

/* The last component of the DTD's URL, in the trace's directory. */
static enum step_status find_dtd(struct metatf_trace *trace, struct step_error *error)
{
    const char *url = metatf_file_about(trace->file)->dtd_name;
    const char *slash = strrchr(url, '/');
    const char *name = slash != NULL ? slash + 1 : url;
    const char *directory_end = strrchr(trace->path, '/');
    char path[4096];
    int length = snprintf(path, sizeof path, "%.*s%s",
                          directory_end != NULL ? (int) (directory_end + 1 - trace->path) : 0,
                          trace->path, name);
    bool is_name = name[0] != '\0' && name[0] != '.' && length > 0 && (size_t) length < sizeof path;
    /* the trace contains this name: what is no regular file there is not opened */
    FILE *file = is_name ? input_file_stream(path, INPUT_REGULAR) : NULL;
    const struct metatf_dtd *own = file != NULL ? NULL : find_own_dtd(name);
    if (own != NULL)
        return metatf_dtd_parse(own->text, own->text_length, name, NULL, NULL, &trace->dtd, error);
    if (file == NULL)
        return step_error_set(error, STEP_STATUS_NOT_FOUND, trace->path, STEP_NO_OFFSET,
                              "its DTD '%.200s' is not in the file, nor beside it; --dtd=FILE "
                              "names it",
                              url);
    return read_dtd(trace, file, path, error);
}

enum step_status metatf_trace_open(struct metatf_trace *trace, const char *path,
                                   const char *dtd_path, struct step_error *error)
{
    struct stat facts;
    *trace = (struct metatf_trace){.path = path};
    trace->descriptor = input_file_open(path, INPUT_STREAM, &facts);
    if (trace->descriptor < 0)
        return step_error_set(error, errno == ENOENT ? STEP_STATUS_NOT_FOUND : STEP_STATUS_IO, path,
                              STEP_NO_OFFSET, "cannot open: %s", strerror(errno));
    trace->file_bytes = (uint64_t) facts.st_size;
    const struct metatf_input input = {trace, trace->file_bytes, mtf_trace_read_file};
    enum step_status status = metatf_file_open(&input, path, &trace->file, error);
    if (status != STEP_STATUS_OK)
        return status;
    const struct metatf_file_about *about = metatf_file_about(trace->file);
    if (dtd_path != NULL)
        status = read_dtd(trace, input_file_stream(dtd_path, INPUT_STREAM), dtd_path, error);
    else if (about->dtd_text != NULL)
        status = metatf_dtd_parse(about->dtd_text, about->dtd_length, path, NULL, NULL, &trace->dtd,
                                  error);
    else
        status = find_dtd(trace, error);
    if (status == STEP_STATUS_INVALID) {
        step_error_prefix(error, "DTD");
        status = error->status = STEP_STATUS_CORRUPT;
    }
    if (status == STEP_STATUS_OK)
        status = metatf_reader_create(trace->file, trace->dtd, &trace->reader, error);
    return status;
}

void metatf_trace_reset(struct metatf_trace *trace)
{
    metatf_reader_destroy(trace->reader);
    metatf_dtd_destroy(trace->dtd);
    metatf_file_close(trace->file);
    if (trace->descriptor >= 0)
        close(trace->descriptor);
    trace->descriptor = -1;
}

double metatf_trace_progress(const struct metatf_trace *trace)
{
    return trace->file_bytes == 0
               ? 1.0
               : (double) metatf_reader_offset(trace->reader) / (double) trace->file_bytes;
}
