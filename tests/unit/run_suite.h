/* SPDX-License-Identifier: Apache-2.0 */
/* What run_suite.c runs: each program has one. */
#ifndef TESTS_UNIT_RUN_SUITE_H
#define TESTS_UNIT_RUN_SUITE_H

void add_suite(void);

#endif
