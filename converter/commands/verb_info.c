/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace info: prints a summary of a trace; here, of one of events. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "converter/cli/error_report.h"
#include "converter/cli/verb.h"
#include "converter/commands/info_print.h"
#include "converter/formats/input.h"
#include "converter/formats/metatf/metatf_records.h"
#include "converter/numbers/quantity.h"
#include "converter/records/record_dump.h"
#include "format/json/json_output.h"

VERB(info);

/* A row without a label, for a record type. */
static void verb_info_print_type(uint64_t count, const char *name)
{
    printf("  %18s  ", quantity_of_count(count).text);
    info_print_value(name);
}

static const struct verb_help help = {
    "info", "IN [OPTION]...",
    "Prints what a trace contains: events by kind, classes, methods, threads, time span,\n"
    "bytes per event, how it was recorded, and whether it is complete. For STEP traces\n"
    "the index is read and all checksums are verified, but no event is decoded.\n"};

#define NOT_PROBED_TOLD 20u

struct info {
    const struct input *input;
    const struct event_source *source;
    struct trace_summary summary;
    struct trace_inventory inventory;
    uint64_t event_count;
};

/* ---- gathering ---- */

static enum step_status count_events(void *user, const struct trace_event *events, size_t count,
                                     struct step_error *error)
{
    struct trace_inventory *inventory = user;
    (void) error;
    for (size_t i = 0; i < count; i++) {
        bool is_first = inventory->block_count == 0;
        inventory->block_count = 1;
        if (is_first || events[i].time_ns < inventory->first_ns)
            inventory->first_ns = events[i].time_ns;
        if (events[i].time_ns > inventory->last_ns)
            inventory->last_ns = events[i].time_ns;
        inventory->kinds[events[i].kind]++;
    }
    return STEP_STATUS_OK;
}

static uint64_t names_in(const struct id_table *table)
{
    return table->end > 0 ? table->end - 1 : 0;
}

/* In other definitions, events are the records with `<property:"event">`. */
static void count_marked(struct info *info)
{
    const struct step_definition *definition = info->inventory.definition;
    for (size_t i = 0; definition != NULL && i < definition->record_count; i++)
        if (step_attributes_rule(&definition->records[i].attributes, "property", "event", NULL,
                                 NULL))
            info->event_count += info->inventory.records[i];
}

static enum step_status verb_info_gather(struct info *info, struct input *input)
{
    const struct event_source *source = input->source;
    enum step_status status;
    info->input = input;
    info->source = source;
    if (source->operations->inventory != NULL) {
        status = source->operations->inventory(input->source, &info->inventory);
        if (status != STEP_STATUS_OK)
            report_line("%s: %s", source->path, step_status_text(status));
    } else {
        status = input_each(input, count_events, &info->inventory);
        info->inventory.block_count = 0;
        info->inventory.classes = names_in(&source->names.classes);
        info->inventory.methods = names_in(&source->names.methods);
        info->inventory.threads = names_in(&source->names.threads);
    }
    info->summary = trace_summary_of(&source->about);
    for (unsigned i = 0; i < EVENT_KIND_COUNT; i++)
        info->event_count += info->inventory.kinds[i];
    if (event_source_is_of_records(source))
        count_marked(info);
    return status;
}

/* ---- as text ---- */

static void print_kinds(const struct info *info)
{
    static const char *const texts[EVENT_KIND_COUNT] = {
        "VM start",          "VM init",     "VM death",     "class load",
        "object allocation", "object free", "thread start", "thread end",
        "method entry",      "method exit", "frame popped"};
    info_print_row("events", info->event_count);
    for (unsigned i = 0; i < EVENT_KIND_COUNT; i++)
        if (info->inventory.kinds[i] > 0)
            printf("  %s %15s  %s\n", step_text_kind_name((enum step_text_kind) i),
                   quantity_of_count(info->inventory.kinds[i]).text, texts[i]);
}

/* Prints each record type of a trace that is not of Java. */
static void print_types(const struct info *info)
{
    const struct step_definition *definition = info->inventory.definition;
    info_print_row("events", info->event_count);
    for (size_t i = 0; i < definition->record_count; i++)
        if (info->inventory.records[i] > 0)
            verb_info_print_type(info->inventory.records[i], definition->records[i].name);
}

/* Prints record types that are not StepTrace events. */
static void print_others(const struct info *info)
{
    const struct step_definition *definition = info->inventory.definition;
    uint64_t known = info->event_count;
    uint64_t all = 0;
    for (size_t i = 0; definition != NULL && i < definition->record_count; i++)
        all += info->inventory.records[i];
    if (all <= known)
        return;
    info_print_row("other records", all - known);
    for (size_t i = 0; i < definition->record_count && !event_source_is_of_records(info->source);
         i++)
        if (info->inventory.records[i] > 0 && !info->inventory.is_event[i])
            verb_info_print_type(info->inventory.records[i], definition->records[i].name);
}

static enum step_status print_not_probed(void *user, const struct trace_fact *fact)
{
    uint64_t *count = user;
    static const char *const missing[] = {"", "method events", "allocations",
                                          "method events and allocations", "stores of references"};
    const size_t last = sizeof missing / sizeof missing[0] - 1;
    if (fact->kind != TRACE_NOT_PROBED || ++*count > NOT_PROBED_TOLD)
        return STEP_STATUS_OK;
    info_print_label(*count == 1 ? "not probed" : "");
    print_shown(fact->class_name, stdout);
    if (fact->method_name.length > 0)
        putchar('.');
    print_shown(fact->method_name, stdout);
    print_shown(fact->descriptor, stdout);
    printf(" (%s: ", missing[fact->missing <= last ? fact->missing : 0]);
    print_shown(fact->reason, stdout);
    printf(")\n");
    return STEP_STATUS_OK;
}

/* Prints the methods and classes that the agent could not instrument. */
static enum step_status print_gaps(const struct info *info)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    uint64_t count = 0;
    enum step_status status =
        event_source_facts(info->input->source, print_not_probed, &count, &error);
    if (status != STEP_STATUS_OK)
        return report_error(&error);
    if (count > NOT_PROBED_TOLD) {
        info_print_label("");
        printf("and %s more (steptrace dump --record NotProbed)\n",
               quantity_of_count(count - NOT_PROBED_TOLD).text);
    }
    return status;
}

static void verb_info_print_numbers(const struct info *info)
{
    const struct trace_inventory *inventory = &info->inventory;
    bool is_of_program = !event_source_is_of_records(info->source);
    if (is_of_program)
        info_print_row("classes", inventory->classes);
    if (inventory->methods > 0)
        info_print_row("methods", inventory->methods);
    if (is_of_program)
        info_print_row("threads", inventory->threads);
    if (event_source_has_times(info->source)) {
        info_print_times(inventory->first_ns, inventory->last_ns);
    } else {
        info_print_label("time");
        printf("not recorded; events are numbered %" PRIu64 " to %" PRIu64 " by collections\n",
               inventory->first_ns, inventory->last_ns);
    }
    if (inventory->block_count > 0) {
        info_print_label("blocks");
        printf("%s in %s streams\n", quantity_of_count(inventory->block_count).text,
               quantity_of_count(inventory->stream_count).text);
    }
}

static void verb_info_print_text(const struct info *info, const char *path)
{
    info_print_trace(path, &info->summary, info->event_count,
                     info->event_count > 0 ? "an event" : NULL);
    info_print_state(info->source, &info->summary);
    if (event_source_is_of_records(info->source))
        print_types(info);
    else
        print_kinds(info);
    print_others(info);
    verb_info_print_numbers(info);
    info_print_properties(info->source);
}

/* ---- as JSON ---- */

static void verb_info_put_records(struct json_output *json, const struct trace_inventory *inventory)
{
    if (inventory->definition == NULL)
        return;
    json_begin_object(json, "records");
    for (size_t i = 0; i < inventory->definition->record_count; i++)
        if (inventory->records[i] > 0)
            json_number(json, inventory->definition->records[i].name, inventory->records[i]);
    json_end_object(json);
    json_number(json, "blocks", inventory->block_count);
    json_number(json, "streams", inventory->stream_count);
}

static enum step_status put_not_probed(void *user, const struct trace_fact *fact)
{
    struct json_output *json = user;
    if (fact->kind != TRACE_NOT_PROBED)
        return STEP_STATUS_OK;
    json_begin_object(json, NULL);
    json_bytes(json, "class", fact->class_name);
    json_bytes(json, "method", fact->method_name);
    json_bytes(json, "descriptor", fact->descriptor);
    json_bytes(json, "reason", fact->reason);
    json_number(json, "missing", fact->missing);
    json_end_object(json);
    return STEP_STATUS_OK;
}

static enum step_status verb_info_print_json(const struct info *info, const char *path)
{
    const struct trace_inventory *inventory = &info->inventory;
    struct json_output json;
    info_json_begin(&json, path, info->source, &info->summary);
    json_number(&json, "events", info->event_count);
    json_real(&json, "bytes_per_event", info_bytes_per_item(&info->summary, info->event_count));
    json_begin_object(&json, "kinds");
    for (unsigned i = 0; i < EVENT_KIND_COUNT; i++)
        json_number(&json, step_text_kind_name((enum step_text_kind) i), inventory->kinds[i]);
    json_end_object(&json);
    verb_info_put_records(&json, inventory);
    json_number(&json, "classes", inventory->classes);
    json_number(&json, "methods", inventory->methods);
    json_number(&json, "threads", inventory->threads);
    json_number(&json, "first_ns", inventory->first_ns);
    json_number(&json, "last_ns", inventory->last_ns);
    json_number(&json, "resolution_ns", info->summary.resolution_ns);
    info_put_properties(&json, info->source);
    json_begin_array(&json, "not_probed");
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status =
        event_source_facts(info->input->source, put_not_probed, &json, &error);
    json_end_array(&json);
    json_close(&json);
    return status == STEP_STATUS_OK ? status : report_error(&error);
}

static enum step_status verb_info_run(const char *path, const struct trace_format *from,
                                      const struct event_selection *selected, bool json)
{
    struct input input;
    struct info info = {.event_count = 0};
    enum step_status status = input_open(&input, path, from, selected);
    if (status != STEP_STATUS_OK)
        return status;
    switch (input.source->content) {
    case TRACE_OF_METATF_RECORDS:
        status = metatf_records_info(input.source->path, path, selected->dtd_path, json);
        input_close(&input);
        return status;
    case TRACE_OF_ALLOCATIONS:
        status = info_allocs(&input, path, json);
        input_close(&input);
        return status;
    default:
        status = verb_info_gather(&info, &input);
    }
    if (status == STEP_STATUS_OK) {
        if (json)
            status = verb_info_print_json(&info, path);
        else
            verb_info_print_text(&info, path);
        if (!json)
            status = print_gaps(&info);
        enum step_status damage = input_report_damage(&input);
        status = status == STEP_STATUS_OK ? damage : status;
    }
    free(info.inventory.records);
    free(info.inventory.is_event);
    input_close(&input);
    return status;
}

enum step_status verb_info(int argc, char **argv)
{
    bool json = false, definition = false;
    const struct trace_format *from = NULL;
    struct event_selection selected;
    event_selection_init(&selected);
    selected.needs_all = NULL;
    const struct option_row rows[] = {
        {"json", 0, NULL, "as JSON", take_flag, &json},
        FROM_ROW(&from),
        {"definition", 0, NULL,
         "print the definition of a STEP trace, or the DTD of a Meta-TF trace", take_flag,
         &definition},
        {"dtd", 0, "FILE", "DTD of a Meta-TF trace that does not contain it", take_text,
         &selected.dtd_path},
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    if (definition && trace_format_of(arguments.operands[0], from) == &format_mtf)
        return metatf_records_print_dtd(arguments.operands[0], selected.dtd_path);
    if (definition)
        return record_dump_definition(arguments.operands[0]);
    return verb_info_run(arguments.operands[0], from, &selected, json);
}
