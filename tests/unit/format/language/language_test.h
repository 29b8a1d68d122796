/* SPDX-License-Identifier: Apache-2.0 */
/* What the suites about STEP-DL share: parsing a text, and the faults that were reported. */
#ifndef TESTS_UNIT_FORMAT_LANGUAGE_LANGUAGE_TEST_H
#define TESTS_UNIT_FORMAT_LANGUAGE_LANGUAGE_TEST_H

#include <CUnit/CUnit.h>
#include <string.h>

#include "steptrace/definition.h"

struct fault_list {
    size_t count;
    char first[300]; /* "line:column: message" */
    uint32_t lines[128];
};

/* NULL where the text has faults.  `faults` and `error` may be NULL. */
struct step_definition *dl_parse_text(const char *text, struct fault_list *faults,
                                      struct step_error *error);

const struct step_record *dl_record(const struct step_definition *definition, const char *name);
const struct step_field *dl_field(const struct step_definition *definition, const char *record,
                                  const char *field);
/* "group=value;group=value;" in order. */
const char *dl_attributes(const struct step_attributes *attributes, char *out, size_t out_size);
const struct step_attributes *dl_sub(const struct step_field *field, const char *path);

CU_pSuite dl_add_language_suite(void);
CU_pSuite dl_add_fault_suite(void);
CU_pSuite dl_add_binding_suite(void);
CU_pSuite dl_add_evolution_suite(void);
CU_pSuite dl_add_figure_suite(void);

#endif
