/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace info: what is in a trace. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/error_report.h"
#include "converter/base/given_definition.h"
#include "converter/base/memory_limit.h"
#include "converter/base/quantity.h"
#include "converter/open/input.h"
#include "converter/records/metatf_records.h"
#include "converter/records/record_dump.h"
#include "converter/verb_parts/info_allocs.h"
#include "converter/verb_parts/info_head.h"
#include "converter/verbs/verb.h"
#include "format/json/json_output.h"

static const struct verb_help help = {
    "info", "IN [OPTION]...",
    "Tells what is in a trace: events by kind, classes, methods, threads, the time span,\n"
    "bytes an event, how it was made, and whether it is whole. STEP traces are told of by\n"
    "their index; all checksums are verified, but no event is decoded.\n"};

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

/* In other definitions events are the records with `<property:"event">`. */
static void count_marked(struct info *info)
{
    const struct step_definition *definition = info->inventory.definition;
    for (size_t i = 0; definition != NULL && i < definition->record_count; i++)
        if (step_attributes_rule(&definition->records[i].attributes, "property", "event", NULL,
                                 NULL))
            info->event_count += info->inventory.records[i];
}

static enum step_status gather(struct info *info, struct input *input)
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
    source->operations->summary(source, &info->summary);
    for (unsigned i = 0; i < EVENT_KIND_COUNT; i++)
        info->event_count += info->inventory.kinds[i];
    if (source->is_foreign)
        count_marked(info);
    return status;
}

static double bytes_per_event(const struct info *info)
{
    return info->event_count > 0 ? (double) info->summary.file_bytes / (double) info->event_count
                                 : 0.0;
}

/* ---- as text ---- */

#define LABEL "%-14s "

static void print_label(const char *label)
{
    printf(LABEL, label);
}

/* Line feeds and the like in a value do not break the table. */
static void print_value(const char *value)
{
    print_shown_text(value, stdout);
    putchar('\n');
}

static void print_kinds(const struct info *info)
{
    static const char *const texts[EVENT_KIND_COUNT] = {
        "VM start",          "VM init",     "VM death",     "class load",
        "object allocation", "object free", "thread start", "thread end",
        "method entry",      "method exit", "frame popped"};
    print_label("events");
    printf("%s\n", quantity_of_count(info->event_count).text);
    for (unsigned i = 0; i < EVENT_KIND_COUNT; i++)
        if (info->inventory.kinds[i] > 0)
            printf("  %s %15s  %s\n", step_text_kind_name((enum step_text_kind) i),
                   quantity_of_count(info->inventory.kinds[i]).text, texts[i]);
}

/* Each record type of a trace that is not of Java. */
static void print_types(const struct info *info)
{
    const struct step_definition *definition = info->inventory.definition;
    print_label("events");
    printf("%s\n", quantity_of_count(info->event_count).text);
    for (size_t i = 0; i < definition->record_count; i++)
        if (info->inventory.records[i] > 0) {
            printf("  %18s  ", quantity_of_count(info->inventory.records[i]).text);
            print_value(definition->records[i].name);
        }
}

/* Record types that are no events of ours. */
static void print_others(const struct info *info)
{
    const struct step_definition *definition = info->inventory.definition;
    uint64_t known = info->event_count;
    uint64_t all = 0;
    for (size_t i = 0; definition != NULL && i < definition->record_count; i++)
        all += info->inventory.records[i];
    if (all <= known)
        return;
    print_label("other records");
    printf("%s\n", quantity_of_count(all - known).text);
    for (size_t i = 0; i < definition->record_count && !info->source->is_foreign; i++)
        if (info->inventory.records[i] > 0 && !info->inventory.is_event[i]) {
            printf("  %18s  ", quantity_of_count(info->inventory.records[i]).text);
            print_value(definition->records[i].name);
        }
}

static enum step_status print_not_probed(void *user, const struct trace_fact *fact)
{
    uint64_t *count = user;
    static const char *const missing[] = {"", "method events", "allocations",
                                          "method events and allocations", "stores of references"};
    const size_t last = sizeof missing / sizeof missing[0] - 1;
    if (fact->kind != TRACE_NOT_PROBED || ++*count > NOT_PROBED_TOLD)
        return STEP_STATUS_OK;
    if (*count == 1)
        print_label("not probed");
    else
        print_label("");
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

/* The methods and classes that the agent could not trace. */
static enum step_status print_gaps(const struct info *info)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    uint64_t count = 0;
    enum step_status status =
        event_source_facts(info->input->source, print_not_probed, &count, &error);
    if (status != STEP_STATUS_OK)
        return report_error(&error);
    if (count > NOT_PROBED_TOLD) {
        print_label("");
        printf("and %s more (steptrace dump --record NotProbed)\n",
               quantity_of_count(count - NOT_PROBED_TOLD).text);
    }
    return status;
}

static void print_numbers(const struct info *info)
{
    const struct trace_inventory *inventory = &info->inventory;
    if (!info->source->is_foreign) {
        print_label("classes");
        printf("%s\n", quantity_of_count(inventory->classes).text);
    }
    if (inventory->methods > 0) {
        print_label("methods");
        printf("%s\n", quantity_of_count(inventory->methods).text);
    }
    if (!info->source->is_foreign) {
        print_label("threads");
        printf("%s\n", quantity_of_count(inventory->threads).text);
    }
    print_label("time");
    if (event_source_has_times(info->source))
        printf("%" PRIu64 " to %" PRIu64 " ns (%s)\n", inventory->first_ns, inventory->last_ns,
               quantity_of_ns((double) (inventory->last_ns - inventory->first_ns)).text);
    else
        printf("not recorded; events are numbered %" PRIu64 " to %" PRIu64 " by collections\n",
               inventory->first_ns, inventory->last_ns);
    if (inventory->block_count > 0) {
        print_label("blocks");
        printf("%s in %s streams\n", quantity_of_count(inventory->block_count).text,
               quantity_of_count(inventory->stream_count).text);
    }
}

static void print_text(const struct info *info, const char *path)
{
    print_label("trace");
    print_value(path);
    print_label("format");
    printf("%s, %s bytes", info->summary.format, quantity_of_count(info->summary.file_bytes).text);
    if (info->event_count > 0)
        printf(", %.3f an event", bytes_per_event(info));
    putchar('\n');
    info_print_state(info->source, &info->summary);
    if (info->source->is_foreign)
        print_types(info);
    else
        print_kinds(info);
    print_others(info);
    print_numbers(info);
    info_print_properties(info->source);
}

/* ---- as JSON ---- */

static void put_records(struct json_output *json, const struct trace_inventory *inventory)
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

static enum step_status print_json(const struct info *info, const char *path)
{
    const struct trace_inventory *inventory = &info->inventory;
    struct json_output json;
    json_init(&json, stdout);
    json_begin_object(&json, NULL);
    json_text(&json, "trace", path);
    json_text(&json, "format", info->summary.format);
    json_number(&json, "file_bytes", info->summary.file_bytes);
    info_put_state(&json, info->source, &info->summary);
    json_number(&json, "events", info->event_count);
    json_real(&json, "bytes_per_event", bytes_per_event(info));
    json_begin_object(&json, "kinds");
    for (unsigned i = 0; i < EVENT_KIND_COUNT; i++)
        json_number(&json, step_text_kind_name((enum step_text_kind) i), inventory->kinds[i]);
    json_end_object(&json);
    put_records(&json, inventory);
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
    json_end_object(&json);
    json_finish(&json);
    return status == STEP_STATUS_OK ? status : report_error(&error);
}

static enum step_status run(const char *path, const struct trace_format *from,
                            const struct event_selection *selected, bool json)
{
    struct input input;
    struct info info = {.event_count = 0};
    enum step_status status = input_open(&input, path, from, selected);
    if (status != STEP_STATUS_OK)
        return status;
    if (input.source->is_foreign && metatf_records_are_meant(input.source->path, from)) {
        status = metatf_records_info(input.source->path, path, selected->dtd_path, json);
        input_close(&input);
        return status;
    }
    if (input.allocs != NULL) {
        status = info_allocs(&input, path, json);
        input_close(&input);
        return status;
    }
    status = gather(&info, &input);
    if (status == STEP_STATUS_OK) {
        if (json)
            status = print_json(&info, path);
        else
            print_text(&info, path);
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
    const struct option_row rows[] = {
        {"json", 0, NULL, "as JSON", take_flag, &json},
        FROM_ROW(&from),
        {"definition", 0, NULL, "the definition of a STEP trace, or a Meta-TF trace's DTD",
         take_flag, &definition},
        {"dtd", 0, "FILE", "the DTD of a Meta-TF trace that does not carry it", take_text,
         &selected.dtd_path},
        DEFINITION_ROW,
        MEMORY_ROW};
    struct arguments arguments = {
        .help = &help, .rows = rows, .row_count = sizeof rows / sizeof rows[0]};
    enum step_status status;
    if (!arguments_read(&arguments, argc, argv, 1, 1, &status))
        return status;
    if (definition && metatf_records_are_meant(arguments.operands[0], from))
        return metatf_records_print_dtd(arguments.operands[0], selected.dtd_path);
    if (definition)
        return record_dump_definition(arguments.operands[0]);
    return run(arguments.operands[0], from, &selected, json);
}
