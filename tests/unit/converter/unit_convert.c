/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the converter's unit tests. */
#include "tests/unit/converter/unit_convert.h"

#include <CUnit/Basic.h>

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    add_heap_tests();
    add_heap_trace_tests();
    add_json_input_tests();
    add_live_table_tests();
    add_table_tests();
    add_timeline_tests();
    add_selection_tests();
    add_sites_tests();
    add_statistics_tests();
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures == 0 ? 0 : 1;
}
