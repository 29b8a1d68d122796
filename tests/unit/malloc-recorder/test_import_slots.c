/* SPDX-License-Identifier: Apache-2.0 */
/* Where this program keeps the address of a function that it imports: found, changed, and set
 * back. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "malloc-recorder/import_slots.h"
#include "tests/unit/run_suite.h"

static pid_t answer(void)
{
    return -17;
}

struct search {
    const char *name;
    struct import_slot found; /* of the program */
    unsigned all, of_program, unnamed;
};

static void look_at(void *user, const struct import_slot *slot)
{
    struct search *search = user;
    search->all++;
    search->unnamed += slot->name == NULL || slot->place == NULL || slot->first >= slot->end;
    if (slot->library[0] == '\0' && strcmp(slot->name, search->name) == 0) {
        search->found = *slot;
        search->of_program++;
    }
}

static void test_change(void)
{
    struct search search = {.name = "getppid"};
    pid_t parent = getppid(); /* the slot is bound */
    import_slots_each(look_at, &search);
    CU_ASSERT(search.all > 10 && search.unnamed == 0);
    CU_ASSERT_FATAL(search.of_program >= 1);
    const char *here = (const char *) search.found.place;
    CU_ASSERT(here >= search.found.first && here < search.found.end);
    CU_ASSERT_FALSE(search.found.is_inside);
    void *before = *search.found.place;
    import_slot_set(&search.found, (void *) answer);
    pid_t changed = getppid();
    import_slot_set(&search.found, before);
    CU_ASSERT_EQUAL(changed, -17);
    CU_ASSERT_EQUAL(getppid(), parent);
}

static void test_none(void)
{
    struct search search = {.name = "no_such_function_anywhere"};
    import_slots_each(look_at, &search);
    CU_ASSERT_EQUAL(search.of_program, 0);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("import slots", NULL, NULL);
    CU_add_test(suite, "a slot that is changed", test_change);
    CU_add_test(suite, "no slot", test_none);
}
