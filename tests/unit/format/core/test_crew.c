/* SPDX-License-Identifier: Apache-2.0 */
/* A crew: each part is done once, by a member of its own number; failures; jobs one after another.
 */
#include <CUnit/Basic.h>
#include <stdatomic.h>

#include "format/core/crew.h"
#include "tests/unit/run_suite.h"

enum { MEMBERS = 4, PARTS = 1000, JOBS = 200 };

struct job {
    atomic_uint done[PARTS];
    atomic_uint at_work[MEMBERS];
    atomic_uint wrong;
    size_t fails_at, fails_too; /* parts; PARTS: none */
};

static enum step_status work(void *user, unsigned member, size_t part)
{
    struct job *job = user;
    if (member >= MEMBERS || part >= PARTS) {
        atomic_fetch_add(&job->wrong, 1);
        return STEP_STATUS_INVALID;
    }
    if (atomic_fetch_add(&job->at_work[member], 1) != 0)
        atomic_fetch_add(&job->wrong, 1);
    atomic_fetch_add(&job->done[part], 1);
    atomic_fetch_sub(&job->at_work[member], 1);
    return part == job->fails_at    ? STEP_STATUS_CORRUPT
           : part == job->fails_too ? STEP_STATUS_IO
                                    : STEP_STATUS_OK;
}

static void test_each_part_once(void)
{
    struct step_crew *crew = step_crew_create(MEMBERS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(crew);
    static struct job job;
    job.fails_at = job.fails_too = PARTS;
    for (unsigned i = 0; i < JOBS; i++) {
        size_t count = i % 3 == 0 ? PARTS : i % 3; /* jobs of one and two parts, too */
        CU_ASSERT_EQUAL(step_crew_run(crew, count, work, &job), STEP_STATUS_OK);
        for (size_t part = 0; part < PARTS; part++)
            if (atomic_exchange(&job.done[part], 0) != (part < count))
                atomic_fetch_add(&job.wrong, 1);
    }
    CU_ASSERT_EQUAL(step_crew_run(crew, 0, work, &job), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(atomic_load(&job.wrong), 0);
    step_crew_destroy(crew);
}

static void test_failures(void)
{
    struct step_crew *crew = step_crew_create(MEMBERS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(crew);
    static struct job job;
    for (unsigned i = 0; i < JOBS; i++) {
        job.fails_at = 20; /* the first of two is reported, whichever ends first */
        job.fails_too = 21;
        CU_ASSERT_EQUAL(step_crew_run(crew, PARTS, work, &job), STEP_STATUS_CORRUPT);
        CU_ASSERT_EQUAL(atomic_load(&job.done[PARTS - 1]), 0);
    }
    job.fails_at = job.fails_too = PARTS;
    CU_ASSERT_EQUAL(step_crew_run(crew, PARTS, work, &job), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(atomic_load(&job.wrong), 0);
    step_crew_destroy(crew);
}

static void test_alone(void)
{
    CU_ASSERT_PTR_NULL(step_crew_create(0));
    CU_ASSERT_PTR_NULL(step_crew_create(1));
    step_crew_destroy(NULL);
    CU_ASSERT(step_crew_processors() >= 1);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("crew", NULL, NULL);
    CU_add_test(suite, "each part once", test_each_part_once);
    CU_add_test(suite, "failures", test_failures);
    CU_add_test(suite, "a crew of one", test_alone);
}
