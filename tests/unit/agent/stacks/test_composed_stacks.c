/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks put together from what was learnt have the numbers that the JVM's answers lead to: random
 * stacks of few methods, divided at random into machine frames. The tree and the walk are models.
 */
#include <CUnit/Basic.h>
#include <stdlib.h>

#include "agent/stacks/composed_stacks.h"
#include "agent/stacks/stack_tree.h"
#include "format/core/hash.h"
#include "tests/unit/run_suite.h"

enum { METHODS = 6, INDEXES = 3, DEPTH = 40, NODES = 1 << 18, ROUNDS = 4000 };

struct frame_hash_powers frame_hash_powers;
static struct session session;
static struct stack_known *places, *sites;
static struct {
    uint32_t parent, site;
} nodes[NODES];
static uint32_t node_count;
static bool wrong_walk; /* frame_walk_methods() finds nothing */

/* The stack of a round, from the innermost frame outwards, and its machine frames. */
static jvmtiFrameInfo stack[DEPTH];
static uint32_t depth;
static struct frame_trail *trail;

struct stack_known *stack_tree_places(struct stack_tree *tree)
{
    (void) tree;
    return places;
}

struct stack_known *stack_tree_sites(struct stack_tree *tree)
{
    (void) tree;
    return sites;
}

uint32_t stack_tree_site(struct session *of, const jvmtiFrameInfo *frame, uint32_t age, bool makes)
{
    (void) of;
    return (uint32_t) (((uint32_t) (uintptr_t) frame->method * (INDEXES + 2) +
                        (uint32_t) (frame->location + 1)) *
                           2 +
                       makes) *
               8 +
           1 + age;
}

uint32_t stack_tree_child(struct session *of, uint32_t parent, uint32_t site)
{
    (void) of;
    for (uint32_t i = (uint32_t) step_hash_join(parent, site) % NODES;; i = (i + 1) % NODES) {
        if (nodes[i].site == 0) {
            CU_ASSERT_FATAL(node_count++ < NODES / 2);
            nodes[i].parent = parent;
            nodes[i].site = site;
        }
        if (nodes[i].parent == parent && nodes[i].site == site)
            return i + 1;
    }
}

static struct walked_method method_at(uint32_t i)
{
    uint64_t word = (uint64_t) (uintptr_t) stack[i].method << 32 | (uint32_t) stack[i].location;
    return (struct walked_method){{step_hash_join(1, word), step_hash_join(2, ~word), 1},
                                  (uint32_t) (stack[i].location + 1)};
}

/* The model's return address is the place of the machine frame's innermost method, plus one. */
size_t frame_walk_methods(struct frame_walker *walker, const struct trail_frame *frame,
                          struct walked_method methods[FRAMES_INLINED_MOST])
{
    (void) walker;
    for (uint32_t i = 0; i < frame->hash.count; i++)
        methods[i] = method_at((uint32_t) frame->pc - 1 + i);
    return wrong_walk ? 0 : frame->hash.count;
}

static uint32_t any(uint32_t below)
{
    return (uint32_t) rand() % below;
}

/* Half of the stacks are those of before but for some inner frames. */
static void make_stack(void)
{
    uint32_t from = depth == 0 || any(2) == 0 ? DEPTH : any(8);
    depth = from == DEPTH ? 4 + any(DEPTH - 4) : depth;
    for (uint32_t i = 0; i < depth && i < from; i++)
        stack[i] = (jvmtiFrameInfo){(jmethodID) (uintptr_t) (1 + any(METHODS)),
                                    (jlocation) any(INDEXES + 1) - 1};
}

static void divide(void)
{
    trail->count = 0;
    for (uint32_t start = 0, count; start < depth; start += count) {
        count = 1 + any(depth - start < 5 ? depth - start : 5);
        struct trail_frame frame = {.pc = start + 1};
        for (uint32_t i = 0; i < count; i++) {
            struct walked_method method = method_at(start + i);
            frame_hash_join(&frame.hash, &method.hash);
        }
        trail->frames[trail->count++] = frame;
    }
}

static uint32_t naive(const struct composed_stack *of, size_t count)
{
    uint32_t number = 0;
    for (size_t i = count; i-- > 0;)
        number = stack_tree_child(
            &session, number, stack_tree_site(&session, &stack[of->first + i], of->age, i == 0));
    return number;
}

static void begin(void)
{
    struct frame_hash_powers *powers = &frame_hash_powers;
    powers->low[0] = powers->high[0] = 1;
    for (size_t i = 1; i <= FRAMES_INLINED_MOST; i++) {
        powers->low[i] = powers->low[i - 1] * STEP_HASH_FACTOR;
        powers->high[i] = powers->high[i - 1] * UINT64_C(0xd6e8feb86659fd93);
    }
    places = stack_known_create();
    sites = stack_known_create();
    trail = calloc(1, sizeof *trail + DEPTH * sizeof trail->frames[0]);
    CU_ASSERT_FATAL(places != NULL && sites != NULL && trail != NULL);
    trail->capacity = DEPTH;
}

static void end(void)
{
    stack_known_destroy(places);
    stack_known_destroy(sites);
    free(trail);
}

static void test_random(void)
{
    uint32_t composed = 0;
    srand(1);
    begin();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        make_stack();
        divide();
        trail->unloaded = any(8); /* whatever was unloaded */
        const struct composed_stack of = {.trail = trail,
                                          .first = any(4),
                                          .wanted = any(2) == 0 ? 12 : 1 + any(DEPTH),
                                          .age = round / (ROUNDS / 4)}; /* methods change */
        size_t count = depth - of.first < of.wanted ? depth - of.first : of.wanted;
        uint32_t right = naive(&of, count), number = composed_stack_number(&session, &of);
        CU_ASSERT_TRUE(number == 0 || number == right);
        composed += number != 0;
        composed_stack_learn(&session, &of, stack + of.first, count, of.age);
        CU_ASSERT_EQUAL(composed_stack_number(&session, &of), right);
    }
    CU_ASSERT_TRUE(composed > ROUNDS / 2);
    end();
}

/* What does not fit teaches nothing. */
static void test_refused(void)
{
    begin();
    const struct composed_stack of = {.trail = trail, .first = 1, .wanted = 5};
    jvmtiFrameInfo answer[5];
    depth = 5;
    for (uint32_t i = 0; i < depth; i++)
        stack[i] = (jvmtiFrameInfo){(jmethodID) (uintptr_t) 1, (jlocation) i};
    for (uint32_t i = 0; i < 4; i++)
        answer[i] = stack[i + 1];
    divide();
    answer[3].location++;
    composed_stack_learn(&session, &of, answer, 4, 0);
    CU_ASSERT_EQUAL(composed_stack_number(&session, &of), 0);
    answer[3].location--;
    composed_stack_learn(&session, &of, answer, 3, 0); /* the trail has one more */
    CU_ASSERT_EQUAL(composed_stack_number(&session, &of), 0);
    composed_stack_learn(&session, &of, answer, 5, 0); /* the answer has one more */
    CU_ASSERT_EQUAL(composed_stack_number(&session, &of), 0);
    wrong_walk = true;
    composed_stack_learn(&session, &of, answer, 4, 0);
    wrong_walk = false;
    CU_ASSERT_EQUAL(composed_stack_number(&session, &of), 0);
    uint32_t machine = trail->count;
    trail->count = trail->capacity + 1; /* frames are missing */
    composed_stack_learn(&session, &of, answer, 4, 0);
    CU_ASSERT_EQUAL(composed_stack_number(&session, &of), 0);
    trail->count = machine;
    CU_ASSERT_EQUAL(composed_stack_number(&session, &of), 0);
    composed_stack_learn(&session, &of, answer, 4, 0);
    CU_ASSERT_NOT_EQUAL(composed_stack_number(&session, &of), 0);
    wrong_walk = true;
    const struct composed_stack inner = {.trail = trail, .first = 0, .wanted = 5};
    CU_ASSERT_EQUAL(composed_stack_number(&session, &inner), 0);
    wrong_walk = false;
    end();
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("composed stacks", NULL, NULL);
    CU_add_test(suite, "random stacks", test_random);
    CU_add_test(suite, "answers that do not fit", test_refused);
}
