/* SPDX-License-Identifier: Apache-2.0 */
/* The pages, built from the files of this folder: the parts before and after their data. */
#ifndef ANALYSES_PAGE_PAGES_H
#define ANALYSES_PAGE_PAGES_H

#include "steptrace/value.h"

extern const struct step_bytes report_page[2], compare_page[2], estimates_page[2];

#endif
