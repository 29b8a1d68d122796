/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps: the dump note's own example, sums at every node, moments, peaks. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/heap/heap_dump.h"
#include "converter/heap/heap_tracker.h"
#include "tests/unit/run_suite.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* The note's table: rows are backtraces, columns the types T U V W (1 to 4). */
enum { ROOT, BR_MAIN, BR_INIT, BR_MSG_LP, RD_MAIN, RD_RTASK, RD_FN_A, RD_FN_B, COLD_FN, SITES };
static const uint32_t parents[SITES] = {0,       ROOT,    BR_MAIN, BR_MAIN, ROOT,
                                        RD_MAIN, RD_MAIN, RD_MAIN, ROOT};
static const uint64_t table[SITES][4] = {{2, 3, 5, 7},      {7, 11, 13, 2}, {151, 5, 3, 83},
                                         {307, 2, 281, 11}, {3, 7, 17, 2},  {211, 3, 5, 337},
                                         {2, 0, 7, 11},     {13, 3, 2, 5},  {2, 5, 7, 3}};

struct example {
    struct trace_names names;
    struct heap_sites sites;
    struct heap_snapshot snapshot;
};

static void make_example(struct example *example)
{
    trace_names_init(&example->names);
    CU_ASSERT_TRUE_FATAL(heap_sites_init(&example->sites, &example->names));
    for (uint32_t i = 1; i < SITES; i++) {
        const struct heap_site site = {.parent = parents[i], .method_id = i};
        CU_ASSERT_EQUAL(heap_sites_put(&example->sites, &site), i);
    }
    example->snapshot = (struct heap_snapshot){.has_sizes = true};
    example->snapshot.rows = calloc((size_t) SITES * 4, sizeof *example->snapshot.rows);
    CU_ASSERT_PTR_NOT_NULL_FATAL(example->snapshot.rows);
    for (uint32_t site = 0; site < SITES; site++)
        for (uint32_t type = 0; type < 4; type++)
            example->snapshot.rows[example->snapshot.count++] =
                (struct heap_row){.key = {type + 1, site, 0}, .live = {1, table[site][type], 0}};
}

static void reset_example(struct example *example)
{
    heap_snapshot_reset(&example->snapshot);
    heap_sites_reset(&example->sites);
    trace_names_reset(&example->names);
}

/* The dumped size; 0: it was not dumped.  Type 0: all. */
static uint64_t dumped(const struct heap_dump *dump, uint32_t site, bool self, uint32_t type)
{
    for (size_t i = 0; i < dump->count; i++)
        if (dump->entries[i].site == site && dump->entries[i].is_self == self &&
            dump->entries[i].has_class == (type != 0) && dump->entries[i].class_id == type)
            return dump->entries[i].bytes;
    return 0;
}

static void test_example_of_the_note(void)
{
    /* What the note dumps and shows; the limit lies between 44 and 83. */
    static const struct {
        uint32_t site, type;
        uint64_t bytes;
    } expected[] = {
        {ROOT, 0, 1538},    {BR_MAIN, 0, 876},  {RD_MAIN, 0, 628},   {ROOT, 1, 698},
        {ROOT, 3, 340},     {ROOT, 4, 461},     {BR_INIT, 0, 242},   {BR_MSG_LP, 0, 601},
        {BR_INIT, 1, 151},  {BR_INIT, 4, 83},   {BR_MSG_LP, 1, 307}, {BR_MSG_LP, 3, 281},
        {BR_MAIN, 1, 465},  {BR_MAIN, 3, 297},  {BR_MAIN, 4, 96},    {RD_RTASK, 0, 556},
        {RD_RTASK, 1, 211}, {RD_RTASK, 4, 337}, {RD_MAIN, 1, 229},   {RD_MAIN, 4, 355},
    };
    struct example example;
    struct heap_dump dump;
    const struct heap_dump_options options = {.with_classes = true, .least_bytes = 48};
    make_example(&example);
    CU_ASSERT_TRUE_FATAL(heap_dump_make(&example.sites, &example.snapshot, &options, &dump));
    CU_ASSERT_EQUAL(dump.count, LENGTH(expected));
    for (size_t i = 0; i < LENGTH(expected); i++)
        CU_ASSERT_EQUAL(dumped(&dump, expected[i].site, false, expected[i].type),
                        expected[i].bytes);
    /* <other> is inferred: of backtraces under / and /BrMain, of types under / and /BrMain/Init. */
    CU_ASSERT_EQUAL(dumped(&dump, ROOT, false, 0) - dumped(&dump, BR_MAIN, false, 0) -
                        dumped(&dump, RD_MAIN, false, 0),
                    34);
    CU_ASSERT_EQUAL(dumped(&dump, BR_MAIN, false, 0) - dumped(&dump, BR_INIT, false, 0) -
                        dumped(&dump, BR_MSG_LP, false, 0),
                    33);
    CU_ASSERT_EQUAL(dumped(&dump, ROOT, false, 0) - dumped(&dump, ROOT, false, 1) -
                        dumped(&dump, ROOT, false, 3) - dumped(&dump, ROOT, false, 4),
                    39);
    heap_dump_reset(&dump);
    reset_example(&example);
}

static void test_self_nodes(void)
{
    struct example example;
    struct heap_dump dump;
    const struct heap_dump_options options = {.with_classes = true};
    make_example(&example);
    CU_ASSERT_TRUE_FATAL(heap_dump_make(&example.sites, &example.snapshot, &options, &dump));
    /* "/BrMain has size 876, /BrMain/<self> has size 33"; a leaf has none. */
    CU_ASSERT_EQUAL(dumped(&dump, BR_MAIN, true, 0), 33);
    CU_ASSERT_EQUAL(dumped(&dump, BR_MAIN, true, 3), 13);
    CU_ASSERT_EQUAL(dumped(&dump, ROOT, true, 0), 17);
    CU_ASSERT_EQUAL(dumped(&dump, COLD_FN, false, 0), 17);
    CU_ASSERT_EQUAL(dumped(&dump, COLD_FN, true, 0), 0);
    CU_ASSERT_EQUAL(dumped(&dump, ROOT, false, 2), 39);
    heap_dump_reset(&dump);
    reset_example(&example);
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* With nothing cut, each node is the sum of its children and itself, along both axes. */
static void check_sums(const struct heap_dump *dump, const struct heap_sites *sites)
{
    uint64_t *left = calloc(sites->count, sizeof *left);
    uint64_t *by_type = calloc(sites->count, sizeof *by_type);
    bool *has_children = calloc(sites->count, sizeof *has_children);
    CU_ASSERT_FATAL(left != NULL && by_type != NULL && has_children != NULL);
    for (size_t i = 0; i < dump->count; i++) {
        const struct heap_dump_entry *entry = &dump->entries[i];
        if (entry->has_class) {
            by_type[entry->site] += entry->is_self ? 0 : entry->bytes;
            continue;
        }
        uint32_t parent = entry->is_self ? entry->site : sites->items[entry->site].parent;
        if (!entry->is_self)
            left[entry->site] += entry->bytes;
        if (entry->is_self || entry->site != 0) {
            left[parent] -= entry->bytes;
            has_children[parent] = true;
        }
    }
    unsigned wrong = 0;
    for (size_t i = 0; i < dump->count; i++) {
        const struct heap_dump_entry *entry = &dump->entries[i];
        if (entry->has_class || entry->is_self)
            continue;
        wrong += by_type[entry->site] != entry->bytes;
        wrong += has_children[entry->site] && left[entry->site] != 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    free(left);
    free(by_type);
    free(has_children);
}

static void test_sums_at_every_node(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct trace_names names;
        struct heap_sites sites;
        struct heap_dump dump;
        uint64_t state = seed, total = 0;
        trace_names_init(&names);
        CU_ASSERT_TRUE_FATAL(heap_sites_init(&sites, &names));
        for (uint32_t i = 1; i < 3000; i++)
            heap_sites_put(&sites, &(struct heap_site){
                                       .parent = (uint32_t) (next_random(&state) % sites.count),
                                       .method_id = i});
        struct heap_snapshot snapshot = {.rows = calloc(5000, sizeof(struct heap_row))};
        CU_ASSERT_PTR_NOT_NULL_FATAL(snapshot.rows);
        for (; snapshot.count < 5000; snapshot.count++) {
            const struct heap_key key = {1 + (uint32_t) (next_random(&state) % 40),
                                         (uint32_t) (next_random(&state) % sites.count), 0};
            snapshot.rows[snapshot.count] =
                (struct heap_row){.key = key, .live = {1, next_random(&state) % 1000, 0}};
            total += snapshot.rows[snapshot.count].live.bytes;
        }
        const struct heap_dump_options options = {.with_classes = true};
        CU_ASSERT_TRUE_FATAL(heap_dump_make(&sites, &snapshot, &options, &dump));
        CU_ASSERT_EQUAL(dump.entries[0].bytes, total);
        CU_ASSERT_EQUAL(dump.entries[0].objects, 5000);
        check_sums(&dump, &sites);
        heap_dump_reset(&dump);
        heap_snapshot_reset(&snapshot);
        heap_sites_reset(&sites);
        trace_names_reset(&names);
    }
}

/* 10,000 frames in each other: no recursion. */
static void test_deep_stack(void)
{
    struct trace_names names;
    struct heap_sites sites, inverted;
    struct heap_snapshot turned;
    struct heap_dump dump;
    uint32_t site = 0;
    trace_names_init(&names);
    CU_ASSERT_TRUE_FATAL(heap_sites_init(&sites, &names));
    for (uint32_t i = 1; i <= 10000; i++)
        site = heap_sites_put(&sites, &(struct heap_site){.parent = site, .method_id = i});
    struct heap_row row = {.key = {1, site, 0}, .live = {1, 24, 0}};
    struct heap_snapshot snapshot = {.rows = &row, .count = 1};
    const struct heap_dump_options options = {.with_classes = false};
    CU_ASSERT_TRUE_FATAL(heap_dump_make(&sites, &snapshot, &options, &dump));
    CU_ASSERT_EQUAL(dump.count, 10001);
    CU_ASSERT_EQUAL(dump.entries[10000].bytes, 24);
    CU_ASSERT_TRUE_FATAL(heap_sites_invert(&sites, &snapshot, &inverted, &turned));
    CU_ASSERT_EQUAL(heap_sites_depth(&inverted, turned.rows[0].key.site), HEAP_INVERTED_DEPTH);
    heap_dump_reset(&dump);
    heap_snapshot_reset(&turned);
    heap_sites_reset(&inverted);
    heap_sites_reset(&sites);
    trace_names_reset(&names);
}

/* Collects what a tracker gives. */
struct collected {
    struct heap_snapshot snapshots[16];
    size_t count;
};

static enum step_status collect(void *user, struct heap_snapshot *snapshot,
                                struct step_error *error)
{
    struct collected *collected = user;
    (void) error;
    if (collected->count == LENGTH(collected->snapshots))
        return STEP_STATUS_LIMIT;
    collected->snapshots[collected->count++] = *snapshot;
    return STEP_STATUS_OK;
}

static const struct trace_event story[] = {
    {.kind = EVENT_OBJECT_ALLOC, .time_ns = 1000, .object = 1, .size = 100, .class_id = 1},
    {.kind = EVENT_OBJECT_ALLOC, .time_ns = 2000, .object = 2, .size = 50, .class_id = 2},
    {.kind = EVENT_OBJECT_ALLOC, .time_ns = 3000, .object = 3, .size = 30, .class_id = 2},
    {.kind = EVENT_OBJECT_FREE, .time_ns = 4000, .object = 1},
    {.kind = EVENT_OBJECT_FREE, .time_ns = 4000, .object = 2},
    {.kind = EVENT_OBJECT_ALLOC, .time_ns = 5000, .object = 4, .size = 70, .class_id = 1},
    {.kind = EVENT_OBJECT_FREE, .time_ns = 6000, .object = 9},
    {.kind = EVENT_OBJECT_FREE, .time_ns = 6000, .object = 4},
    {.kind = EVENT_VM_DEATH, .time_ns = 7000},
};

static void run_story(const struct heap_tracker_options *options)
{
    struct event_source source = {.path = "story"};
    struct heap_tracker tracker;
    trace_names_init(&source.names);
    CU_ASSERT_TRUE_FATAL(heap_tracker_init(&tracker, &source, options));
    CU_ASSERT_EQUAL(heap_tracker_put(&tracker, story, LENGTH(story), NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(heap_tracker_finish(&tracker, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(tracker.unknown_frees, 1);
    heap_tracker_reset(&tracker);
    trace_names_reset(&source.names);
}

static uint64_t bytes_of_class(const struct heap_snapshot *snapshot, uint32_t class_id)
{
    for (size_t i = 0; i < snapshot->count; i++)
        if (snapshot->rows[i].key.class_id == class_id)
            return snapshot->rows[i].live.bytes;
    return 0;
}

static void test_moments(void)
{
    static const struct heap_moment moments[] = {{HEAP_AT_PEAK, 0},       {HEAP_AT_TIME, 2000},
                                                 {HEAP_AT_TIME, 2999},    {HEAP_AT_COLLECTION, 1},
                                                 {HEAP_AT_COLLECTION, 2}, {HEAP_AT_COLLECTION, 3},
                                                 {HEAP_AT_END, 0},        {HEAP_AT_TIME, 90000}};
    /* in the order of their coming: time, class 1, class 2 */
    static const uint64_t expected[][4] = {
        {HEAP_AT_TIME, 2000, 100, 50},     {HEAP_AT_TIME, 2999, 100, 50},
        {HEAP_AT_COLLECTION, 4000, 0, 30}, {HEAP_AT_COLLECTION, 6000, 0, 30},
        {HEAP_AT_PEAK, 3000, 100, 80},     {HEAP_AT_COLLECTION, UINT64_MAX, 0, 0},
        {HEAP_AT_END, 7000, 0, 30},        {HEAP_AT_TIME, UINT64_MAX, 0, 0}};
    struct collected got = {.count = 0};
    run_story(&(struct heap_tracker_options){
        .moments = moments, .moment_count = LENGTH(moments), .receive = collect, .user = &got});
    CU_ASSERT_EQUAL(got.count, LENGTH(expected));
    for (size_t i = 0; i < got.count; i++) {
        CU_ASSERT_EQUAL(got.snapshots[i].moment.kind, expected[i][0]);
        CU_ASSERT_EQUAL(got.snapshots[i].time_ns, expected[i][1]);
        CU_ASSERT_EQUAL(bytes_of_class(&got.snapshots[i], 1), expected[i][2]);
        CU_ASSERT_EQUAL(bytes_of_class(&got.snapshots[i], 2), expected[i][3]);
        heap_snapshot_reset(&got.snapshots[i]);
    }
}

static void test_series(void)
{
    static const uint64_t every[] = {2000, 4000, 6000, 7000}, live[] = {150, 30, 30, 30};
    struct collected got = {.count = 0};
    run_story(&(struct heap_tracker_options){.every_ns = 2000, .receive = collect, .user = &got});
    CU_ASSERT_EQUAL(got.count, LENGTH(every));
    for (size_t i = 0; i < got.count; i++) {
        CU_ASSERT_EQUAL(got.snapshots[i].time_ns, every[i]);
        CU_ASSERT_EQUAL(got.snapshots[i].live.bytes, live[i]);
        heap_snapshot_reset(&got.snapshots[i]);
    }
    got.count = 0;
    run_story(
        &(struct heap_tracker_options){.every_collection = true, .receive = collect, .user = &got});
    CU_ASSERT_EQUAL(got.count, 3);
    CU_ASSERT_EQUAL(got.snapshots[1].live.bytes, 30);
    CU_ASSERT_EQUAL(got.snapshots[1].allocated.bytes, 250);
    for (size_t i = 0; i < got.count; i++)
        heap_snapshot_reset(&got.snapshots[i]);
}

/* The peak that is kept on the way is what a snapshot at that event would be. */
static void test_peak_of_many(void)
{
    struct heap_cells cells;
    uint64_t state = 7, best = 0, live[20] = {0}, at_best[20] = {0}, now = 0;
    heap_cells_init(&cells, true);
    for (unsigned i = 0; i < 100000; i++) {
        uint32_t class_id = (uint32_t) (next_random(&state) % 20);
        uint32_t number = heap_cells_put(&cells, &(struct heap_key){class_id, 0, 0});
        heap_cell_save(&cells, &cells.items[number]);
        if (live[class_id] == 0 || next_random(&state) % 2 == 0) {
            heap_sums_add(&cells.items[number].now, 8, 0, false);
            heap_sums_add(&cells.all, 8, 0, false);
            heap_cells_note_peak(&cells, i, 0);
            live[class_id]++;
            now++;
        } else {
            heap_sums_remove(&cells.items[number].now, 8, 0, 0);
            heap_sums_remove(&cells.all, 8, 0, 0);
            live[class_id]--;
            now--;
        }
        if (now > best) {
            best = now;
            memcpy(at_best, live, sizeof live);
        }
    }
    struct heap_snapshot snapshot = {.time_ns = 0};
    CU_ASSERT_TRUE_FATAL(heap_cells_snapshot(&cells, true, &snapshot));
    CU_ASSERT_EQUAL(snapshot.live.objects, best);
    for (size_t i = 0; i < snapshot.count; i++)
        CU_ASSERT_EQUAL(snapshot.rows[i].live.objects, at_best[snapshot.rows[i].key.class_id]);
    heap_snapshot_reset(&snapshot);
    heap_cells_reset(&cells);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("heaps", NULL, NULL);
    CU_add_test(suite, "the note's example", test_example_of_the_note);
    CU_add_test(suite, "<self>", test_self_nodes);
    CU_add_test(suite, "sums at every node", test_sums_at_every_node);
    CU_add_test(suite, "10,000 frames", test_deep_stack);
    CU_add_test(suite, "moments", test_moments);
    CU_add_test(suite, "series", test_series);
    CU_add_test(suite, "peaks", test_peak_of_many);
}
