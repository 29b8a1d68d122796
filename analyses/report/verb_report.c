/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace report: writes a trace as one HTML page. */
#include <string.h>

#include "analyses/page/pages.h"
#include "analyses/report/report_data.h"
#include "converter/cli/verb.h"
#include "converter/files/sampled_trace.h"
#include "converter/formats/input.h"
#include "converter/output/output_file.h"
#include "converter/recorders/recording.h"
#include "converter/records/record_dump.h"
#include "converter/trace/selection_options.h"

VERB(report);

#define ROWS_DEFAULT UINT64_C(1000)
#define ROWS_MOST UINT64_C(5000)

static const struct verb_help help = {
    .name = "report",
    .operands = "IN -o REPORT.html [OPTION]...",
    .text = "Writes one self-contained HTML page: summary, live heap over time, allocation sites\n"
            "(if the trace has call stacks), the heap at a moment, classes, leaks, lifetimes,\n"
            "threads and methods. The page needs no network and works in any browser.\n"};

struct report_request {
    const char *output;
    const struct trace_format *from;
    struct heap_moment moment;
    bool has_moment; /* a moment was given */
    bool is_written; /* the page is there */
    struct event_selection selected;
    struct report_options report;
};

static bool take_report_moment(void *request_target, const char *value, const char **fault)
{
    struct report_request *request = request_target;
    request->has_moment = true;
    return take_moment(&request->moment, value, fault);
}

/* The address of a page, and not a script. */
static bool take_source_url(void *target, const char *value, const char **fault)
{
    static const char *const schemes[] = {"https://", "http://", "file://", "idea://", "vscode://"};
    *fault = "an address such as https://example.org/src/{path}#L{line} is expected";
    bool has_scheme = false;
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        has_scheme = has_scheme || strncmp(value, schemes[i], strlen(schemes[i])) == 0;
    *(const char **) target = value;
    return has_scheme && strstr(value, "{path}") != NULL;
}

struct page_data {
    const struct report_model *model;
    const struct report_retained *retained;
    const struct report_options *options;
};

static bool verb_report_put_data(const void *user, FILE *out)
{
    const struct page_data *page = user;
    return report_data_put(page->model, page->retained, page->options, out);
}

/* Adds the largest retained sizes and advice, if the whole trace is shown; some of it is known only
 * if the trace has references. */
static enum step_status write_with_references(const struct report_request *request,
                                              const char *path, const struct event_source *source,
                                              struct report_model *model, struct step_error *error)
{
    struct report_retained retained = {.is_known = false};
    struct step_reader *reader = NULL;
    struct seekable_path seekable = {0};
    enum step_status status = STEP_STATUS_OK;
    if (event_selection_is_all(&request->selected) && strcmp(path, "-") != 0 &&
        source->content == TRACE_OF_GRAPHS)
        status = stepfile_open(path, NULL, &reader, &seekable, error);
    if (status == STEP_STATUS_OK)
        status = report_advice_find(&model->advice, &source->names, reader, error);
    if (status == STEP_STATUS_OK && reader != NULL)
        status =
            report_retained_find(&retained, reader, &request->moment, request->report.top, error);
    if (status == STEP_STATUS_OK)
        status = report_page_write(request->output, report_page, verb_report_put_data,
                                   &(struct page_data){model, &retained, &request->report},
                                   &request->report, error);
    report_retained_reset(&retained);
    step_reader_destroy(reader);
    seekable_path_close(&seekable);
    return status;
}

static enum step_status write_exact(const struct report_request *request, const char *path,
                                    struct event_source *source, struct report_model *model,
                                    struct step_error *error)
{
    enum step_status status =
        event_selection_is_all(&request->selected)
            ? event_source_facts(source, statistics_put_fact, &model->statistics, error)
            : STEP_STATUS_OK;
    if (status == STEP_STATUS_OK)
        status = report_model_finish(model, error);
    if (status == STEP_STATUS_OK)
        status = report_phases_find(&model->phases, source, &model->timeline, error);
    return status == STEP_STATUS_OK ? write_with_references(request, path, source, model, error)
                                    : status;
}

static enum step_status write_sampled(const struct report_request *request,
                                      struct report_model *model, struct step_error *error)
{
    enum step_status status = report_model_finish(model, error);
    return status == STEP_STATUS_OK
               ? sampled_page_write(request->output, model, &request->report, error)
               : status;
}

/* Reports errors. */
static enum step_status verb_report_make_page(const struct report_request *request,
                                              const char *path, struct input *input,
                                              struct report_model *model)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = report_model_weigh(model, input->source, &error);
    if (status != STEP_STATUS_OK)
        return report_error(&error);
    status = input_each(input, report_model_put, model);
    if (status != STEP_STATUS_OK)
        return status;
    status = model->is_sampled ? write_sampled(request, model, &error)
                               : write_exact(request, path, input->source, model, &error);
    return status == STEP_STATUS_OK ? status : report_error(&error);
}

static enum step_status verb_report_run(struct report_request *request, const char *path)
{
    struct input input;
    struct report_model model;
    bool is_at_peak = request->has_moment && request->moment.kind == HEAP_AT_PEAK;
    request->selected.derives_stacks = true;
    request->selected.follows_calls = true;
    request->selected.needs_all = is_at_peak ? "the moment 'peak'" : NULL;
    enum step_status status = input_open(&input, path, request->from, &request->selected);
    if (status != STEP_STATUS_OK)
        return status;
    if (event_source_sample_interval(input.source) != 0 && !request->has_moment)
        request->moment.kind = HEAP_AT_END;
    bool ok = report_model_init(&model, input.source, &request->moment,
                                event_selection_is_all(&request->selected));
    model.statistics.from_ns = request->selected.from_ns;
    status = ok ? verb_report_make_page(request, path, &input, &model) : report_no_memory();
    report_model_reset(&model);
    request->is_written = status == STEP_STATUS_OK;
    if (status == STEP_STATUS_OK)
        status = input_report_damage(&input);
    input_close(&input);
    return status;
}

enum step_status verb_report(int argc, char **argv)
{
    struct report_request request = {.moment = {.kind = HEAP_AT_PEAK},
                                     .report = {.top = ROWS_DEFAULT, .is_name_given = true}};
    event_selection_init(&request.selected);
    const struct option_row rows[] = {
        {"output", 'o', "FILE", "the page; - is standard output", take_text, &request.output},
        {"at", 0, "MOMENT", "show the heap at: peak (default), end, gc:N, or a time",
         take_report_moment, &request},
        {"title", 0, "TEXT", "title of the page (the file name of the trace)", take_text,
         &request.report.title},
        {"source-url", 0, "URL", "link frames to their source: {path} and {line} stand for both",
         take_source_url, &request.report.source_url},
        {"top", 'n', "N", "most rows of each table (1000, at most 5000)", take_count,
         &request.report.top},
        FROM_ROW(&request.from),
        SELECTION_ROWS(&request.selected),
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    if (request.output == NULL)
        return arguments_fault(&arguments, "-o FILE is needed");
    if (request.report.top == 0 || request.report.top > ROWS_MOST)
        request.report.top = ROWS_MOST;
    return verb_report_run(&request, arguments.operands[0]);
}

static enum step_status write_default(struct report_request *request, const char *trace,
                                      bool *is_written)
{
    request->moment.kind = HEAP_AT_PEAK;
    request->report.top = ROWS_DEFAULT;
    event_selection_init(&request->selected);
    enum step_status status = verb_report_run(request, trace);
    *is_written = request->is_written;
    return status;
}

static enum step_status report_write_beside(const char *trace, const char *page, bool *is_written)
{
    struct report_request request = {.output = page};
    return write_default(&request, trace, is_written);
}

static enum step_status report_write_out(const char *trace, const char *title, bool *is_written)
{
    struct report_request request = {.output = "-",
                                     .report = {.title = title, .is_name_given = true}};
    return write_default(&request, trace, is_written);
}

const struct page_maker report_page_maker = {report_write_beside, report_write_out};
