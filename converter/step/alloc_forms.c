/* SPDX-License-Identifier: Apache-2.0 */
/* The table of record types by tag. */
#include "converter/step/alloc_forms.h"

#include "steptrace/hatf_trace.h"

const struct alloc_form alloc_forms[HATF_COMMENT] = {
    [HATF_ALLOC] = {STEP_HEAP_ALLOC, STEP_HEAP_ALLOC_BY_RANK, false, true},
    [HATF_FREE] = {STEP_HEAP_FREE, STEP_HEAP_FREE_BY_AGE, true, false},
    [HATF_REALLOC_NO_ALLOC] = {STEP_HEAP_REALLOC_IN_PLACE, STEP_HEAP_REALLOC_IN_PLACE_BY_RANK, true,
                               true},
    [HATF_REALLOC_ALLOC_FREE] = {STEP_HEAP_REALLOC_MOVE, STEP_HEAP_REALLOC_MOVE_BY_RANK, true,
                                 true},
    [HATF_REALLOC_ALLOC] = {STEP_HEAP_REALLOC_ALLOC, STEP_HEAP_REALLOC_ALLOC_BY_RANK, true, true},
    [HATF_REALLOC_FREE] = {STEP_HEAP_REALLOC_FREE, STEP_HEAP_REALLOC_FREE_BY_RANK, true, true},
    [HATF_CREATE_HEAP] = {STEP_HEAP_HEAP_CREATE, STEP_HEAP_HEAP_CREATE, false, false},
    [HATF_DESTROY_HEAP] = {STEP_HEAP_HEAP_DESTROY, STEP_HEAP_HEAP_DESTROY, false, false},
    [HATF_CREATE_THREAD] = {STEP_HEAP_THREAD_CREATE, STEP_HEAP_THREAD_CREATE, false, false},
    [HATF_DESTROY_THREAD] = {STEP_HEAP_THREAD_DESTROY, STEP_HEAP_THREAD_DESTROY, false, false},
};
