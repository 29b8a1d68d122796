/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace lifetimes, advise and escape: how long the objects of each allocation site live, advice
 * on sites, and which of their allocations the JIT compiler removes.  They read births and deaths
 * in one pass, and references in a second one if they are needed. */
#include <stdlib.h>
#include <string.h>

#include "analyses/sites/site_report.h"
#include "converter/cli/verb.h"
#include "converter/files/sampled_trace.h"
#include "converter/formats/input.h"
#include "converter/records/record_dump.h"
#include "converter/verdicts/review.h"
#include "converter/verdicts/verdict.h"

VERB(lifetimes);
VERB(advise);
VERB(escape);

/* The caller sets what it wants, of the report too; read_sites() sets the rest. */
struct site_reading {
    const struct trace_format *from;
    uint64_t within, young_bytes; /* struct site_lives */
    uint64_t least_bytes;         /* of advice */
    bool needs_references;
    /* Looks at the opened trace; returns false, after a report, if it has not what is needed. */
    bool (*accepts)(struct site_reading *reading, const struct input *input, const char *path);
    void (*print)(const struct site_report *report);
    struct site_report report;
    struct verdict_files files; /* of advice */
    bool is_for_review;
    struct event_selection selected;
    struct site_lives lives;
    struct heap_sites sites;
    struct site_clusters clusters;
    struct advice_list advice;
    uint32_t *order;
};

/* Only Java traces of StepTrace's own format have references. */
static enum step_status verb_sites_read_references(struct site_reading *reading,
                                                   const struct input *input, const char *path)
{
    struct step_reader *reader = NULL;
    struct seekable_path seekable = {0};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    if (!reading->needs_references || input->source->content != TRACE_OF_GRAPHS)
        return STEP_STATUS_OK;
    const char *seekable_name = input->spool >= 0 ? input->spool_path : path;
    enum step_status status =
        stepfile_open(seekable_name, NEEDS_ALL_OBJECTS, &reader, &seekable, &error);
    if (status == STEP_STATUS_OK)
        status = site_stores_count(reader, &reading->lives, &error);
    reading->report.has_references = status == STEP_STATUS_OK;
    if (status != STEP_STATUS_OK && status != STEP_STATUS_END)
        report_error(&error);
    step_reader_destroy(reader);
    seekable_path_close(&seekable);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

static int verb_sites_by_bytes(const void *left, const void *right, void *user)
{
    const struct site_life *items = user;
    uint32_t a = *(const uint32_t *) left, b = *(const uint32_t *) right;
    uint64_t bytes_a = items[a].born.bytes, bytes_b = items[b].born.bytes;
    if (bytes_a != bytes_b)
        return bytes_a < bytes_b ? 1 : -1;
    return a < b ? -1 : a > b;
}

/* Returns false if out of memory. */
static bool evaluate(struct site_reading *reading, const struct trace_names *names)
{
    struct site_lives *lives = &reading->lives;
    const struct advice_options options = {.least_bytes = reading->least_bytes,
                                           .has_references = reading->report.has_references};
    reading->order = malloc((lives->count + 1) * sizeof *reading->order);
    if (reading->order == NULL)
        return false;
    for (size_t i = 0; i < lives->count; i++)
        reading->order[i] = (uint32_t) i;
    if (lives->count > 0)
        qsort_r(reading->order, lives->count, sizeof *reading->order, verb_sites_by_bytes,
                lives->items);
    return heap_sites_init(&reading->sites, names) &&
           site_clusters_make(&reading->clusters, lives, reading->order) &&
           advice_make(&reading->advice, lives, names, &options);
}

/* Returns no error of the trace: that of the files. */
static enum step_status verb_sites_review(const struct site_reading *reading)
{
    struct verdict_list list = {.verb = "advise"};
    enum step_status status = advice_verdicts_add(&reading->report, &list)
                                  ? verdicts_show(&list, &reading->files)
                                  : report_no_memory();
    verdict_list_reset(&list);
    return status;
}

static enum step_status verb_sites_read_all(struct site_reading *reading, const char *path,
                                            struct input *input)
{
    struct site_lives *lives = &reading->lives;
    lives->path = path;
    lives->within = reading->within;
    lives->young_bytes = reading->young_bytes;
    lives->is_native = input->allocs != NULL;
    enum step_status status = input_each(input, site_lives_put, lives);
    if (status != STEP_STATUS_OK)
        return status;
    if (lives->born.objects > 0 && lives->born.bytes == 0)
        return report_unfit(path,
                            "the objects have no sizes: lifetimes in bytes are unknown" NO_SIZES);
    site_lives_finish(lives);
    input->unknown_frees = lives->unknown_frees;
    status = verb_sites_read_references(reading, input, path);
    if (status != STEP_STATUS_OK)
        return status;
    if (!evaluate(reading, &input->source->names))
        return report_no_memory();
    struct class_twins twins;
    struct site_report *report = &reading->report;
    report->path = path;
    report->lives = lives;
    report->sites = &reading->sites;
    report->order = reading->order;
    report->clusters = &reading->clusters;
    report->advice = &reading->advice;
    report->unit = event_source_time_unit(input->source);
    report->stamp_events = event_source_stamp_events(input->source);
    trace_report_no_allocs(path, input->source);
    class_twins_find(&twins, &input->source->names);
    report->twins = &twins;
    reading->print(report);
    if (reading->is_for_review)
        status = verb_sites_review(reading);
    class_twins_reset(&twins);
    enum step_status damage = input_report_damage(input);
    return status == STEP_STATUS_OK ? damage : status;
}

/* Reads `path` and prints the report.  Reports errors. */
static enum step_status read_sites(struct site_reading *reading, const char *path)
{
    struct input input;
    event_selection_init(&reading->selected);
    reading->selected.kinds =
        TRACE_KIND_BIT(EVENT_OBJECT_ALLOC) | TRACE_KIND_BIT(EVENT_OBJECT_FREE);
    reading->selected.untracked = true;
    enum step_status status =
        reading->needs_references
            ? input_open_seekable(&input, path, reading->from, &reading->selected)
            : input_open(&input, path, reading->from, &reading->selected);
    if (status != STEP_STATUS_OK)
        return status;
    if (reading->accepts != NULL && !reading->accepts(reading, &input, path)) {
        input_close(&input);
        return STEP_STATUS_CORRUPT;
    }
    site_lives_init(&reading->lives);
    status = verb_sites_read_all(reading, path, &input);
    advice_reset(&reading->advice);
    site_clusters_reset(&reading->clusters);
    heap_sites_reset(&reading->sites);
    site_lives_reset(&reading->lives);
    free(reading->order);
    input_close(&input);
    return status;
}

/* ---- lifetimes ---- */

static const struct verb_help lifetimes_help = {
    .name = "lifetimes",
    .operands = "IN [OPTION]...",
    .text = "Prints how long the objects of each allocation site live, in bytes allocated\n"
            "meanwhile and in time: percentiles, a histogram, and clusters of sites whose\n"
            "objects live equally long. Deaths that collections found are upper bounds, and\n"
            "are marked so.\n"};

enum step_status verb_lifetimes(int argc, char **argv)
{
    struct site_reading reading = {.report = {.top = TOP_DEFAULT, .depth = DEPTH_DEFAULT}};
    bool as_json = false;
    const struct option_row rows[] = {TOP_ROW(&reading.report.top),
                                      DEPTH_ROW(&reading.report.depth),
                                      {"histogram", 0, NULL,
                                       "also the shares of objects by lifetime, in powers of two",
                                       take_flag, &reading.report.has_histograms},
                                      {"json", 0, NULL, "as JSON", take_flag, &as_json},
                                      FROM_ROW(&reading.from),
                                      READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(lifetimes_help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    reading.print = as_json ? lives_print_json : lives_print_text;
    return read_sites(&reading, arguments.operands[0]);
}

/* ---- advise ---- */

static const struct verb_help advise_help = {
    .name = "advise",
    .operands = "IN [OPTION]...",
    .text = "Advises on allocation sites, with the bytes at stake and the evidence: pretenure\n"
            "objects that survive collections, reuse a few that die soon, do not repeat what is\n"
            "thrown away each time, let scalars replace objects that are never stored, and make\n"
            "arrays as long as they will be. The last two need a trace with events=reference.\n"};

enum step_status verb_advise(int argc, char **argv)
{
    struct site_reading reading = {.report = {.top = TOP_DEFAULT, .depth = DEPTH_DEFAULT},
                                   .is_for_review = true,
                                   .within = ADVICE_WITHIN_DEFAULT,
                                   .least_bytes = ADVICE_LEAST_DEFAULT,
                                   .needs_references = true};
    bool as_json = false;
    const struct option_row rows[] = {
        TOP_ROW(&reading.report.top),
        DEPTH_ROW(&reading.report.depth),
        {"least", 0, "SIZE", "advice with at least so many bytes at stake (64k)", take_size,
         &reading.least_bytes},
        {"within", 0, "N", "reuse: objects that die before the next N of their site (8)",
         take_count, &reading.within},
        {"young", 0, "SIZE",
         "pretenure: a collection for each SIZE allocated, not those of the trace", take_size,
         &reading.young_bytes},
        {"json", 0, NULL, "as JSON", take_flag, &as_json},
        REVIEW_ROWS(&reading.files),
        FROM_ROW(&reading.from),
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(advise_help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    reading.print = as_json ? advice_print_json : advice_print_text;
    return read_sites(&reading, arguments.operands[0]);
}

/* ---- escape ---- */

static const struct verb_help escape_help = {
    .name = "escape",
    .operands = "IN --jit-log=FILE [OPTION]...",
    .text = "Shows which allocations of a trace the JIT compiler C2 removes (escape analysis), as\n"
            "the log of an untraced run has it (-XX:+LogCompilation): by class and bytecode\n"
            "index, at most so many objects, and an estimate. Record the trace with\n"
            "engine=jvmti,stack=4,places=bytecode and -XX:TieredStopAtLevel=1.\n"};

/* The property of a trace, or an empty text. */
static const char *property(const struct input *input, const char *name)
{
    const char *value = event_source_property(input->source, name).unshown;
    return value != NULL ? value : "";
}

/* C1 removes nothing.  C2 without escape analysis still does: objects that nothing uses. */
static bool is_without_c2(const char *command_line)
{
    static const char option[] = "-XX:TieredStopAtLevel=";
    const char *at = strstr(command_line, option);
    return at != NULL && strchr("0123", at[sizeof option - 1]) != NULL &&
           at[sizeof option - 1] != '\0';
}

static bool accepts(struct site_reading *reading, const struct input *input, const char *path)
{
    const char *options = property(input, "options"), *engine = property(input, "engine");
    const char *fault = NULL;
    if (input->allocs != NULL)
        fault = "the trace is of a native program: no JIT compiler";
    else if (strcmp(engine, "jvmti") != 0 || strstr(options, "places=bytecode") == NULL)
        fault = "its call stacks have no bytecode indexes: record it with "
                "-O engine=jvmti,stack=4,places=bytecode";
    if (fault != NULL) {
        report_unfit(path, fault);
        return false;
    }
    if (!is_without_c2(property(input, "command-line")) &&
        strstr(property(input, "java-vm-info"), "interpreted mode") == NULL)
        reading->report.not_source = "recorded without -XX:TieredStopAtLevel=1, so C2 removed some";
    return true;
}

static enum step_status no_log(void)
{
    report_line("escape: --jit-log=FILE is needed, a log of -XX:+UnlockDiagnosticVMOptions "
                "-XX:+LogCompilation");
    return STEP_STATUS_INVALID;
}

enum step_status verb_escape(int argc, char **argv)
{
    struct jit_log log;
    struct site_reading reading = {.report = {.top = TOP_DEFAULT, .jit = &log}, .accepts = accepts};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    const char *path = NULL;
    bool as_json = false;
    const struct option_row rows[] = {{"jit-log", 0, "FILE",
                                       "the log of -XX:+LogCompilation of an untraced run",
                                       take_text, &path},
                                      TOP_ROW(&reading.report.top),
                                      {"json", 0, NULL, "as JSON", take_flag, &as_json},
                                      MEMORY_ROW};
    struct arguments arguments = ARGUMENTS_OF(escape_help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    if (path == NULL)
        return no_log();
    reading.print = as_json ? escape_print_json : escape_print_text;
    enum step_status read = jit_log_read(&log, path, &error);
    if (read != STEP_STATUS_OK)
        report_error(&error);
    enum step_status status = read;
    if (read == STEP_STATUS_OK || read == STEP_STATUS_CUT)
        status = read_sites(&reading, arguments.operands[0]);
    jit_log_reset(&log);
    return status != STEP_STATUS_OK ? status : read;
}
