/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the files that show verdicts, and what GitHub's runners look for. */
#include "converter/verdicts/review.h"

#include <stdlib.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/output/output_file.h"
#include "converter/verdicts/verdict.h"

/* Appends to the summary, which the runner has made and other steps have written to. */
static enum step_status append_summary(const struct verdict_list *list, struct step_error *error)
{
    const char *path = getenv("GITHUB_STEP_SUMMARY");
    char *text = NULL;
    size_t length = 0;
    if (path == NULL || *path == '\0')
        return STEP_STATUS_OK;
    FILE *stream = open_memstream(&text, &length);
    bool ok = stream != NULL && verdict_markdown_print(list, stream);
    if (stream != NULL)
        ok = fclose(stream) == 0 && ok;
    enum step_status status =
        ok ? output_file_append(path, text, length, error)
           : step_error_set(error, STEP_STATUS_NO_MEMORY, path, STEP_NO_OFFSET, "out of memory");
    free(text);
    return status;
}

static bool has_something(const struct verdict_list *list)
{
    return verdict_list_count(list, VERDICT_PASSED) < list->count;
}

enum step_status verdicts_show(struct verdict_list *list, const struct verdict_files *files)
{
    const struct {
        const char *path;
        bool (*print)(const void *list, FILE *out);
    } wanted[] = {{files->junit, junit_xml_print},
                  {files->sarif, sarif_log_print},
                  {files->code_quality, code_quality_print},
                  {files->markdown, verdict_markdown_print}};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status first = STEP_STATUS_OK, status;
    if (!verdict_list_number(list))
        return report_no_memory();
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (wanted[i].path == NULL)
            continue;
        status = output_file_print(wanted[i].path, NULL, wanted[i].print, list, &error);
        if (status != STEP_STATUS_OK)
            report_error(&error);
        first = first == STEP_STATUS_OK ? status : first;
    }
    const char *actions = getenv("GITHUB_ACTIONS");
    if (actions == NULL || strcmp(actions, "true") != 0 || !has_something(list))
        return first;
    github_job_annotate(list, stderr);
    status = append_summary(list, &error);
    if (status != STEP_STATUS_OK)
        report_error(&error);
    return first == STEP_STATUS_OK ? status : first;
}
