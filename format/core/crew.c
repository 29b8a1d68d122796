/* SPDX-License-Identifier: Apache-2.0 */
/* A crew: threads that wait for jobs and take their parts one by one. */
#include "format/core/crew.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MOST_PROCESSORS = 8, STACK_BYTES = 1 << 20 };

struct crew_member {
    struct step_crew *crew;
    unsigned number;
    pthread_t thread;
};

struct step_crew {
    pthread_mutex_t lock;
    pthread_cond_t begins; /* a job, or the end of the crew */
    pthread_cond_t ends;   /* no member works */
    struct crew_member *members;
    unsigned size;
    bool is_over;
    /* of the job: */
    step_crew_work work;
    void *user;
    size_t next; /* part to be begun */
    size_t count;
    unsigned working; /* members that do a part, besides the caller */
    size_t failed;    /* part with the status */
    enum step_status status;
};

/* Does parts until none is left.  Called and left with the lock held. */
static void take_parts(struct step_crew *crew, unsigned member)
{
    while (crew->next < crew->count) {
        size_t part = crew->next++;
        pthread_mutex_unlock(&crew->lock);
        enum step_status status = crew->work(crew->user, member, part);
        pthread_mutex_lock(&crew->lock);
        if (status == STEP_STATUS_OK)
            continue;
        if (crew->status == STEP_STATUS_OK || part < crew->failed) {
            crew->status = status;
            crew->failed = part;
        }
        crew->next = crew->count;
    }
}

static void *be_member(void *user)
{
    struct crew_member *member = user;
    struct step_crew *crew = member->crew;
    pthread_mutex_lock(&crew->lock);
    for (;;) {
        while (!crew->is_over && crew->next == crew->count)
            pthread_cond_wait(&crew->begins, &crew->lock);
        if (crew->is_over)
            break;
        crew->working++;
        take_parts(crew, member->number);
        if (--crew->working == 0)
            pthread_cond_signal(&crew->ends);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

bool step_thread_start(pthread_t *thread, void *(*work)(void *), void *user)
{
    sigset_t held, before;
    pthread_attr_t attributes;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    sigfillset(&held);
    if (!sigismember(&before, SIGXFSZ))
        sigdelset(&held, SIGXFSZ); /* of this thread's own writes: the program counts on it */
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &held, NULL);
    bool has_begun = pthread_create(thread, &attributes, work, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return has_begun;
}

static void start_members(struct step_crew *crew, unsigned size)
{
    for (crew->size = 1; crew->size < size; crew->size++) {
        struct crew_member *member = &crew->members[crew->size];
        *member = (struct crew_member){.crew = crew, .number = crew->size};
        if (!step_thread_start(&member->thread, be_member, member))
            break;
    }
}

unsigned step_crew_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int count = CPU_COUNT(&set);
    return count < MOST_PROCESSORS ? (unsigned) count : MOST_PROCESSORS;
}

struct step_crew *step_crew_create(unsigned size)
{
    struct step_crew *crew = size > 1 ? calloc(1, sizeof *crew) : NULL;
    if (crew == NULL)
        return NULL;
    crew->members = calloc(size, sizeof *crew->members);
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->begins, NULL);
    pthread_cond_init(&crew->ends, NULL);
    if (crew->members != NULL)
        start_members(crew, size);
    if (crew->size > 1)
        return crew;
    step_crew_destroy(crew);
    return NULL;
}

enum step_status step_crew_run(struct step_crew *crew, size_t count, step_crew_work work,
                               void *user)
{
    pthread_mutex_lock(&crew->lock);
    crew->work = work;
    crew->user = user;
    crew->next = 0;
    crew->count = count;
    crew->status = STEP_STATUS_OK;
    if (count > 1)
        pthread_cond_broadcast(&crew->begins);
    take_parts(crew, 0);
    while (crew->working > 0)
        pthread_cond_wait(&crew->ends, &crew->lock);
    enum step_status status = crew->status;
    pthread_mutex_unlock(&crew->lock);
    return status;
}

void step_crew_destroy(struct step_crew *crew)
{
    if (crew == NULL)
        return;
    pthread_mutex_lock(&crew->lock);
    crew->is_over = true;
    pthread_cond_broadcast(&crew->begins);
    pthread_mutex_unlock(&crew->lock);
    for (unsigned i = 1; i < crew->size; i++)
        pthread_join(crew->members[i].thread, NULL);
    pthread_cond_destroy(&crew->begins);
    pthread_cond_destroy(&crew->ends);
    pthread_mutex_destroy(&crew->lock);
    free(crew->members);
    free(crew);
}
