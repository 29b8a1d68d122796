/* SPDX-License-Identifier: Apache-2.0 */
/* What follows a recording: finds the traces that it made, says what they lack, and runs the verbs
 * `report` and `heap` on them. */
#include "converter/recorders/recording.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/cli/error_report.h"
#include "converter/cli/verb.h"
#include "converter/files/joined_files.h"
#include "converter/files/trace_files.h"
#include "converter/files/trace_gap.h"
#include "converter/files/trace_reader.h"
#include "steptrace/live.h"

void report_page_path(const char *trace, char *page, size_t size)
{
    size_t length = strlen(trace);
    size_t stem = length > 5 && strcmp(trace + length - 5, ".step") == 0 ? length - 5 : length;
    snprintf(page, size, "%.*s.html", (int) stem, trace);
}

enum step_status recording_check_answers(const struct arguments *arguments, bool report,
                                         bool summary)
{
    if (report && page_maker == NULL)
        return arguments_fault(arguments, "--report: this build has no command `report`");
    if (summary && verb_find("heap") == NULL)
        return arguments_fault(arguments, "--summary: this build has no command `heap`");
    return STEP_STATUS_OK;
}

enum step_status report_of(const char *trace)
{
    char page[PATH_MAX], input[PATH_MAX];
    bool is_written;
    report_page_path(trace, page, sizeof page);
    snprintf(input, sizeof input, "%s%s", trace[0] == '-' ? "./" : "", trace);
    enum step_status status = page_maker->write_beside(input, page, &is_written);
    if (is_written)
        report_line("%s", page);
    return status;
}

enum step_status summary_of(const char *trace)
{
    static char allocated[] = "--allocated", end[] = "--at=end", site[] = "--by=site";
    static char rows[] = "--top=5", depth[] = "--depth=3";
    const struct verb *heap = verb_find("heap");
    char input[PATH_MAX];
    snprintf(input, sizeof input, "%s%s", trace[0] == '-' ? "./" : "", trace);
    char *arguments[] = {input, allocated, end, site, rows, depth, NULL};
    int output = dup(STDOUT_FILENO); /* the program's; the summary is none of its output */
    if (output < 0)
        return STEP_STATUS_IO;
    fflush(stdout);
    report_line("%s", trace);
    enum step_status status = STEP_STATUS_IO;
    if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
        status = heap->run(6, arguments);
    fflush(stdout);
    dup2(output, STDOUT_FILENO);
    close(output);
    return status;
}

enum step_status lacks_as(const char *trace, const char *name)
{
    struct step_reader *reader = NULL;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = open_with_given_definition(trace, NULL, &reader, &error);
    if (status != STEP_STATUS_OK) {
        snprintf(error.file, sizeof error.file, "%s", name);
        return report_error(&error);
    }
    status = report_reader_damage(reader, name);
    step_reader_destroy(reader);
    return status;
}

enum step_status lacks_of(const char *trace)
{
    return lacks_as(trace, trace);
}

/* Replaces each % sequence with a wildcard, and escapes the special characters of glob(). */
static void make_pattern(const char *name, size_t length, char *out, size_t size)
{
    size_t used = strlen(out);
    for (size_t i = 0; i < length && used + 3 < size; i++) {
        if (name[i] == '%' && i + 1 < length) {
            i++;
            out[used++] = name[i] == '%' ? '%' : '*';
            continue;
        }
        if (strchr("*?[\\", name[i]) != NULL)
            out[used++] = '\\';
        out[used++] = name[i];
    }
    out[used] = '\0';
}

/* Finds all files of that name, and of the alternatives that recorders use if it exists. */
static void find_files(const char *name, glob_t *found)
{
    char pattern[2 * PATH_MAX] = "";
    const char *slash = strrchr(name, '/');
    const char *ending = strrchr(slash != NULL ? slash : name, '.');
    size_t stem = ending != NULL ? (size_t) (ending - name) : strlen(name);
    make_pattern(name, strlen(name), pattern, sizeof pattern);
    int code = glob(pattern, 0, NULL, found);
    pattern[0] = '\0';
    make_pattern(name, stem, pattern, sizeof pattern - 8);
    strcat(pattern, ".[1-9]*");
    make_pattern(name + stem, strlen(name + stem), pattern, sizeof pattern);
    glob(pattern, code == 0 ? GLOB_APPEND : 0, NULL, found);
}

/* Sets `*made` to the number of traces. */
static enum step_status do_all(const glob_t *found, const struct timespec *start, pid_t process,
                               enum step_status (*each)(const char *trace), size_t *made)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < found->gl_pathc; i++) {
        if (!trace_is_since(found->gl_pathv[i], start) ||
            (process != 0 && !trace_is_of_process(found->gl_pathv[i], process, false)))
            continue;
        enum step_status one = each(found->gl_pathv[i]);
        status = one != STEP_STATUS_OK ? one : status;
        ++*made;
    }
    return status;
}

bool traces_exist(const char *name, const struct timespec *start)
{
    glob_t found = {.gl_pathc = 0};
    bool exist = rotated_files_exist(name);
    find_files(name, &found);
    for (size_t i = 0; i < found.gl_pathc && !exist; i++)
        exist = trace_is_since(found.gl_pathv[i], start);
    globfree(&found);
    return exist;
}

enum step_status traces_since(const char *name, const struct timespec *start, pid_t process,
                              enum step_status (*each)(const char *trace))
{
    glob_t found = {.gl_pathc = 0};
    enum step_status status = STEP_STATUS_OK;
    size_t made = 0;
    find_files(name, &found);
    if (process != 0)
        status = do_all(&found, start, process, each, &made);
    if (made == 0)
        status = do_all(&found, start, 0, each, &made);
    globfree(&found);
    if (made > 0)
        return status;
    if (rotated_files_exist(name))
        return each(name);
    report_line("%s: there is no trace", name);
    return STEP_STATUS_IO;
}
