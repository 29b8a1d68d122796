/* SPDX-License-Identifier: Apache-2.0 */
/* What `steptrace info` prints of a heap trace: records by tag, and the figures of the paper's
 * Table 3, which are allocations, bytes, and maximum live amounts. */
#include <stdio.h>

#include "converter/commands/info_print.h"
#include "converter/containers/address_map.h"
#include "converter/containers/name_index.h"
#include "converter/containers/no_memory.h"
#include "converter/numbers/quantity.h"

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

static bool info_allocs_follow(struct alloc_facts *facts, const struct hatf_record *record)
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

static enum step_status info_allocs_take(void *user, const struct hatf_record *record,
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
    bool ok = info_allocs_follow(facts, record) && count_name(&facts->threads, record->thread) &&
              (!hatf_tag_has(record->tag, HATF_HEAP) || count_name(&facts->heaps, record->heap));
    return ok ? STEP_STATUS_OK : no_memory(error);
}

static void allocs_print_text(const struct alloc_facts *facts, const struct input *input,
                              const char *path, const struct trace_summary *summary)
{
    info_print_trace(path, summary, facts->record_count, "a record");
    info_print_state(input->source, summary);
    info_print_row("records", facts->record_count);
    for (unsigned tag = 0; tag < HATF_COMMENT; tag++)
        if (facts->tags[tag] > 0)
            printf("  %-18s %15s\n", hatf_tag_name((enum hatf_tag) tag),
                   quantity_of_count(facts->tags[tag]).text);
    info_print_row("comments", facts->tags[HATF_COMMENT]);
    info_print_row("threads", facts->threads.count);
    info_print_row("heaps", facts->heaps.count);
    info_print_times(facts->first_ns, facts->last_ns);
    info_print_row("bytes", facts->bytes);
    info_print_row("most objects", facts->most_objects);
    info_print_row("most bytes", facts->most_bytes);
    if (facts->tags[HATF_ALLOC] > 0)
        printf("%-14s %.1f bytes\n", "mean size",
               (double) facts->bytes / (double) facts->tags[HATF_ALLOC]);
    info_print_properties(input->source);
}

static void allocs_print_json(const struct alloc_facts *facts, const struct input *input,
                              const char *path, const struct trace_summary *summary)
{
    struct json_output json;
    info_json_begin(&json, path, input->source, summary);
    json_number(&json, "records", facts->record_count);
    json_real(&json, "bytes_per_record", info_bytes_per_item(summary, facts->record_count));
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
    json_close(&json);
}

enum step_status info_allocs(struct input *input, const char *path, bool json)
{
    struct alloc_facts facts = {.record_count = 0};
    enum step_status status = input_each_alloc(input, info_allocs_take, &facts);
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
