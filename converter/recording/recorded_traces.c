/* SPDX-License-Identifier: Apache-2.0 */
/* Which files are of a recording, and each one's end. */
#include "converter/recording/recorded_traces.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/base/error_report.h"
#include "converter/open/format_table.h"
#include "converter/recording/inherited_heaps.h"
#include "converter/verbs/verb.h"
#include "steptrace/live.h"
#include "steptrace/reader.h"

#define STEP_ENDING ".step"
#define LOOK_NS 2000000L
#define LOOKS_MOST 500 /* at a trace whose process lives on */
/* ---- names ---- */

/* The text with %% as % and without %p; `*marker` is where that stood, SIZE_MAX if nowhere. */
static void split_name(const char *name, char *plain, size_t *marker)
{
    size_t used = 0;
    *marker = SIZE_MAX;
    for (const char *at = name; *at != '\0' && used < PATH_MAX - 1; at++) {
        if (at[0] == '%' && at[1] == 'p' && *marker == SIZE_MAX) {
            *marker = used;
            at++;
            continue;
        }
        if (at[0] == '%' && at[1] == '%')
            at++;
        plain[used++] = *at;
    }
    plain[used] = '\0';
}

/* Is it `plain` with a process id at the marker, and perhaps a program's number before the ending?
 * That number, or 0: it is not. */
static unsigned image_of(const char *name, const char *plain, size_t marker)
{
    size_t ending = strlen(STEP_ENDING), whole = strlen(plain), length = strlen(name);
    size_t front = marker != SIZE_MAX ? marker : whole - ending;
    if (length < whole || strncmp(name, plain, front) != 0 ||
        strcmp(name + length - ending, STEP_ENDING) != 0)
        return 0;
    const char *at = name + front;
    if (marker != SIZE_MAX) {
        size_t digits = strspn(at, "0123456789"), rest = whole - ending - front;
        if (digits == 0 || strncmp(at + digits, plain + front, rest) != 0)
            return 0;
        at += digits + rest;
    }
    if (strcmp(at, STEP_ENDING) == 0)
        return 1;
    char *end = NULL;
    unsigned long image = *at == '-' ? strtoul(at + 1, &end, 10) : 0;
    return image > 1 && image < UINT_MAX && strcmp(end, STEP_ENDING) == 0 ? (unsigned) image : 0;
}

/* Without ".step"; a program's number goes before the ending of the format. */
static void name_output(struct recorded_trace *trace, bool is_converted)
{
    snprintf(trace->output, sizeof trace->output, "%s", trace->path);
    if (!is_converted)
        return;
    trace->output[strlen(trace->output) - strlen(STEP_ENDING)] = '\0';
    if (trace->image == 1)
        return;
    char *dash = strrchr(trace->output, '-');
    *dash = '\0';
    char *at = strrchr(trace->output, '/');
    for (at = strchr(at != NULL ? at : trace->output, '.'); at != NULL; at = strchr(at + 1, '.'))
        if (trace_format_by_ending(at - 1) != NULL)
            break;
    char ending[RECORDED_FIELD];
    snprintf(ending, sizeof ending, "%s", at != NULL ? at : "");
    size_t stem = at != NULL ? (size_t) (at - trace->output) : strlen(trace->output);
    snprintf(trace->output + stem, sizeof trace->output - stem, "-%u%s", trace->image, ending);
}

static bool is_new(const struct recorded_traces *traces, const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && (status.st_mtim.tv_sec > traces->start.tv_sec ||
                                        (status.st_mtim.tv_sec == traces->start.tv_sec &&
                                         status.st_mtim.tv_nsec >= traces->start.tv_nsec));
}

/* By their starts. */
static int in_order(const void *left, const void *right)
{
    const struct recorded_trace *a = left, *b = right;
    int times = strcmp(a->start_ns, b->start_ns);
    return times != 0 ? times : (a->image > b->image) - (a->image < b->image);
}

static bool add(struct trace_list *list, const char *directory, const char *name, unsigned image,
                bool is_converted)
{
    if (list->count == list->capacity) {
        size_t wanted = 2 * list->capacity + 4;
        struct recorded_trace *grown = realloc(list->rows, wanted * sizeof *grown);
        if (grown == NULL)
            return false;
        list->rows = grown;
        list->capacity = wanted;
    }
    struct recorded_trace *row = &list->rows[list->count++];
    memset(row, 0, sizeof *row);
    row->image = image;
    snprintf(row->path, sizeof row->path, "%s/%s", directory, name);
    name_output(row, is_converted);
    return true;
}

/* All in the directory that are of this recording. */
static bool find_traces(const struct recorded_traces *traces, char *plain, size_t marker,
                        struct trace_list *list)
{
    char *slash = strrchr(plain, '/');
    size_t front = (size_t) (slash - plain) + 1;
    *slash = '\0';
    DIR *directory = opendir(plain[0] != '\0' ? plain : "/");
    struct dirent *entry;
    bool done = true;
    while (done && directory != NULL && (entry = readdir(directory)) != NULL) {
        char path[PATH_MAX + 260];
        unsigned image =
            image_of(entry->d_name, slash + 1, marker != SIZE_MAX ? marker - front : SIZE_MAX);
        snprintf(path, sizeof path, "%s/%.255s", plain, entry->d_name);
        if (image != 0 && is_new(traces, path))
            done = add(list, plain, entry->d_name, image, traces->is_converted);
    }
    if (directory != NULL)
        closedir(directory);
    return done;
}

/* ---- drains ---- */

static void live_path_of(const struct recorded_trace *trace, char *live)
{
    snprintf(live, PATH_MAX + sizeof STEP_LIVE_SUFFIX, "%s%s", trace->path, STEP_LIVE_SUFFIX);
}

static bool is_held(const char *path)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int file = open(path, O_RDWR | O_CLOEXEC);
    bool held = file >= 0 && fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    if (file >= 0)
        close(file);
    return held;
}

/* The traced process, by the live file; 0: it does not say. */
static pid_t process_of(const struct recorded_trace *trace)
{
    char live[PATH_MAX + sizeof STEP_LIVE_SUFFIX];
    struct step_live_header header = {.process_id = 0};
    live_path_of(trace, live);
    int file = open(live, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    if (pread(file, &header, sizeof header, 0) != (ssize_t) sizeof header ||
        memcmp(header.magic, STEP_LIVE_MAGIC, sizeof header.magic) != 0)
        header.process_id = 0;
    close(file);
    return (pid_t) header.process_id;
}

/* Until its drain is done; false: the process itself lives on. */
static bool wait_for_drain(const struct recorded_trace *trace)
{
    for (int looks = 0; is_held(trace->path);) {
        pid_t process = process_of(trace);
        bool lives = process == 0 || kill(process, 0) == 0 || errno != ESRCH;
        if (lives && ++looks > LOOKS_MOST)
            return false;
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    }
    return true;
}

/* ---- one trace ---- */

static void take_property(const struct step_reader *reader, const char *key, char *out)
{
    const char *value = step_reader_property(reader, key);
    snprintf(out, RECORDED_FIELD, "%s", value != NULL ? value : "");
    for (char *at = out; *at != '\0'; at++)
        if (*at == '\t' || *at == '\n')
            *at = ' ';
}

static void read_properties(struct recorded_trace *trace)
{
    struct step_reader *reader;
    struct step_error error;
    if (step_reader_open(trace->path, &reader, &error) != STEP_STATUS_OK)
        return;
    take_property(reader, "process-id", trace->process);
    take_property(reader, "forked-from", trace->parent);
    take_property(reader, "end", trace->end);
    take_property(reader, "start-time-ns", trace->start_ns);
    take_property(reader, "command-line", trace->command);
    take_property(reader, "forked-at-stamp", trace->fork_stamp);
    take_property(reader, "clock-scale", trace->clock_scale);
    step_reader_destroy(reader);
}

static enum step_status convert(const struct recorded_traces *traces,
                                const struct recorded_trace *trace)
{
    char encoding[64];
    snprintf(encoding, sizeof encoding, "--encoding=%.48s",
             traces->encoding != NULL ? traces->encoding : "naive");
    char *arguments[] = {(char *) trace->path, "-o", (char *) trace->output, encoding};
    enum step_status status = verb_convert(traces->encoding != NULL ? 4 : 3, arguments);
    if (status == STEP_STATUS_OK)
        unlink(trace->path);
    return status;
}

#define LIMIT "limit"

bool recorded_trace_is_cut(const struct recorded_trace *trace)
{
    static const char *const cuts[] = {LIMIT, "disk-full", "failed"};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++)
        if (strcmp(trace->end, cuts[i]) == 0)
            return true;
    return false;
}

/* A trace that was cut is a fault, although its program did well, but where that was asked for. */
static enum step_status judge_end(const struct recorded_trace *trace)
{
    if (!recorded_trace_is_cut(trace) || strcmp(trace->end, LIMIT) == 0)
        return STEP_STATUS_OK;
    report_line("%s: cut (%s): it ends before its program", trace->output, trace->end);
    return STEP_STATUS_IO;
}

static enum step_status complete_trace(struct recorded_trace *trace)
{
    char live[PATH_MAX + sizeof STEP_LIVE_SUFFIX];
    enum step_status status = STEP_STATUS_OK;
    if (!wait_for_drain(trace)) {
        report_line("%s: its process still runs, and the trace grows", trace->path);
        read_properties(trace);
        snprintf(trace->output, sizeof trace->output, "%s", trace->path);
        trace->is_growing = true;
        return status;
    }
    live_path_of(trace, live);
    if (access(live, F_OK) == 0) {
        char *arguments[] = {trace->path};
        status = verb_recover(1, arguments);
    }
    read_properties(trace);
    return status;
}

static enum step_status deliver_trace(const struct recorded_traces *traces,
                                      const struct recorded_trace *trace)
{
    enum step_status status = STEP_STATUS_OK;
    if (traces->is_converted && !trace->is_growing)
        status = convert(traces, trace);
    return status == STEP_STATUS_OK ? judge_end(trace) : status;
}

/* ---- all ---- */

/* A list beside the traces, its name theirs with `index` for the process id. */
static enum step_status write_index(const char *plain, size_t marker, const struct trace_list *list)
{
    char path[PATH_MAX + 32];
    const char *slash = strrchr(plain, '/'), *dot = strchr(slash, '.');
    size_t front = (size_t) ((dot != NULL ? dot : slash + strlen(slash)) - plain);
    if (front < marker)
        front = marker;
    snprintf(path, sizeof path, "%.*sindex%.*s.tsv", (int) marker, plain, (int) (front - marker),
             plain + marker);
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        report_line("%s: %s", path, strerror(errno));
        return STEP_STATUS_IO;
    }
    fputs("file\tprocess\tforked-from\tprogram\tstart-time-ns\tend\tcommand-line\n", file);
    for (size_t i = 0; i < list->count; i++) {
        const struct recorded_trace *row = &list->rows[i];
        fprintf(file, "%s\t%s\t%s\t%u\t%s\t%s\t%s\n", strrchr(row->output, '/') + 1, row->process,
                row->parent, row->image, row->start_ns, row->end, row->command);
    }
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
        report_line("%s: cannot be written", path);
        return STEP_STATUS_IO;
    }
    return STEP_STATUS_OK;
}

/* One name was asked for, and the process was several programs. */
static void tell_of_images(const struct trace_list *list)
{
    for (size_t i = 0; list->count > 1 && i < list->count; i++)
        report_line("%s: program %u of the process: %s", list->rows[i].output, list->rows[i].image,
                    list->rows[i].command);
}

static enum step_status complete_all(const struct recorded_traces *traces, struct trace_list *list,
                                     bool has_forks)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < list->count; i++) {
        enum step_status one = complete_trace(&list->rows[i]);
        status = status == STEP_STATUS_OK ? one : status;
    }
    if (list->count > 1)
        qsort(list->rows, list->count, sizeof *list->rows, in_order);
    if (status == STEP_STATUS_OK && has_forks)
        status = inherited_heaps_tell(list);
    for (size_t i = 0; i < list->count; i++) {
        enum step_status one = deliver_trace(traces, &list->rows[i]);
        status = status == STEP_STATUS_OK ? one : status;
    }
    return status;
}

enum step_status recorded_traces_finish(const struct recorded_traces *traces, unsigned *count)
{
    char plain[PATH_MAX], directory[PATH_MAX];
    size_t marker;
    struct trace_list list = {NULL, 0, 0};
    enum step_status status = STEP_STATUS_OK;
    split_name(traces->step_path, plain, &marker);
    *count = 1;
    size_t front = (size_t) (strrchr(plain, '/') - plain) + 1;
    if (strstr(plain, "%t") != NULL || strstr(plain, "%h") != NULL ||
        (marker != SIZE_MAX && marker < front))
        return STEP_STATUS_OK; /* only the recorder knows the names */
    memcpy(directory, plain, sizeof directory);
    if (!find_traces(traces, directory, marker, &list))
        status = STEP_STATUS_NO_MEMORY;
    *count = (unsigned) list.count;
    if (status == STEP_STATUS_OK)
        status = complete_all(traces, &list, marker != SIZE_MAX);
    if (marker == SIZE_MAX) {
        tell_of_images(&list);
    } else if (list.count > 0) {
        enum step_status one = write_index(plain, marker, &list);
        status = status == STEP_STATUS_OK ? one : status;
    }
    free(list.rows);
    return status;
}
