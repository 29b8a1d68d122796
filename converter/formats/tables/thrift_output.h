/* SPDX-License-Identifier: Apache-2.0 */
/* Writes Thrift's compact protocol, limited to the types that Parquet's metadata uses. */
#ifndef CONVERTER_FORMATS_TABLES_THRIFT_OUTPUT_H
#define CONVERTER_FORMATS_TABLES_THRIFT_OUTPUT_H

#include "converter/base/byte_output.h"

enum { THRIFT_DEPTH_MOST = 8 };

enum thrift_type {
    THRIFT_TRUE = 1,
    THRIFT_FALSE = 2,
    THRIFT_BYTE = 3,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12
};

struct thrift_output {
    struct byte_output *out;     /* borrowed; has the failures */
    int last[THRIFT_DEPTH_MOST]; /* field, by depth */
    int depth;
};

/* Begins the outermost struct, which is ended like any other. */
void thrift_init(struct thrift_output *thrift, struct byte_output *out);

void thrift_begin_struct(struct thrift_output *thrift, int field);
/* Begins an element of a list of structs. */
void thrift_begin_element(struct thrift_output *thrift);
void thrift_end_struct(struct thrift_output *thrift);
void thrift_begin_list(struct thrift_output *thrift, int field, enum thrift_type type,
                       size_t count);

void thrift_i32(struct thrift_output *thrift, int field, int64_t value);
void thrift_i64(struct thrift_output *thrift, int field, int64_t value);
void thrift_byte(struct thrift_output *thrift, int field, uint8_t value);
void thrift_bool(struct thrift_output *thrift, int field, bool value);
void thrift_binary(struct thrift_output *thrift, int field, struct step_bytes value);
/* Writes an element of a list. */
void thrift_put_number(struct thrift_output *thrift, int64_t value);
void thrift_put_binary(struct thrift_output *thrift, struct step_bytes value);
void thrift_put_bool(struct thrift_output *thrift, bool value);

#endif
