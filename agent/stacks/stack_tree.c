/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of frames: an open-addressing table from (parent, method, bytecode index, age) to a
 * number, read without a lock. Bytecode indexes of one line share a number, but with
 * places=bytecode. */
#include "agent/stacks/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "agent/records/global_stream.h"
#include "agent/records/methods.h"
#include "agent/stacks/stack_known.h"
#include "format/core/grow.h"
#include "format/core/hash.h"
#include "format/core/hash_index.h"

#define FIRST_SLOTS ((size_t) 4096)

/* A place under a parent.  `number` is written last: 0 is an empty slot. */
struct stack_slot {
    void *method;
    int32_t bytecode;
    uint32_t parent, age;
    _Atomic uint32_t number;
};

struct stack_table {
    size_t mask;
    size_t count;
    struct stack_table *older; /* readers may still use it */
    struct stack_slot slots[];
};

/* A child of a parent by line, as the dictionary has it. Protected by the lock. */
struct line {
    uint64_t method_and_parent; /* numbers */
    uint64_t place;
};

struct stack_tree {
    _Atomic(struct stack_table *) table;
    pthread_mutex_t lock;
    struct line *lines; /* frames of the dictionary, from number 1 on */
    size_t count, capacity;
    struct step_index index; /* of the lines */
    struct stack_known *known;
};

static struct stack_table *table_create(size_t slots)
{
    struct stack_table *table =
        memory_counted(MEMORY_STACKS, calloc(1, sizeof *table + slots * sizeof table->slots[0]));
    if (table != NULL)
        table->mask = slots - 1;
    return table;
}

struct stack_tree *stack_tree_create(void)
{
    struct stack_tree *tree = calloc(1, sizeof *tree);
    struct stack_table *table = table_create(FIRST_SLOTS);
    struct stack_known *known = stack_known_create();
    if (tree == NULL || table == NULL || known == NULL) {
        free(tree);
        memory_free(MEMORY_STACKS, table);
        stack_known_destroy(known);
        return NULL;
    }
    tree->known = known;
    atomic_store(&tree->table, table);
    pthread_mutex_init(&tree->lock, NULL);
    return tree;
}

void stack_tree_destroy(struct stack_tree *tree)
{
    if (tree == NULL)
        return;
    struct stack_table *table = atomic_load(&tree->table);
    while (table != NULL) {
        struct stack_table *older = table->older;
        memory_free(MEMORY_STACKS, table);
        table = older;
    }
    memory_subtract(MEMORY_STACKS, tree->capacity * sizeof *tree->lines);
    free(tree->lines);
    step_index_reset(&tree->index);
    stack_known_destroy(tree->known);
    pthread_mutex_destroy(&tree->lock);
    free(tree);
}

struct stack_known *stack_tree_known(struct stack_tree *tree)
{
    return tree->known;
}

static size_t frame_hash(uint32_t parent, const jvmtiFrameInfo *frame, uint32_t age)
{
    uint64_t hash =
        step_hash_join(parent | (uint64_t) age << 32, (uint64_t) (uintptr_t) frame->method);
    return (size_t) (step_hash_join(hash, (uint64_t) frame->location) >> 20);
}

/* Returns the frame's slot, or the empty one where it belongs. */
static struct stack_slot *find_slot(struct stack_table *table, uint32_t parent,
                                    const jvmtiFrameInfo *frame, uint32_t age, uint32_t *number)
{
    for (size_t i = frame_hash(parent, frame, age) & table->mask;; i = (i + 1) & table->mask) {
        struct stack_slot *slot = &table->slots[i];
        *number = atomic_load_explicit(&slot->number, memory_order_acquire);
        if (*number == 0 || (slot->method == (void *) frame->method && slot->parent == parent &&
                             slot->bytecode == (int32_t) frame->location && slot->age == age))
            return slot;
    }
}

static void insert(struct stack_table *table, uint32_t parent, const jvmtiFrameInfo *frame,
                   uint32_t age, uint32_t number)
{
    uint32_t found;
    struct stack_slot *slot = find_slot(table, parent, frame, age, &found);
    if (found != 0)
        return;
    slot->method = (void *) frame->method;
    slot->parent = parent;
    slot->bytecode = (int32_t) frame->location;
    slot->age = age;
    table->count++;
    atomic_store_explicit(&slot->number, number, memory_order_release);
}

/* Returns a table with room for one more. The caller holds the lock. */
static struct stack_table *grown_table(struct stack_tree *tree)
{
    struct stack_table *old = atomic_load(&tree->table);
    if (old->count < old->mask / 8 * 5)
        return old;
    struct stack_table *table = table_create((old->mask + 1) * 2);
    if (table == NULL)
        return old->count < old->mask ? old : NULL;
    for (size_t i = 0; i <= old->mask; i++) {
        struct stack_slot *slot = &old->slots[i];
        uint32_t number = atomic_load(&slot->number);
        if (number != 0)
            insert(table, slot->parent, &(jvmtiFrameInfo){(jmethodID) slot->method, slot->bytecode},
                   slot->age, number);
    }
    table->older = old;
    atomic_store_explicit(&tree->table, table, memory_order_release);
    return table;
}

/* Makes room for one more line. */
static bool reserve_line(struct stack_tree *tree)
{
    if (tree->count < tree->capacity)
        return step_index_reserve(&tree->index);
    size_t before = tree->capacity * sizeof *tree->lines;
    struct line *lines = step_grown(tree->lines, &tree->capacity, tree->count + 1, sizeof *lines);
    if (lines != NULL) {
        memory_add(MEMORY_STACKS, tree->capacity * sizeof *lines - before);
        tree->lines = lines;
    }
    return lines != NULL && step_index_reserve(&tree->index);
}

/* Returns the line of a bytecode index, or 0 if it is unknown. */
static uint32_t line_of(const jvmtiFrameInfo *frame)
{
    jint count = 0;
    jvmtiLineNumberEntry *lines = NULL;
    if (frame->location < 0 ||
        (*tracer.jvmti)->GetLineNumberTable(tracer.jvmti, frame->method, &count, &lines) !=
            JVMTI_ERROR_NONE)
        return 0;
    jint line = 0;
    jlocation start = -1;
    for (jint i = 0; i < count; i++) {
        if (lines[i].start_location <= frame->location && lines[i].start_location > start) {
            start = lines[i].start_location;
            line = lines[i].line_number;
        }
    }
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) lines);
    return line > 0 ? (uint32_t) line : 0;
}

/* Returns the dictionary's number of a place, and defines it if needed. The caller holds the tree's
 * lock. */
static uint32_t define(struct session *session, const struct line *key)
{
    struct stack_tree *tree = session->stacks;
    uint64_t words_hashed = step_hash_join(0, key->method_and_parent);
    uint32_t hash = (uint32_t) step_hash_join(words_hashed, key->place), line;
    STEP_INDEX_EACH (&tree->index, hash, line)
        if (tree->lines[line].method_and_parent == key->method_and_parent &&
            tree->lines[line].place == key->place)
            return line + 1;
    if (tree->count >= UINT32_MAX - 1)
        return 0;
    const uint64_t words[] = {live_word(STEP_LIVE_DEFINE_FRAME, tree->count + 1),
                              key->method_and_parent, key->place};
    pthread_mutex_lock(&session->global_lock);
    global_write(session, words, 3, 0);
    pthread_mutex_unlock(&session->global_lock);
    step_index_add(&tree->index, hash, (uint32_t) tree->count);
    tree->lines[tree->count++] = *key;
    return (uint32_t) tree->count;
}

/* Adds a frame that the table does not have. Does not call the JVM under the lock. */
static uint32_t add_frame(struct session *session, uint32_t parent, const jvmtiFrameInfo *frame,
                          uint32_t age)
{
    const struct method_entry *method = method_lookup(session, frame->method);
    if (method == NULL || method->id == 0 || method->id > UINT32_MAX)
        return parent;
    uint64_t place = line_of(frame);
    if ((place == 0 || session->options.indexes) && frame->location >= 0)
        place |= ((uint64_t) frame->location + 1) << 32;
    const struct line key = {.method_and_parent = parent | method->id << 32, .place = place};
    struct stack_tree *tree = session->stacks;
    uint32_t number = 0;
    pthread_mutex_lock(&tree->lock);
    struct stack_table *table = grown_table(tree);
    if (table != NULL && reserve_line(tree) && (number = define(session, &key)) != 0)
        insert(table, parent, frame, age, number);
    pthread_mutex_unlock(&tree->lock);
    return number != 0 ? number : parent;
}

uint32_t stack_tree_walk(struct session *session, const jvmtiFrameInfo *frames, size_t depth,
                         uint32_t age)
{
    uint32_t number = 0;
    for (size_t i = depth; i-- > 0;) {
        struct stack_table *table =
            atomic_load_explicit(&session->stacks->table, memory_order_acquire);
        uint32_t child;
        find_slot(table, number, &frames[i], age, &child);
        number = child != 0 ? child : add_frame(session, number, &frames[i], age);
    }
    return number;
}
