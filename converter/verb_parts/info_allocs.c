/* SPDX-License-Identifier: Apache-2.0 */
/* Records by tag, and what the paper's Table 3 has: allocations, bytes, and the most that lived. */
#include "converter/verb_parts/info_allocs.h"
#include "converter/base/error_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "converter/base/address_map.h"
#include "converter/base/name_index.h"
#include "converter/base/no_memory.h"
#include "converter/base/quantity.h"
#include "converter/verb_parts/info_head.h"
#include "format/json/json_output.h"

struct alloc_facts {
    uint64_t tags[HATF_TAG_COUNT];
    uint64_t record_count; /* of data */
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

static bool follow(struct alloc_facts *facts, const struct hatf_record *record)
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

static enum step_status take(void *user, const struct hatf_record *record, struct step_error *error)
{
    struct alloc_facts *facts = user;
    facts->tags[record->tag]++;
    if (record->tag == HATF_COMMENT)
        return STEP_STATUS_OK;
    if (facts->record_count++ == 0 || record->time < facts->first_ns)
        facts->first_ns = record->time;
    if (record->time > facts->last_ns)
        facts->last_ns = record->time;
    bool ok = follow(facts, record) && count_name(&facts->threads, record->thread) &&
              (!hatf_tag_has(record->tag, HATF_HEAP) || count_name(&facts->heaps, record->heap));
    return ok ? STEP_STATUS_OK : no_memory(error);
}

static double bytes_per_record(const struct alloc_facts *facts, const struct trace_summary *summary)
{
    return facts->record_count > 0 ? (double) summary->file_bytes / (double) facts->record_count
                                   : 0.0;
}

static void print_row(const char *label, uint64_t value)
{
    printf("%-14s %s\n", label, quantity_of_count(value).text);
}

static void print_text(const struct alloc_facts *facts, const struct input *input, const char *path,
                       const struct trace_summary *summary)
{
    print_shown_label("trace", stdout);
    print_shown_text(path, stdout);
    printf("\n%-14s %s, %s bytes, %.3f a record\n", "format", summary->format,
           quantity_of_count(summary->file_bytes).text, bytes_per_record(facts, summary));
    info_print_state(input->source, summary);
    print_row("records", facts->record_count);
    for (unsigned tag = 0; tag < HATF_COMMENT; tag++)
        if (facts->tags[tag] > 0)
            printf("  %-18s %15s\n", hatf_tag_name((enum hatf_tag) tag),
                   quantity_of_count(facts->tags[tag]).text);
    print_row("comments", facts->tags[HATF_COMMENT]);
    print_row("threads", facts->threads.count);
    print_row("heaps", facts->heaps.count);
    printf("%-14s %" PRIu64 " to %" PRIu64 " ns (%s)\n", "time", facts->first_ns, facts->last_ns,
           quantity_of_ns((double) (facts->last_ns - facts->first_ns)).text);
    print_row("bytes", facts->bytes);
    print_row("most objects", facts->most_objects);
    print_row("most bytes", facts->most_bytes);
    if (facts->tags[HATF_ALLOC] > 0)
        printf("%-14s %.1f bytes\n", "mean size",
               (double) facts->bytes / (double) facts->tags[HATF_ALLOC]);
    info_print_properties(input->source);
}

static void print_json(const struct alloc_facts *facts, const struct input *input, const char *path,
                       const struct trace_summary *summary)
{
    struct json_output json;
    json_init(&json, stdout);
    json_begin_object(&json, NULL);
    json_text(&json, "trace", path);
    json_text(&json, "format", summary->format);
    json_number(&json, "file_bytes", summary->file_bytes);
    info_put_state(&json, input->source, summary);
    json_number(&json, "records", facts->record_count);
    json_real(&json, "bytes_per_record", bytes_per_record(facts, summary));
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
    info_put_properties(&json, input->source);
    json_end_object(&json);
    json_finish(&json);
}

enum step_status info_allocs(struct input *input, const char *path, bool json)
{
    struct alloc_facts facts = {.record_count = 0};
    struct trace_summary summary;
    enum step_status status = STEP_STATUS_NO_MEMORY;
    if (name_index_init(&facts.threads) && name_index_init(&facts.heaps))
        status = input_each_alloc(input, take, &facts);
    else
        report_line("out of memory");
    if (status == STEP_STATUS_OK) {
        alloc_source_summary(input->allocs, &summary);
        if (json)
            print_json(&facts, input, path, &summary);
        else
            print_text(&facts, input, path, &summary);
        status = input_report_damage(input);
    }
    address_map_reset(&facts.live);
    name_index_reset(&facts.threads);
    name_index_reset(&facts.heaps);
    return status;
}
