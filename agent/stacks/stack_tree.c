/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of frames: numbers of (parent, method, bytecode index, age), found by a hash of these
 * without a lock. Bytecode indexes of one line share a number, but with places=bytecode. */
#include "agent/stacks/stack_tree.h"

#include <stdlib.h>

#include "agent/records/code_places.h"
#include "agent/records/global_stream.h"
#include "agent/records/methods.h"
#include "agent/stacks/stacks.h"
#include "format/core/grow.h"
#include "format/core/hash.h"
#include "format/core/hash_index.h"

/* A child of a parent by line, as the dictionary has it. Protected by the lock. */
struct line {
    uint64_t method_and_parent; /* numbers */
    uint64_t place;
};

struct site {
    uint64_t method; /* number */
    uint64_t place;
};

struct stack_tree {
    struct stack_known *places; /* the numbers by stack_tree_key_of() */
    struct stack_known *site_numbers;
    pthread_mutex_t lock;
    struct line *lines; /* frames of the dictionary, from number 1 on */
    size_t count, capacity;
    struct step_index index; /* of the lines */
    struct site *sites;      /* from number 1 on; protected by the lock */
    size_t site_count, site_capacity;
    struct stack_known *known; /* whole stacks */
};

struct stack_tree *stack_tree_create(void)
{
    struct stack_tree *tree = calloc(1, sizeof *tree);
    if (tree == NULL)
        return NULL;
    pthread_mutex_init(&tree->lock, NULL);
    tree->places = stack_known_create();
    tree->known = stack_known_create();
    tree->site_numbers = stack_known_create();
    if (tree->places != NULL && tree->known != NULL && tree->site_numbers != NULL)
        return tree;
    stack_tree_destroy(tree);
    return NULL;
}

void stack_tree_destroy(struct stack_tree *tree)
{
    if (tree == NULL)
        return;
    memory_subtract(MEMORY_STACKS, tree->capacity * sizeof *tree->lines +
                                       tree->site_capacity * sizeof *tree->sites);
    free(tree->lines);
    free(tree->sites);
    step_index_reset(&tree->index);
    stack_known_destroy(tree->places);
    stack_known_destroy(tree->site_numbers);
    stack_known_destroy(tree->known);
    pthread_mutex_destroy(&tree->lock);
    free(tree);
}

struct stack_known *stack_tree_known(struct stack_tree *tree)
{
    return tree->known;
}

struct stack_known *stack_tree_places(struct stack_tree *tree)
{
    return tree->places;
}

struct stack_known *stack_tree_sites(struct stack_tree *tree)
{
    return tree->site_numbers;
}

/* The innermost frame has the complement of `age`: it may have another place, see code_places.h.
 * Both halves hash the same words, in different orders, so that they are independent. */
static struct stack_key stack_tree_key_of(uint32_t parent, const jvmtiFrameInfo *frame,
                                          uint32_t age)
{
    uint64_t method = (uint64_t) (uintptr_t) frame->method, place = (uint64_t) frame->location;
    uint64_t from = parent | (uint64_t) age << 32;
    return (struct stack_key){
        step_hash_join(step_hash_join(step_hash_join(1, from), method), place),
        step_hash_join(step_hash_join(step_hash_join(2, place), from), method)};
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
 * lock. The record is written before the number is returned, and before it can be found in
 * `places`: a chunk that names the frame is queued later than the definition was committed. */
static uint32_t stack_tree_define(struct session *session, const struct line *key)
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

/* Asks the JVM. The caller holds no lock. */
static bool site_ask(struct session *session, const jvmtiFrameInfo *frame, bool makes,
                     struct site *site)
{
    const struct method_entry *method = method_lookup(session, frame->method);
    if (method == NULL || method->id == 0 || method->id > UINT32_MAX)
        return false;
    uint64_t place = line_of(frame);
    jlocation index = frame->location;
    if (place == 0 && index >= 0 && session->options.engine == ENGINE_BYTECODE)
        index = code_place_of(frame->method, index, makes);
    if ((place == 0 || session->options.indexes) && index >= 0)
        place |= ((uint64_t) index + 1) << 32;
    *site = (struct site){method->id, place};
    return true;
}

/* The caller holds the tree's lock. */
static uint32_t site_add(struct stack_tree *tree, const struct site *site)
{
    size_t before = tree->site_capacity * sizeof *tree->sites;
    if (tree->site_count >= UINT32_MAX - 1)
        return 0;
    if (tree->site_count == tree->site_capacity) {
        struct site *sites =
            step_grown(tree->sites, &tree->site_capacity, tree->site_count + 1, sizeof *sites);
        if (sites == NULL)
            return 0;
        memory_add(MEMORY_STACKS, tree->site_capacity * sizeof *sites - before);
        tree->sites = sites;
    }
    tree->sites[tree->site_count++] = *site;
    return (uint32_t) tree->site_count;
}

/* Returns the number of a site, which is one site however often methods got another age. The caller
 * holds the tree's lock. */
static uint32_t site_number(struct stack_tree *tree, const struct site *site)
{
    const struct stack_key key = {step_hash_join(step_hash_join(5, site->method), site->place),
                                  step_hash_join(step_hash_join(6, site->place), site->method)};
    uint32_t number;
    if (!stack_known_find(tree->site_numbers, &key, &number)) {
        number = site_add(tree, site);
        stack_known_add(tree->site_numbers, &key, number);
    }
    return number;
}

uint32_t stack_tree_site(struct session *session, const jvmtiFrameInfo *frame, uint32_t age,
                         bool makes)
{
    struct stack_tree *tree = session->stacks;
    uint64_t method = (uint64_t) (uintptr_t) frame->method, place = (uint64_t) frame->location;
    uint64_t from = (uint64_t) age << 1 | makes;
    const struct stack_key key = {
        step_hash_join(step_hash_join(step_hash_join(3, from), method), place),
        step_hash_join(step_hash_join(step_hash_join(4, place), from), method)};
    struct site site;
    uint32_t number;
    if (stack_known_find(tree->site_numbers, &key, &number))
        return number;
    if (!site_ask(session, frame, makes, &site))
        return 0;
    pthread_mutex_lock(&tree->lock);
    number = site_number(tree, &site);
    pthread_mutex_unlock(&tree->lock);
    stack_known_add(tree->site_numbers, &key, number);
    return number;
}

uint32_t stack_tree_child(struct session *session, uint32_t parent, uint32_t site)
{
    struct stack_tree *tree = session->stacks;
    uint32_t number = 0;
    pthread_mutex_lock(&tree->lock);
    if (site != 0 && reserve_line(tree)) {
        const struct site *of = &tree->sites[site - 1];
        const struct line key = {.method_and_parent = parent | of->method << 32,
                                 .place = of->place};
        number = stack_tree_define(session, &key);
    }
    pthread_mutex_unlock(&tree->lock);
    return number;
}

/* Goes from the outermost frame inwards, since a frame's number depends on that of its caller: so
 * stacks share the nodes of their common outer part, and a stack is named by its innermost node. A
 * frame that the JVM cannot name is left out, and its callee hangs on its caller. */
uint32_t stack_tree_walk(struct session *session, const jvmtiFrameInfo *frames, size_t depth,
                         uint32_t age)
{
    struct stack_known *places = session->stacks->places;
    uint32_t number = 0;
    for (size_t i = depth; i-- > 0;) {
        struct stack_key key = stack_tree_key_of(number, &frames[i], i == 0 ? ~age : age);
        uint32_t child;
        if (!stack_known_find(places, &key, &child)) {
            child = stack_tree_child(session, number,
                                     stack_tree_site(session, &frames[i], age, i == 0));
            stack_known_add(places, &key, child);
        }
        number = child != 0 ? child : number;
    }
    return number;
}
