/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files of a recording, and completes each of them. */
#include "converter/recorders/recorded_traces.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/cli/error_report.h"
#include "converter/cli/verb.h"
#include "converter/files/trace_files.h"
#include "converter/formats/format_table.h"
#include "converter/output/output_file.h"
#include "converter/recorders/recording.h"
#include "format/core/grow.h"
#include "format/core/input_file.h"
#include "steptrace/live.h"
#include "steptrace/reader.h"

/* ---- file names of a recording, parsed and built ---- */

struct recorded_name {
    unsigned number, image; /* from 1 */
};

#define RECORDED_LIST_HEAD "file\tprocess\tforked-from\tprogram\tstart-time-ns\tend\tcommand-line\n"

#define STEP_ENDING ".step"
#define NUMBERS_MOST 10000u

/* Writes `name` with %% as % and without %p to `plain` (PATH_MAX bytes).  `*marker` is the position
 * of %p, or SIZE_MAX if there is none. */
static void recorded_name_split(const char *name, char *plain, size_t *marker)
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

/* Removes ".2" or "-2" from the front of `*at`, if present.  Returns false for an invalid
 * number. */
static bool recorded_traces_take_number(const char **at, char mark, unsigned *number)
{
    char *end;
    *number = 1;
    if (**at != mark || (*at)[1] < '1' || (*at)[1] > '9')
        return true;
    unsigned long value = strtoul(*at + 1, &end, 10);
    *number = (unsigned) value;
    *at = end;
    return value > 1 && value <= NUMBERS_MOST;
}

/* Returns true if `name` is `plain` with a process id at the marker, and optional numbers before
 * the extension. */
static bool recorded_name_parse(const char *name, const char *plain, size_t marker,
                                struct recorded_name *parts)
{
    size_t ending = strlen(STEP_ENDING), whole = strlen(plain);
    size_t front = marker != SIZE_MAX ? marker : whole - ending;
    if (strlen(name) < whole || strncmp(name, plain, front) != 0)
        return false;
    const char *at = name + front;
    if (marker != SIZE_MAX) {
        size_t digits = strspn(at, "0123456789"), rest = whole - ending - front;
        if (digits == 0 || strncmp(at + digits, plain + front, rest) != 0)
            return false;
        at += digits + rest;
    }
    return recorded_traces_take_number(&at, '.', &parts->number) &&
           recorded_traces_take_number(&at, '-', &parts->image) && strcmp(at, STEP_ENDING) == 0;
}

/* ---- converted traces ---- */

/* Writes "", ".2", "-3" or ".2-3", and returns the length. */
static size_t recorded_traces_print_numbers(unsigned number, unsigned image, char *out, size_t size)
{
    int used = number > 1 ? snprintf(out, size, ".%u", number) : 0;
    if (image > 1)
        used += snprintf(out + used, size - (size_t) used, "-%u", image);
    out[used] = '\0';
    return (size_t) used;
}

/* run.hatf, run.2-3.hatf */
static void print_output(const char *base, unsigned number, unsigned image, char *out)
{
    char numbers[32];
    size_t stem = trace_format_stem_length(base);
    recorded_traces_print_numbers(number, image, numbers, sizeof numbers);
    snprintf(out, PATH_MAX, "%.*s%s%s", (int) stem, base, numbers, base + stem);
}

/* Sets trace->output to the name of the converted trace: trace->path without ".step", with the
 * numbers before the format's extension.  Unless `overwrite`, the name is unused. */
static void recorded_name_output(struct recorded_trace *trace, bool overwrite)
{
    char base[PATH_MAX], wanted[PATH_MAX], numbers[32];
    size_t length =
        strlen(trace->path) - strlen(STEP_ENDING) -
        recorded_traces_print_numbers(trace->number, trace->image, numbers, sizeof numbers);
    snprintf(base, sizeof base, "%.*s", (int) length, trace->path);
    print_output(base, 1, trace->image, wanted);
    memcpy(trace->output, wanted, sizeof wanted);
    for (unsigned number = 2;
         !overwrite && number < NUMBERS_MOST && access(trace->output, F_OK) == 0; number++)
        print_output(base, number, trace->image, trace->output);
    if (strcmp(wanted, trace->output) != 0)
        report_line("%s exists: the trace is %s", wanted, trace->output);
}

/* ---- the list ---- */

/* Returns true for a regular file with a list of this user's, and with a single hard link. */
static bool is_own_list(const char *path)
{
    static const char head[] = RECORDED_LIST_HEAD;
    char start[sizeof head] = "";
    struct stat about;
    struct stat name;
    int file = input_file_open(path, INPUT_REGULAR, &about);
    bool is = file >= 0 && lstat(path, &name) == 0 && name.st_ino == about.st_ino &&
              name.st_dev == about.st_dev && about.st_uid == geteuid() && about.st_nlink == 1 &&
              read(file, start, sizeof head - 1) == (ssize_t) sizeof head - 1 &&
              strcmp(start, head) == 0;
    if (file >= 0)
        close(file);
    return is;
}

/* Creates the list of traces under that name, or with .2, .3 and so on before its extension, and
 * updates `path`.  `overwrite` replaces a list of this user's.  Returns NULL with errno. */
static FILE *recorded_list_create(char *path, size_t size, mode_t mode, bool overwrite)
{
    char wanted[PATH_MAX + 32];
    snprintf(wanted, sizeof wanted, "%s", path);
    if (overwrite && is_own_list(path))
        output_file_remove(path);
    int file = -1;
    for (unsigned number = 1; file < 0 && number < NUMBERS_MOST; number++) {
        if (number > 1)
            snprintf(path, size, "%.*s.%u.tsv", (int) (strlen(wanted) - strlen(".tsv")), wanted,
                     number);
        file = output_file_create(path, mode);
        if (file < 0 && errno != EEXIST)
            return NULL;
    }
    if (file < 0)
        return NULL;
    if (strcmp(path, wanted) != 0)
        report_line("%s exists: the list is %s", wanted, path);
    return fdopen(file, "w");
}

#define LOOK_NS 2000000L

/* What is left of the looks at traces that are still written, of all traces together. */
struct patience {
    unsigned running; /* while their process runs: 1 s */
    unsigned stalled; /* while neither the process runs nor the trace grows: 1 min */
};

static const struct patience patience_of_all = {500, 30000};

/* Sorts by start time. */
static int in_order(const void *left, const void *right)
{
    const struct recorded_trace *a = left, *b = right;
    int times = strcmp(a->start_ns, b->start_ns);
    return times != 0 ? times : (a->image > b->image) - (a->image < b->image);
}

static bool recorded_traces_add(struct trace_list *list, const char *directory, const char *name,
                                const struct recorded_name *parts)
{
    if (!STEP_MAKE_ROOM(list->rows, list->capacity, list->count + 1))
        return false;
    struct recorded_trace *row = &list->rows[list->count++];
    memset(row, 0, sizeof *row);
    row->image = parts->image;
    row->number = parts->number;
    snprintf(row->path, sizeof row->path, "%s/%s", directory, name);
    snprintf(row->output, sizeof row->output, "%s", row->path);
    return true;
}

/* In a directory that others may write in, only files of this user are of the recording: others can
 * be locked or changed at any time. */
static bool is_own_file(DIR *directory, const char *name)
{
    struct stat about;
    return fstatat(dirfd(directory), name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(about.st_mode) && about.st_uid == geteuid();
}

/* Finds all traces in the directory that belong to this recording. */
static bool find_traces(const struct recorded_traces *traces, char *plain, size_t marker,
                        struct trace_list *list)
{
    char *slash = strrchr(plain, '/');
    size_t front = (size_t) (slash - plain) + 1;
    *slash = '\0';
    DIR *directory = input_directory_open(plain[0] != '\0' ? plain : "/");
    struct dirent *entry;
    bool done = true;
    while (done && directory != NULL && (entry = readdir(directory)) != NULL) {
        char path[PATH_MAX + 260];
        struct recorded_name parts;
        snprintf(path, sizeof path, "%s/%.255s", plain, entry->d_name);
        if (recorded_name_parse(entry->d_name, slash + 1,
                                marker != SIZE_MAX ? marker - front : SIZE_MAX, &parts) &&
            is_own_file(directory, entry->d_name) && trace_is_since(path, &traces->start) &&
            (marker != SIZE_MAX || trace_is_of_process(path, traces->process, true)))
            done = recorded_traces_add(list, plain, entry->d_name, &parts);
    }
    if (directory != NULL)
        closedir(directory);
    return done;
}

/* ---- drains ---- */

/* Returns the traced process according to the live file, or 0 if unknown. */
static pid_t process_of(const struct recorded_trace *trace)
{
    struct step_live_header header;
    return live_header_read(trace_live_path(trace->path).text, &header) ? (pid_t) header.process_id
                                                                        : 0;
}

/* Returns true if the trace has become longer, and notes how long it is. */
static bool has_grown(const struct recorded_trace *trace, off_t *length)
{
    struct stat about;
    off_t before = *length;
    *length = stat(trace->path, &about) == 0 ? about.st_size : before;
    return *length > before;
}

/* Waits until the drain has finished.  Returns false if patience ends before; `*lives` is whether
 * the process itself is still running. */
static bool wait_for_drain(const struct recorded_trace *trace, struct patience *patience,
                           bool *lives)
{
    for (off_t length = 0; trace_is_held(trace->path);) {
        pid_t process = process_of(trace);
        *lives = process == 0 || kill(process, 0) == 0 || errno != ESRCH;
        unsigned *looks = *lives ? &patience->running : &patience->stalled;
        if (*lives || !has_grown(trace, &length)) {
            if (*looks == 0)
                return false;
            --*looks;
        }
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    }
    return true;
}

/* ---- one trace ---- */

static void take_property(const struct step_reader *reader, const char *key, char *out)
{
    const char *value = step_reader_property(reader, key);
    snprintf(out, RECORDED_FIELD, "%s", value != NULL ? value : "");
}

static void read_properties(struct recorded_trace *trace)
{
    struct step_reader *reader;
    struct step_error error;
    if (step_reader_open(trace->path, &reader, &error) != STEP_STATUS_OK)
        return;
    take_property(reader, "process-id", trace->process);
    take_property(reader, "forked-from", trace->parent);
    take_property(reader, "parent-process", trace->started_by);
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
    mode_t mask = umask(0777 & ~traces->mode);
    enum step_status status =
        verb_find("convert")->run(traces->encoding != NULL ? 4 : 3, arguments);
    umask(mask);
    if (status == STEP_STATUS_OK && !output_file_sync(trace->output)) {
        report_line("%s: %s", trace->output, strerror(errno));
        return STEP_STATUS_IO;
    }
    if (status == STEP_STATUS_OK)
        output_file_remove(trace->path);
    return status;
}

static enum step_status complete_trace(struct recorded_trace *trace, struct patience *patience)
{
    enum step_status status = STEP_STATUS_OK;
    bool lives = false;
    if (!wait_for_drain(trace, patience, &lives)) {
        report_line(lives ? "%s: its process still runs, and the trace grows"
                          : "%s: its writer does not continue; the file is left as it is",
                    trace->path);
        read_properties(trace);
        snprintf(trace->output, sizeof trace->output, "%s", trace->path);
        trace->is_growing = true;
        return lives ? status : STEP_STATUS_IO;
    }
    if (access(trace_live_path(trace->path).text, F_OK) == 0) {
        char *arguments[] = {trace->path};
        status = verb_find("recover")->run(1, arguments);
        trace->is_judged = status != STEP_STATUS_OK;
    }
    read_properties(trace);
    return status;
}

static enum step_status deliver_trace(const struct recorded_traces *traces,
                                      struct recorded_trace *trace)
{
    if (trace->is_growing)
        return STEP_STATUS_OK;
    if (!traces->is_converted)
        return trace->is_judged ? STEP_STATUS_OK : lacks_of(trace->path);
    recorded_name_output(trace, traces->overwrite);
    return convert(traces, trace);
}

/* ---- all ---- */

/* Writes one line of the list.  Escapes bytes of names and command lines that would end the line or
 * be interpreted by a terminal. */
static void write_row(const struct recorded_trace *row, FILE *file)
{
    const char *parent = row->parent[0] != '\0' ? row->parent : row->started_by;
    print_shown_text(strrchr(row->output, '/') + 1, file);
    fprintf(file, "\t%s\t%s\t%u\t%s\t%s\t", row->process, parent, row->image, row->start_ns,
            row->end);
    print_shown_text(row->command, file);
    fputc('\n', file);
}

/* Writes a list beside the traces.  Its name is theirs with `index` instead of the process id. */
static enum step_status write_index(const struct recorded_traces *traces, const char *plain,
                                    size_t marker, const struct trace_list *list)
{
    char path[PATH_MAX + 32];
    const char *slash = strrchr(plain, '/'), *dot = strrchr(slash, '.');
    size_t front = (size_t) ((dot != NULL ? dot : slash + strlen(slash)) - plain);
    if (front < marker)
        front = marker;
    snprintf(path, sizeof path, "%.*sindex%.*s.tsv", (int) marker, plain, (int) (front - marker),
             plain + marker);
    FILE *file = recorded_list_create(path, sizeof path, traces->mode, traces->overwrite);
    if (file == NULL) {
        report_line("%s: %s", path, strerror(errno));
        return STEP_STATUS_IO;
    }
    fputs(RECORDED_LIST_HEAD, file);
    for (size_t i = 0; i < list->count; i++)
        write_row(&list->rows[i], file);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
        report_line("%s: cannot be written", path);
        return STEP_STATUS_IO;
    }
    return STEP_STATUS_OK;
}

/* Reports the programs of a process for which only one name was given. */
static void report_images(const struct trace_list *list)
{
    for (size_t i = 0; list->count > 1 && i < list->count; i++)
        report_line("%s: program %u of the process: %s", list->rows[i].output, list->rows[i].image,
                    list->rows[i].command);
}

static enum step_status complete_all(const struct recorded_traces *traces, struct trace_list *list,
                                     bool has_forks)
{
    enum step_status status = STEP_STATUS_OK;
    struct patience patience = patience_of_all;
    for (size_t i = 0; i < list->count; i++) {
        enum step_status one = complete_trace(&list->rows[i], &patience);
        status = status == STEP_STATUS_OK ? one : status;
    }
    if (list->count > 1)
        qsort(list->rows, list->count, sizeof *list->rows, in_order);
    if (status == STEP_STATUS_OK && has_forks)
        status = inherited_heaps_list(list);
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
    recorded_name_split(traces->step_path, plain, &marker);
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
        report_images(&list);
    } else if (list.count > 0) {
        enum step_status one = write_index(traces, plain, marker, &list);
        status = status == STEP_STATUS_OK ? one : status;
    }
    free(list.rows);
    return status;
}
