/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a report, made at build time of the files in converter/report/: what stands before
 * its data and what stands after. */
#ifndef CONVERTER_REPORT_REPORT_PAGE_H
#define CONVERTER_REPORT_REPORT_PAGE_H

#include <stddef.h>

extern const unsigned char report_page_before[];
extern const size_t report_page_before_bytes;
extern const unsigned char report_page_after[];
extern const size_t report_page_after_bytes;

#endif
