/* SPDX-License-Identifier: Apache-2.0 */
/* The pages, built from the files in converter/report/page: the parts before and after their
 * data. */
#ifndef CONVERTER_REPORT_REPORT_PAGE_H
#define CONVERTER_REPORT_REPORT_PAGE_H

#include <stddef.h>

extern const unsigned char report_page_before[];
extern const size_t report_page_before_bytes;
extern const unsigned char report_page_after[];
extern const size_t report_page_after_bytes;

extern const unsigned char compare_page_parts_before[];
extern const size_t compare_page_parts_before_bytes;
extern const unsigned char compare_page_parts_after[];
extern const size_t compare_page_parts_after_bytes;

extern const unsigned char sampled_page_parts_before[];
extern const size_t sampled_page_parts_before_bytes;
extern const unsigned char sampled_page_parts_after[];
extern const size_t sampled_page_parts_after_bytes;

#endif
