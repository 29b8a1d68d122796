/* SPDX-License-Identifier: Apache-2.0 */
/* The main() of a unit test that has one suite. */
#include "tests/unit/run_suite.h"

#include <CUnit/Basic.h>

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    add_suite();
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures == 0 ? 0 : 1;
}
