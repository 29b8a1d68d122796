/* SPDX-License-Identifier: Apache-2.0 */
/* What run_suite.c, the main() of unit tests, runs: each program has one. */
#ifndef TESTS_UNIT_RUN_SUITE_H
#define TESTS_UNIT_RUN_SUITE_H

/* The program's first argument, or NULL. */
extern const char *suite_argument;

/* Adds the program's suites to CUnit's registry.  What can fail is for a suite's initializer. */
void add_suite(void);

#endif
