/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the traces of several runs, and measures one after the other. */
#include "converter/statistics/trace_set.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "converter/cli/rotated_names.h"
#include "converter/containers/no_memory.h"
#include "converter/files/joined_files.h"
#include "converter/statistics/measure_trace.h"

static enum step_status measure_trace_go_through(struct measures *measures, struct input *input,
                                                 const char *path, enum measure_side side)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct trace_measure measure;
    enum step_status status = STEP_STATUS_OK;
    if (!trace_measure_init(&measure, input->source))
        status = report_error((no_memory(&error), &error));
    if (status == STEP_STATUS_OK &&
        heap_tracker_weigh(&measure.heap, input->source, &error) != STEP_STATUS_OK)
        status = report_error(&error);
    if (status == STEP_STATUS_OK)
        status = input_each(input, trace_measure_put, &measure);
    bool has_partial = status == STEP_STATUS_CORRUPT && measure.has_begun;
    if (status == STEP_STATUS_OK || has_partial) {
        enum step_status finished =
            trace_measure_finish(&measure, measures, input, path, side, &error);
        if (finished != STEP_STATUS_OK)
            status = report_error(&error);
    }
    trace_measure_reset(&measure);
    return status;
}

/* Reads a trace and adds it as a run.  Reports errors and damage.  After CORRUPT, the intact part
 * was added unless the run count is unchanged. */
static enum step_status measure_trace(struct measures *measures, const char *path,
                                      enum measure_side side,
                                      const struct event_selection *selected)
{
    struct event_selection plain = *selected;
    struct input input;
    plain.untracked = true; /* the tracker follows live objects itself */
    plain.derives_stacks = true;
    plain.follows_calls = true;
    plain.objects = NULL;
    enum step_status status = input_open(&input, path, NULL, &plain);
    if (status != STEP_STATUS_OK)
        return status;
    status = measure_trace_go_through(measures, &input, path, side);
    enum step_status damage = input_report_damage(&input);
    input_close(&input);
    return status == STEP_STATUS_OK ? damage : status;
}

static enum step_status add_trace(struct trace_set *set, const char *directory, const char *name,
                                  size_t length)
{
    if (set->count == MEASURE_RUNS_MOST) {
        report_line("there are more than %u traces on one side", MEASURE_RUNS_MOST);
        return STEP_STATUS_INVALID;
    }
    int made = asprintf(&set->paths[set->count], "%s%s%.*s", directory, directory[0] ? "/" : "",
                        (int) length, name);
    if (made < 0)
        return STEP_STATUS_NO_MEMORY;
    set->count++;
    return STEP_STATUS_OK;
}

static int is_trace(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".step") == 0;
}

static bool is_last_path(const struct trace_set *set, const char *path)
{
    return set->count > 0 && strcmp(set->paths[set->count - 1], path) == 0;
}

/* Files of rotate= are one trace, which has their name without numbers. */
static enum step_status measure_trace_add_entry(struct trace_set *set, const char *directory,
                                                const char *name)
{
    uint64_t number;
    char *file = NULL, *joined = NULL;
    size_t length = rotated_file_name(name, &number);
    if (length == 0)
        return add_trace(set, directory, name, strlen(name));
    enum step_status status = STEP_STATUS_NO_MEMORY;
    if (asprintf(&file, "%s/%s", directory, name) >= 0 &&
        asprintf(&joined, "%s/%.*s.step", directory, (int) length, name) >= 0)
        status = is_last_path(set, joined) ? STEP_STATUS_OK
                 : rotated_file_is(file)   ? add_trace(set, "", joined, strlen(joined))
                                           : add_trace(set, directory, name, strlen(name));
    free(file);
    free(joined);
    return status;
}

static enum step_status find_in_directory(const char *path, struct trace_set *set)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_trace, alphasort);
    if (count < 0) {
        report_line("%s: %s", path, strerror(errno));
        return STEP_STATUS_IO;
    }
    enum step_status status = STEP_STATUS_OK;
    for (int i = 0; i < count; i++) {
        if (status == STEP_STATUS_OK)
            status = measure_trace_add_entry(set, path, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    if (status == STEP_STATUS_OK && set->count == 0) {
        report_line("%s: the directory has no trace (.step)", path);
        status = STEP_STATUS_CORRUPT;
    }
    return status;
}

/* Files of one recording are no runs. */
static enum step_status refuse_files(const struct trace_set *set)
{
    for (size_t i = 1; i < set->count; i++) {
        const char *one = set->paths[i - 1], *other = set->paths[i];
        size_t length = rotated_names_share(one, other);
        if (length != 0) {
            report_line("%s and %s are files of one recording: %.*s.step stands for all of them",
                        one, other, (int) length, one);
            return STEP_STATUS_INVALID;
        }
    }
    return STEP_STATUS_OK;
}

enum step_status trace_set_find(const char *operand, struct trace_set *set)
{
    struct stat found;
    set->count = 0;
    bool is_there = stat(operand, &found) == 0;
    if (is_there && S_ISDIR(found.st_mode))
        return find_in_directory(operand, set);
    if (is_there || strchr(operand, ',') == NULL)
        return add_trace(set, "", operand, strlen(operand));
    enum step_status status = STEP_STATUS_OK;
    for (const char *at = operand; status == STEP_STATUS_OK;) {
        size_t length = strcspn(at, ",");
        if (length > 0)
            status = add_trace(set, "", at, length);
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    return status == STEP_STATUS_OK ? refuse_files(set) : status;
}

void trace_set_reset(struct trace_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->paths[i]);
    set->count = 0;
}

enum step_status trace_set_measure(const struct trace_set *set, enum measure_side side,
                                   const struct event_selection *selected,
                                   struct measures *measures)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < set->count; i++) {
        size_t before = measures->run_count;
        enum step_status one = measure_trace(measures, set->paths[i], side, selected);
        if (one != STEP_STATUS_OK)
            status = one;
        if (measures->run_count == before)
            return status;
    }
    return status;
}
