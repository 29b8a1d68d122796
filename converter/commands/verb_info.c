/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace info: prints a summary of a trace. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "converter/cli/error_report.h"
#include "converter/cli/verb.h"
#include "converter/containers/address_map.h"
#include "converter/containers/name_index.h"
#include "converter/containers/no_memory.h"
#include "converter/files/sampled_trace.h"
#include "converter/formats/input.h"
#include "converter/formats/metatf/metatf_records.h"
#include "converter/numbers/quantity.h"
#include "converter/records/record_dump.h"
#include "format/json/json_output.h"

VERB(info);

static double per_item(const struct trace_summary *summary, uint64_t count)
{
    return count > 0 ? (double) summary->file_bytes / (double) count : 0.0;
}

/* ---- lines and members that all traces have ---- */

static void print_label(const char *label)
{
    printf("%-14s ", label);
}

/* Escapes line feeds and other characters that would break the table. */
static void print_value(const char *value)
{
    print_shown_text(value, stdout);
    putchar('\n');
}

static void verb_info_print_row(const char *label, uint64_t value)
{
    print_label(label);
    printf("%s\n", quantity_of_count(value).text);
}

/* A row without a label, for a record type. */
static void verb_info_print_type(uint64_t count, const char *name)
{
    printf("  %18s  ", quantity_of_count(count).text);
    print_value(name);
}

static void print_times(uint64_t first_ns, uint64_t last_ns)
{
    print_label("time");
    printf("%" PRIu64 " to %" PRIu64 " ns (%s)\n", first_ns, last_ns,
           quantity_of_ns((double) (last_ns - first_ns)).text);
}

static void print_trace(const char *path, const struct trace_summary *summary, uint64_t count,
                        const char *unit)
{
    print_label("trace");
    print_value(path);
    print_label("format");
    printf("%s, %s bytes", summary->format, quantity_of_count(summary->file_bytes).text);
    if (unit != NULL)
        printf(", %.3f %s", per_item(summary, count), unit);
    putchar('\n');
}

static bool is_whole(const struct event_source *source, const struct trace_summary *summary)
{
    return summary->whole && trace_damage_count(&source->about) == 0;
}

static void print_sampling(const struct event_source *source)
{
    uint64_t interval_bytes = event_source_sample_interval(source);
    if (interval_bytes != 0)
        printf("%-14s a sample: one in %s allocated, on average\n", "objects",
               quantity_of_bytes((double) interval_bytes).text);
}

static void print_state(const struct event_source *source, const struct trace_summary *summary)
{
    size_t damage = trace_damage_count(&source->about);
    print_label("state");
    if (is_whole(source, summary))
        printf("whole");
    else if (damage > 0)
        printf("damaged in %zu place%s", damage, damage == 1 ? "" : "s");
    else if (summary->running)
        printf("running: its process still writes it, and not all of it has reached the file");
    else
        printf("cut");
    if (summary->recovered > 0)
        printf(", %s records taken from the live file", quantity_of_count(summary->recovered).text);
    putchar('\n');
    print_sampling(source);
}

static void put_damage(struct json_output *json, const struct event_source *source)
{
    json_begin_array(json, "damage");
    for (size_t i = 0; i < trace_damage_count(&source->about); i++) {
        const struct step_damage *damage = trace_damage(&source->about, i);
        json_begin_object(json, NULL);
        if (damage->offset != STEP_NO_OFFSET)
            json_number(json, "offset", damage->offset);
        json_number(json, "length", damage->length);
        json_text(json, "message", damage->message);
        json_end_object(json);
    }
    json_end_array(json);
}

static void begin_json(struct json_output *json, const char *path,
                       const struct event_source *source, const struct trace_summary *summary)
{
    json_open(json, stdout);
    json_text(json, "trace", path);
    json_text(json, "format", summary->format);
    json_number(json, "file_bytes", summary->file_bytes);
    json_bool(json, "whole", is_whole(source, summary));
    json_bool(json, "running", summary->running);
    json_number(json, "recovered", summary->recovered);
    put_damage(json, source);
}

static void print_properties(const struct event_source *source)
{
    struct trace_property property;
    for (size_t i = 0; (property = trace_property_of(&source->about, i)).key.unshown != NULL; i++) {
        print_shown_label(property.key.unshown, stdout);
        trace_text_print(property.value, stdout);
        putchar('\n');
    }
}

static void put_properties(struct json_output *json, const struct event_source *source)
{
    json_begin_object(json, "properties");
    struct trace_property property;
    for (size_t i = 0; (property = trace_property_of(&source->about, i)).key.unshown != NULL; i++)
        trace_text_put_json(property.value, json, property.key.unshown);
    json_end_object(json);
}

/* ---- heap traces ---- */

/* ---- records by tag, and the figures of the paper's Table 3: allocations, bytes, and maximum live
 * amounts ---- */

struct alloc_facts {
    uint64_t tags[HATF_TAG_COUNT];
    uint64_t record_count; /* of data records */
    uint64_t first_ns;
    uint64_t last_ns;
    uint64_t bytes; /* allocated */
    struct address_map live;
    uint64_t most_objects;
    uint64_t most_bytes;
    struct name_index threads;
    struct name_index heaps;
};

static bool count_name(struct name_index *index, uint64_t number)
{
    static const struct step_bytes nothing = {(const uint8_t *) "", 0};
    bool is_new;
    return name_index_put(index, number, nothing, &is_new) != 0;
}

static bool add_block(struct alloc_facts *facts, const struct hatf_record *record)
{
    return address_map_put(&facts->live, &(struct address_block){.address = record->address,
                                                                 .size = record->size,
                                                                 .heap = record->heap});
}

static bool verb_info_follow(struct alloc_facts *facts, const struct hatf_record *record)
{
    bool ok = true;
    if (record->tag == HATF_ALLOC) {
        facts->bytes += record->size;
        ok = add_block(facts, record);
    } else if (record->tag == HATF_FREE) {
        address_map_remove(&facts->live, record->address);
    } else if (record->tag == HATF_REALLOC_NO_ALLOC && record->new_address == record->address) {
        ok = add_block(facts, record);
    } else if (record->tag == HATF_DESTROY_HEAP) {
        address_map_remove_heap(&facts->live, record->heap);
    }
    if (facts->live.count > facts->most_objects)
        facts->most_objects = facts->live.count;
    if (facts->live.bytes > facts->most_bytes)
        facts->most_bytes = facts->live.bytes;
    return ok;
}

static enum step_status verb_info_take(void *user, const struct hatf_record *record,
                                       struct step_error *error)
{
    struct alloc_facts *facts = user;
    facts->tags[record->tag]++;
    if (record->tag == HATF_COMMENT)
        return STEP_STATUS_OK;
    if (facts->record_count++ == 0 || record->time < facts->first_ns)
        facts->first_ns = record->time;
    if (record->time > facts->last_ns)
        facts->last_ns = record->time;
    bool ok = verb_info_follow(facts, record) && count_name(&facts->threads, record->thread) &&
              (!hatf_tag_has(record->tag, HATF_HEAP) || count_name(&facts->heaps, record->heap));
    return ok ? STEP_STATUS_OK : no_memory(error);
}

static void allocs_print_text(const struct alloc_facts *facts, const struct input *input,
                              const char *path, const struct trace_summary *summary)
{
    print_trace(path, summary, facts->record_count, "a record");
    print_state(input->source, summary);
    verb_info_print_row("records", facts->record_count);
    for (unsigned tag = 0; tag < HATF_COMMENT; tag++)
        if (facts->tags[tag] > 0)
            printf("  %-18s %15s\n", hatf_tag_name((enum hatf_tag) tag),
                   quantity_of_count(facts->tags[tag]).text);
    verb_info_print_row("comments", facts->tags[HATF_COMMENT]);
    verb_info_print_row("threads", facts->threads.count);
    verb_info_print_row("heaps", facts->heaps.count);
    print_times(facts->first_ns, facts->last_ns);
    verb_info_print_row("bytes", facts->bytes);
    verb_info_print_row("most objects", facts->most_objects);
    verb_info_print_row("most bytes", facts->most_bytes);
    if (facts->tags[HATF_ALLOC] > 0)
        printf("%-14s %.1f bytes\n", "mean size",
               (double) facts->bytes / (double) facts->tags[HATF_ALLOC]);
    print_properties(input->source);
}

static void allocs_print_json(const struct alloc_facts *facts, const struct input *input,
                              const char *path, const struct trace_summary *summary)
{
    struct json_output json;
    begin_json(&json, path, input->source, summary);
    json_number(&json, "records", facts->record_count);
    json_real(&json, "bytes_per_record", per_item(summary, facts->record_count));
    json_begin_object(&json, "tags");
    for (unsigned tag = 0; tag < HATF_METADATA; tag++)
        json_number(&json, hatf_tag_name((enum hatf_tag) tag), facts->tags[tag]);
    json_end_object(&json);
    json_number(&json, "threads", facts->threads.count);
    json_number(&json, "heaps", facts->heaps.count);
    json_number(&json, "first_ns", facts->first_ns);
    json_number(&json, "last_ns", facts->last_ns);
    json_number(&json, "bytes", facts->bytes);
    json_number(&json, "most_objects", facts->most_objects);
    json_number(&json, "most_bytes", facts->most_bytes);
    put_properties(&json, input->source);
    json_close(&json);
}

/* Reads the trace, prints the summary, and reports damage. */
static enum step_status info_allocs(struct input *input, const char *path, bool json)
{
    struct alloc_facts facts = {.record_count = 0};
    enum step_status status = input_each_alloc(input, verb_info_take, &facts);
    if (status == STEP_STATUS_OK) {
        struct trace_summary summary = trace_summary_of(&input->allocs->about);
        if (json)
            allocs_print_json(&facts, input, path, &summary);
        else
            allocs_print_text(&facts, input, path, &summary);
        status = input_report_damage(input);
    }
    address_map_reset(&facts.live);
    name_index_reset(&facts.threads);
    name_index_reset(&facts.heaps);
    return status;
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
    verb_info_print_row("events", info->event_count);
    for (unsigned i = 0; i < EVENT_KIND_COUNT; i++)
        if (info->inventory.kinds[i] > 0)
            printf("  %s %15s  %s\n", step_text_kind_name((enum step_text_kind) i),
                   quantity_of_count(info->inventory.kinds[i]).text, texts[i]);
}

/* Prints each record type of a trace that is not of Java. */
static void print_types(const struct info *info)
{
    const struct step_definition *definition = info->inventory.definition;
    verb_info_print_row("events", info->event_count);
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
    verb_info_print_row("other records", all - known);
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
    print_label(*count == 1 ? "not probed" : "");
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
        print_label("");
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
        verb_info_print_row("classes", inventory->classes);
    if (inventory->methods > 0)
        verb_info_print_row("methods", inventory->methods);
    if (is_of_program)
        verb_info_print_row("threads", inventory->threads);
    if (event_source_has_times(info->source)) {
        print_times(inventory->first_ns, inventory->last_ns);
    } else {
        print_label("time");
        printf("not recorded; events are numbered %" PRIu64 " to %" PRIu64 " by collections\n",
               inventory->first_ns, inventory->last_ns);
    }
    if (inventory->block_count > 0) {
        print_label("blocks");
        printf("%s in %s streams\n", quantity_of_count(inventory->block_count).text,
               quantity_of_count(inventory->stream_count).text);
    }
}

static void verb_info_print_text(const struct info *info, const char *path)
{
    print_trace(path, &info->summary, info->event_count, info->event_count > 0 ? "an event" : NULL);
    print_state(info->source, &info->summary);
    if (event_source_is_of_records(info->source))
        print_types(info);
    else
        print_kinds(info);
    print_others(info);
    verb_info_print_numbers(info);
    print_properties(info->source);
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
    begin_json(&json, path, info->source, &info->summary);
    json_number(&json, "events", info->event_count);
    json_real(&json, "bytes_per_event", per_item(&info->summary, info->event_count));
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
    put_properties(&json, info->source);
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
