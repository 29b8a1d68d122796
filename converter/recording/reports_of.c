/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the verb `report`. */
#include "converter/recording/reports_of.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "converter/base/error_report.h"
#include "converter/verbs/verb.h"

enum step_status report_of(const char *trace)
{
    char page[PATH_MAX], input[PATH_MAX], option[] = "-o";
    size_t length = strlen(trace);
    size_t stem = length > 5 && strcmp(trace + length - 5, ".step") == 0 ? length - 5 : length;
    snprintf(page, sizeof page, "%.*s.html", (int) stem, trace);
    snprintf(input, sizeof input, "%s%s", trace[0] == '-' ? "./" : "", trace);
    char *arguments[] = {input, option, page, NULL};
    enum step_status status = verb_report(3, arguments);
    if (status == STEP_STATUS_OK || status == STEP_STATUS_CORRUPT)
        report_line("%s", page);
    return status;
}

/* What % stands for is any text; what is special to glob() is not. */
static void make_pattern(const char *name, char *out, size_t size)
{
    size_t used = 0;
    for (; *name != '\0' && used + 3 < size; name++) {
        if (*name == '%' && name[1] != '\0') {
            name++;
            out[used++] = *name == '%' ? '%' : '*';
            continue;
        }
        if (strchr("*?[\\", *name) != NULL)
            out[used++] = '\\';
        out[used++] = *name;
    }
    out[used] = '\0';
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

enum step_status reports_since(const char *name, const struct timespec *start)
{
    char pattern[2 * PATH_MAX];
    glob_t found = {.gl_pathc = 0};
    enum step_status status = STEP_STATUS_OK;
    size_t made = 0;
    make_pattern(name, pattern, sizeof pattern);
    if (glob(pattern, 0, NULL, &found) != 0)
        found.gl_pathc = 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct stat file;
        if (stat(found.gl_pathv[i], &file) != 0 || is_before(&file.st_mtim, start))
            continue;
        enum step_status one = report_of(found.gl_pathv[i]);
        status = one != STEP_STATUS_OK ? one : status;
        made++;
    }
    globfree(&found);
    if (made > 0)
        return status;
    report_line("%s: there is no trace to report", name);
    return STEP_STATUS_IO;
}
