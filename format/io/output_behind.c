/* SPDX-License-Identifier: Apache-2.0 */
/* Two buffers: one is filled by the caller, the other passed on by a thread. */
#include "format/io/output_behind.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/crew.h"

enum { BUFFER_BYTES = 1 << 18 };

struct step_output_behind {
    struct step_output to;
    /* of the caller: */
    unsigned char *filling;
    size_t length;
    bool has_thread;
    bool stays_alone; /* no thread is to be had */
    pthread_t thread;
    /* under the lock: */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned char *passing;
    size_t passing_length; /* 0: nothing is passed on */
    bool is_over;
    enum step_status status; /* the first failure */
    struct step_error error;
};

struct step_output_behind *step_output_behind_create(const struct step_output *to)
{
    struct step_output_behind *behind = calloc(1, sizeof *behind);
    if (behind == NULL)
        return NULL;
    behind->to = *to;
    behind->error.offset = STEP_NO_OFFSET;
    behind->stays_alone = step_crew_processors() < 2;
    pthread_mutex_init(&behind->lock, NULL);
    pthread_cond_init(&behind->changed, NULL);
    behind->filling = malloc(BUFFER_BYTES);
    behind->passing = malloc(BUFFER_BYTES);
    if (behind->filling != NULL && behind->passing != NULL)
        return behind;
    step_output_behind_destroy(behind);
    return NULL;
}

static void *output_behind_pass_on(void *user)
{
    struct step_output_behind *behind = user;
    pthread_mutex_lock(&behind->lock);
    for (;;) {
        while (!behind->is_over && behind->passing_length == 0)
            pthread_cond_wait(&behind->changed, &behind->lock);
        if (behind->is_over)
            break;
        pthread_mutex_unlock(&behind->lock);
        struct step_error error = {.offset = STEP_NO_OFFSET};
        enum step_status status =
            behind->to.write(behind->to.user, behind->passing, behind->passing_length, &error);
        pthread_mutex_lock(&behind->lock);
        if (status != STEP_STATUS_OK && behind->status == STEP_STATUS_OK) {
            behind->status = status;
            behind->error = error;
        }
        behind->passing_length = 0;
        pthread_cond_signal(&behind->changed);
    }
    pthread_mutex_unlock(&behind->lock);
    return NULL;
}

/* Waits until the thread has nothing to pass on.  Called with the lock held. */
static enum step_status wait_for_thread(struct step_output_behind *behind, struct step_error *error)
{
    while (behind->passing_length != 0)
        pthread_cond_wait(&behind->changed, &behind->lock);
    if (behind->status != STEP_STATUS_OK && error != NULL)
        *error = behind->error;
    return behind->status;
}

/* Hands the filled buffer to the thread, or passes it on where there is none. */
static enum step_status hand_over(struct step_output_behind *behind, struct step_error *error)
{
    size_t length = behind->length;
    behind->length = 0;
    if (!behind->has_thread && !behind->stays_alone) {
        behind->has_thread = step_thread_start(&behind->thread, output_behind_pass_on, behind);
        behind->stays_alone = !behind->has_thread;
    }
    if (!behind->has_thread)
        return behind->to.write(behind->to.user, behind->filling, length, error);
    pthread_mutex_lock(&behind->lock);
    enum step_status status = wait_for_thread(behind, error);
    if (status == STEP_STATUS_OK) {
        unsigned char *filled = behind->filling;
        behind->filling = behind->passing;
        behind->passing = filled;
        behind->passing_length = length;
        pthread_cond_signal(&behind->changed);
    }
    pthread_mutex_unlock(&behind->lock);
    return status;
}

enum step_status step_output_behind_write(struct step_output_behind *behind, const void *data,
                                          size_t length, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    while (length > 0 && status == STEP_STATUS_OK) {
        size_t room = BUFFER_BYTES - behind->length;
        size_t piece = length < room ? length : room;
        memcpy(behind->filling + behind->length, data, piece);
        behind->length += piece;
        data = (const unsigned char *) data + piece;
        length -= piece;
        if (behind->length == BUFFER_BYTES)
            status = hand_over(behind, error);
    }
    return status;
}

static enum step_status write_behind(void *user, const void *data, size_t length,
                                     struct step_error *error)
{
    return step_output_behind_write(user, data, length, error);
}

struct step_output step_output_behind_as_output(struct step_output_behind *behind)
{
    return (struct step_output){behind, write_behind};
}

enum step_status step_output_behind_finish(struct step_output_behind *behind,
                                           struct step_error *error)
{
    pthread_mutex_lock(&behind->lock);
    enum step_status status = wait_for_thread(behind, error);
    pthread_mutex_unlock(&behind->lock);
    if (status == STEP_STATUS_OK && behind->length > 0)
        status = behind->to.write(behind->to.user, behind->filling, behind->length, error);
    behind->length = 0;
    return status;
}

void step_output_behind_destroy(struct step_output_behind *behind)
{
    if (behind == NULL)
        return;
    if (behind->has_thread) {
        pthread_mutex_lock(&behind->lock);
        behind->is_over = true;
        pthread_cond_signal(&behind->changed);
        pthread_mutex_unlock(&behind->lock);
        pthread_join(behind->thread, NULL);
    }
    pthread_cond_destroy(&behind->changed);
    pthread_mutex_destroy(&behind->lock);
    free(behind->filling);
    free(behind->passing);
    free(behind);
}
