/* SPDX-License-Identifier: Apache-2.0 */
/* The suites of the converter's unit tests. */
#ifndef UNIT_CONVERT_H
#define UNIT_CONVERT_H

void add_heap_tests(void);
void add_heap_trace_tests(void);
void add_json_input_tests(void);
void add_live_table_tests(void);
void add_table_tests(void);
void add_timeline_tests(void);
void add_selection_tests(void);
void add_sites_tests(void);
void add_statistics_tests(void);

#endif
