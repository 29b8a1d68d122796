/* SPDX-License-Identifier: Apache-2.0 */
#include "verb.h"
enum step_status verb_stats(int argc, char **argv)
{
    (void) argc;
    (void) argv;
    return STEP_STATUS_UNSUPPORTED;
}
