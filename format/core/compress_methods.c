/* SPDX-License-Identifier: Apache-2.0 */
/* The table of compression methods.  A module that only writes has its own table with just the
 * first method (capture/modules), so that it needs no other library. */
#include "format/core/compress_method.h"

const struct step_method *const step_methods[] = {
#if STEPTRACE_ZSTD
    &step_method_zstd,
#endif
#if !STEPTRACE_ZSTD || !defined(STEPTRACE_ONE_METHOD)
    &step_method_zlib,
#endif
#if STEPTRACE_XZ
    &step_method_xz,
#endif
};
const size_t step_method_count = sizeof step_methods / sizeof step_methods[0];
_Static_assert(sizeof step_methods / sizeof step_methods[0] <= STEP_METHODS_MOST,
               "a context for each");
