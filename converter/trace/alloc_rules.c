/* SPDX-License-Identifier: Apache-2.0 */
/* A table of threads, with the pending records of their last realloc, and a table of heaps. */
#include "converter/trace/alloc_rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/core/grow.h"

/* The state of a thread or a heap. */
enum known_state { KNOWN_USED, KNOWN_CREATED, KNOWN_ENDED };

struct known_thread {
    uint64_t id;
    enum known_state state;
    bool awaits_alloc, awaits_free; /* pending records of its last realloc */
    uint64_t size, old_address, new_address;
};

const char *alloc_rule_text(enum alloc_rule rule)
{
    static const char *const texts[ALLOC_RULE_COUNT] = {"objects are freed once",
                                                        "what is freed was allocated",
                                                        "objects do not overlap",
                                                        "realloc is of what lives",
                                                        "heaps are created, used and destroyed",
                                                        "threads are created, used and ended",
                                                        "time does not go back",
                                                        "objects end before the last address"};
    return texts[rule];
}

void alloc_rules_init(struct alloc_rules *rules, alloc_breach report, void *user)
{
    *rules = (struct alloc_rules){.report = report, .user = user};
}

void alloc_rules_reset(struct alloc_rules *rules)
{
    object_table_reset(&rules->thread_places);
    object_table_reset(&rules->heaps);
    free(rules->threads);
    *rules = (struct alloc_rules){0};
}

void alloc_rules_breach(struct alloc_rules *rules, enum alloc_rule rule, const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rules->breaches[rule]++;
    rules->report(rules->user, rule, text);
}

/* ---- tables ---- */

/* Key 0 means "none" in an object_table, and UINT64_MAX + 1 would become 0. */
static uint64_t alloc_rules_key_of(uint64_t id)
{
    return id == UINT64_MAX ? UINT64_MAX : id + 1;
}

static struct known_thread *add_thread(struct alloc_rules *rules, uint64_t id)
{
    if (!STEP_MAKE_ROOM(rules->threads, rules->thread_capacity, rules->thread_count + 1))
        return NULL;
    struct live_object place = {.object = alloc_rules_key_of(id), .value = rules->thread_count};
    if (!object_table_put(&rules->thread_places, &place))
        return NULL;
    rules->threads[rules->thread_count] = (struct known_thread){.id = id};
    return &rules->threads[rules->thread_count++];
}

/* Returns NULL if out of memory. */
static struct known_thread *alloc_rules_thread_of(struct alloc_rules *rules, uint64_t id,
                                                  bool *is_new)
{
    struct live_object place;
    *is_new = !object_table_find(&rules->thread_places, alloc_rules_key_of(id), &place);
    return *is_new ? add_thread(rules, id) : &rules->threads[place.value];
}

/* ---- threads ---- */

/* A trace without threads has thread 0 only.  Thread 0 may do anything, and may be created once
 * for each thread whose number was omitted; then it is unknown which record follows which
 * realloc. */
static void create_thread(struct alloc_rules *rules, struct known_thread *thread, bool is_new)
{
    if (thread->id == 0)
        rules->has_one_number = rules->has_one_number || thread->state == KNOWN_CREATED;
    else if (thread->state == KNOWN_CREATED)
        alloc_rules_breach(rules, ALLOC_RULE_THREAD,
                           "thread %" PRIu64 " is created, but has not ended", thread->id);
    else if (!is_new && thread->state == KNOWN_USED)
        alloc_rules_breach(rules, ALLOC_RULE_THREAD,
                           "thread %" PRIu64 " is created, but was used before", thread->id);
    thread->state = KNOWN_CREATED;
}

/* Reports a thread that was never created at its first record only. */
static void use_thread(struct alloc_rules *rules, struct known_thread *thread, bool is_new)
{
    if (thread->id == 0)
        return;
    if (thread->state == KNOWN_ENDED)
        alloc_rules_breach(rules, ALLOC_RULE_THREAD,
                           "thread %" PRIu64 " does something, but has ended", thread->id);
    else if (is_new && rules->names_threads)
        alloc_rules_breach(rules, ALLOC_RULE_THREAD,
                           "thread %" PRIu64 " does something, but was not created", thread->id);
}

/* ---- pending records of a realloc ---- */

static void miss_own_records(struct alloc_rules *rules, struct known_thread *thread)
{
    const char *const what = !thread->awaits_free    ? "alloc"
                             : !thread->awaits_alloc ? "free"
                                                     : "alloc and free";
    bool is_known = thread->id != 0 || !rules->has_one_number;
    if (is_known && (thread->awaits_alloc || thread->awaits_free))
        alloc_rules_breach(rules, ALLOC_RULE_REALLOC,
                           "the %s of the last realloc of thread %" PRIu64 ", from address %" PRIu64
                           " to %" PRIu64 ", did not follow it",
                           what, thread->id, thread->old_address, thread->new_address);
    thread->awaits_alloc = thread->awaits_free = false;
}

static void await_own_records(struct known_thread *thread, const struct hatf_record *record)
{
    enum hatf_tag tag = record->tag;
    thread->awaits_alloc = tag == HATF_REALLOC_ALLOC_FREE || tag == HATF_REALLOC_ALLOC;
    thread->awaits_free = tag == HATF_REALLOC_ALLOC_FREE || tag == HATF_REALLOC_FREE;
    thread->size = record->size;
    thread->old_address = record->address;
    thread->new_address = record->new_address;
}

static void follow_realloc(struct alloc_rules *rules, struct known_thread *thread,
                           const struct hatf_record *record)
{
    if (record->tag == HATF_ALLOC && thread->awaits_alloc &&
        record->address == thread->new_address && record->size == thread->size)
        thread->awaits_alloc = false;
    else if (record->tag == HATF_FREE && thread->awaits_free &&
             record->address == thread->old_address)
        thread->awaits_free = false;
    else
        miss_own_records(rules, thread);
    if (record->tag >= HATF_REALLOC_NO_ALLOC && record->tag <= HATF_REALLOC_FREE)
        await_own_records(thread, record);
}

static bool alloc_rules_take_thread(struct alloc_rules *rules, const struct hatf_record *record)
{
    bool is_new;
    struct known_thread *thread = alloc_rules_thread_of(rules, record->thread, &is_new);
    if (thread == NULL)
        return false;
    if (record->tag == HATF_CREATE_THREAD)
        create_thread(rules, thread, is_new);
    else
        use_thread(rules, thread, is_new);
    follow_realloc(rules, thread, record);
    if (record->tag == HATF_DESTROY_THREAD)
        thread->state = KNOWN_ENDED;
    return true;
}

/* ---- heaps ---- */

/* Heap 0 always exists. */
static bool alloc_rules_take_heap(struct alloc_rules *rules, const struct hatf_record *record)
{
    struct live_object heap = {.object = alloc_rules_key_of(record->heap)};
    if (record->heap == 0 || !hatf_tag_has(record->tag, HATF_HEAP))
        return true;
    bool is_known = object_table_find(&rules->heaps, heap.object, &heap);
    if (record->tag == HATF_CREATE_HEAP) {
        if (is_known && heap.value == KNOWN_CREATED)
            alloc_rules_breach(rules, ALLOC_RULE_HEAP,
                               "heap %" PRIu64 " is created, but was not destroyed", record->heap);
        heap.value = KNOWN_CREATED;
        return object_table_put(&rules->heaps, &heap);
    }
    if (is_known && heap.value == KNOWN_CREATED && record->tag != HATF_DESTROY_HEAP)
        return true;
    const char *verb = record->tag == HATF_DESTROY_HEAP ? "destroyed" : "used";
    if (is_known && heap.value == KNOWN_ENDED)
        alloc_rules_breach(rules, ALLOC_RULE_HEAP,
                           "heap %" PRIu64 " is %s, but was destroyed before", record->heap, verb);
    else if (!is_known)
        alloc_rules_breach(rules, ALLOC_RULE_HEAP, "heap %" PRIu64 " is %s, but was not created",
                           record->heap, verb);
    if (record->tag == HATF_DESTROY_HEAP)
        heap.value = KNOWN_ENDED;
    else if (!is_known)
        heap.value = KNOWN_USED;
    return object_table_put(&rules->heaps, &heap);
}

/* ---- times and ranges ---- */

static void take_time(struct alloc_rules *rules, const struct hatf_record *record)
{
    if (record->time < rules->last_time)
        alloc_rules_breach(rules, ALLOC_RULE_TIME, "time goes back from %" PRIu64 " to %" PRIu64,
                           rules->last_time, record->time);
    rules->last_time = record->time;
}

static void alloc_rules_take_range(struct alloc_rules *rules, const struct hatf_record *record)
{
    bool is_alloc = record->tag == HATF_ALLOC;
    uint64_t address = is_alloc ? record->address : record->new_address;
    if ((is_alloc || record->tag == HATF_REALLOC_NO_ALLOC) && record->size > 0 &&
        record->size - 1 > UINT64_MAX - address)
        alloc_rules_breach(rules, ALLOC_RULE_RANGE,
                           "%" PRIu64 " bytes at address %" PRIu64 " end behind the last address",
                           record->size, address);
}

bool alloc_rules_put(struct alloc_rules *rules, const struct hatf_record *record)
{
    if (record->tag == HATF_COMMENT || record->tag == HATF_METADATA)
        return true;
    if (!rules->has_records)
        rules->names_threads = record->tag == HATF_CREATE_THREAD;
    rules->has_records = true;
    take_time(rules, record);
    alloc_rules_take_range(rules, record);
    return alloc_rules_take_thread(rules, record) && alloc_rules_take_heap(rules, record);
}

void alloc_rules_finish(struct alloc_rules *rules)
{
    for (size_t i = 0; i < rules->thread_count; i++)
        miss_own_records(rules, &rules->threads[i]);
}
