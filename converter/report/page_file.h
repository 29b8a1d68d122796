/* SPDX-License-Identifier: Apache-2.0 */
/* A page as a file: its fixed parts with data between. */
#ifndef CONVERTER_REPORT_PAGE_FILE_H
#define CONVERTER_REPORT_PAGE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "steptrace/status.h"

struct page_parts {
    const unsigned char *before;
    size_t before_bytes;
    const unsigned char *after;
    size_t after_bytes;
};

/* Puts the data of a page; false: out of memory. */
typedef bool (*page_put_data)(const void *user, FILE *out);

/* The data stands in memory first: its size is bounded by what a page may hold. */
enum step_status page_file_write(const char *path, const struct page_parts *parts,
                                 page_put_data put, const void *user, struct step_error *error);

#endif
