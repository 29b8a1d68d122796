/* SPDX-License-Identifier: Apache-2.0 */
/* What the suites about records share. */
#ifndef TESTS_UNIT_FORMAT_STEP_RECORDS_TEST_H
#define TESTS_UNIT_FORMAT_STEP_RECORDS_TEST_H

#include <CUnit/Basic.h>
#include <string.h>

#include "steptrace/definition.h"

static inline struct step_definition *parse(const char *text)
{
    struct step_definition *definition = NULL;
    struct step_error error = {.message = ""};
    step_definition_parse(text, strlen(text), "test", NULL, NULL, &definition, &error);
    CU_ASSERT_STRING_EQUAL(error.message, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    return definition;
}

CU_pSuite records_add_maps_suite(void);

#endif
