/* SPDX-License-Identifier: Apache-2.0 */
/* The table of records. */
#include "converter/formats/step/alloc_forms.h"

#include "steptrace/hatf_trace.h"

const struct alloc_form alloc_forms[HATF_COMMENT] = {
    [HATF_ALLOC] = {HEAP_ALLOC, HEAP_ALLOC_BY_PLACE, false, true},
    [HATF_FREE] = {HEAP_FREE, HEAP_FREE_BY_AGE, true, false},
    [HATF_REALLOC_NO_ALLOC] = {HEAP_REALLOC_IN_PLACE, HEAP_REALLOC_IN_PLACE_BY_PLACE, true, true},
    [HATF_REALLOC_ALLOC_FREE] = {HEAP_REALLOC_MOVE, HEAP_REALLOC_MOVE_BY_PLACE, true, true},
    [HATF_REALLOC_ALLOC] = {HEAP_REALLOC_ALLOC, HEAP_REALLOC_ALLOC_BY_PLACE, true, true},
    [HATF_REALLOC_FREE] = {HEAP_REALLOC_FREE, HEAP_REALLOC_FREE_BY_PLACE, true, true},
    [HATF_CREATE_HEAP] = {HEAP_HEAP_CREATE, HEAP_HEAP_CREATE, false, false},
    [HATF_DESTROY_HEAP] = {HEAP_HEAP_DESTROY, HEAP_HEAP_DESTROY, false, false},
    [HATF_CREATE_THREAD] = {HEAP_THREAD_CREATE, HEAP_THREAD_CREATE, false, false},
    [HATF_DESTROY_THREAD] = {HEAP_THREAD_DESTROY, HEAP_THREAD_DESTROY, false, false},
};
