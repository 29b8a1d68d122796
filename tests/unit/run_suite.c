/* SPDX-License-Identifier: Apache-2.0 */
/* The main() of unit tests. */
#include "tests/unit/run_suite.h"

#include <CUnit/Basic.h>

const char *suite_argument;

int main(int argc, char **argv)
{
    suite_argument = argc > 1 ? argv[1] : NULL;
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    add_suite();
    if (CU_get_error() != CUE_SUCCESS)
        return 1;
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failure_records(); /* a suite that did not begin is one */
    CU_cleanup_registry();
    return failures == 0 ? 0 : 1;
}
