/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an HTML page. */
#include "converter/report/page_file.h"

#include <stdlib.h>

#include "converter/base/no_memory.h"
#include "converter/base/output_file.h"
#include "converter/report/report_page.h"

static bool put_data(const void *user, FILE *out)
{
    return compare_put_page_data(user, out);
}

enum step_status compare_page_write(const char *path, const struct compare_report *report,
                                    struct step_error *error)
{
    const struct page_parts parts = {
        .before = compare_page_parts_before,
        .before_bytes = compare_page_parts_before_bytes,
        .after = compare_page_parts_after,
        .after_bytes = compare_page_parts_after_bytes,
    };
    return page_file_write(path, &parts, put_data, report, error);
}

static enum step_status make_data(page_put_data put, const void *user, char **data, size_t *length,
                                  struct step_error *error)
{
    *data = NULL;
    FILE *stream = open_memstream(data, length);
    bool ok = stream != NULL && put(user, stream);
    if (stream != NULL && ferror(stream) != 0)
        ok = false;
    if (stream != NULL && fclose(stream) != 0)
        ok = false;
    return ok ? STEP_STATUS_OK : no_memory(error);
}

enum step_status page_file_write(const char *path, const struct page_parts *parts,
                                 page_put_data put, const void *user, struct step_error *error)
{
    struct output_file file;
    char *data;
    size_t length = 0;
    enum step_status status = make_data(put, user, &data, &length, error);
    if (status == STEP_STATUS_OK)
        status = output_file_open(&file, path, error);
    if (status != STEP_STATUS_OK) {
        free(data);
        return status;
    }
    status = output_file_write(&file, parts->before, parts->before_bytes, error);
    if (status == STEP_STATUS_OK)
        status = output_file_write(&file, data, length, error);
    if (status == STEP_STATUS_OK)
        status = output_file_write(&file, parts->after, parts->after_bytes, error);
    if (status == STEP_STATUS_OK)
        status = output_file_commit(&file, error);
    output_file_abort(&file);
    free(data);
    return status;
}
