/* SPDX-License-Identifier: Apache-2.0 */
/* Writes Thrift's compact protocol: field headers with differences of field numbers, and zigzag
 * varints. */
#include "analyses/tables/formats/parquet_column.h"

void thrift_put_number(struct thrift_output *thrift, int64_t value)
{
    bytes_put_varint(thrift->out, (uint64_t) value << 1 ^ (uint64_t) (value >> 63));
}

static void thrift_output_put_field(struct thrift_output *thrift, int field, enum thrift_type type)
{
    int step = field - thrift->last[thrift->depth];
    if (step > 0 && step < 16) {
        bytes_put_little(thrift->out, (unsigned) step << 4 | type, 1);
    } else {
        bytes_put_little(thrift->out, type, 1);
        thrift_put_number(thrift, field);
    }
    thrift->last[thrift->depth] = field;
}

void thrift_init(struct thrift_output *thrift, struct byte_output *out)
{
    *thrift = (struct thrift_output){.out = out};
}

void thrift_begin_element(struct thrift_output *thrift)
{
    thrift->last[++thrift->depth] = 0;
}

void thrift_begin_struct(struct thrift_output *thrift, int field)
{
    thrift_output_put_field(thrift, field, THRIFT_STRUCT);
    thrift_begin_element(thrift);
}

void thrift_end_struct(struct thrift_output *thrift)
{
    bytes_put_little(thrift->out, 0, 1);
    if (thrift->depth > 0)
        thrift->depth--;
}

void thrift_begin_list(struct thrift_output *thrift, int field, enum thrift_type type, size_t count)
{
    thrift_output_put_field(thrift, field, THRIFT_LIST);
    if (count < 15) {
        bytes_put_little(thrift->out, (unsigned) count << 4 | type, 1);
        return;
    }
    bytes_put_little(thrift->out, 0xf0u | type, 1);
    bytes_put_varint(thrift->out, count);
}

void thrift_i32(struct thrift_output *thrift, int field, int64_t value)
{
    thrift_output_put_field(thrift, field, THRIFT_I32);
    thrift_put_number(thrift, value);
}

void thrift_i64(struct thrift_output *thrift, int field, int64_t value)
{
    thrift_output_put_field(thrift, field, THRIFT_I64);
    thrift_put_number(thrift, value);
}

void thrift_byte(struct thrift_output *thrift, int field, uint8_t value)
{
    thrift_output_put_field(thrift, field, THRIFT_BYTE);
    bytes_put_little(thrift->out, value, 1);
}

void thrift_bool(struct thrift_output *thrift, int field, bool value)
{
    thrift_output_put_field(thrift, field, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_put_binary(struct thrift_output *thrift, struct step_bytes value)
{
    bytes_put_varint(thrift->out, value.length);
    bytes_put(thrift->out, value.data, value.length);
}

void thrift_binary(struct thrift_output *thrift, int field, struct step_bytes value)
{
    thrift_output_put_field(thrift, field, THRIFT_BINARY);
    thrift_put_binary(thrift, value);
}

void thrift_put_bool(struct thrift_output *thrift, bool value)
{
    bytes_put_little(thrift->out, value ? THRIFT_TRUE : THRIFT_FALSE, 1);
}
