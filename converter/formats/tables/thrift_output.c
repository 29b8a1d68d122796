/* SPDX-License-Identifier: Apache-2.0 */
/* Writes Thrift's compact protocol: field headers with differences of field numbers, and zigzag
 * varints. */
#include "converter/formats/tables/thrift_output.h"

static void put_byte(struct thrift_output *thrift, unsigned value)
{
    uint8_t byte = (uint8_t) value;
    if (!step_buffer_append(thrift->out, &byte, 1))
        thrift->failed = true;
}

static void put_varint(struct thrift_output *thrift, uint64_t value)
{
    if (!step_buffer_append_varint(thrift->out, value))
        thrift->failed = true;
}

void thrift_put_number(struct thrift_output *thrift, int64_t value)
{
    put_varint(thrift, (uint64_t) value << 1 ^ (uint64_t) (value >> 63));
}

static void put_field(struct thrift_output *thrift, int field, enum thrift_type type)
{
    int step = field - thrift->last[thrift->depth];
    if (step > 0 && step < 16) {
        put_byte(thrift, (unsigned) step << 4 | type);
    } else {
        put_byte(thrift, type);
        thrift_put_number(thrift, field);
    }
    thrift->last[thrift->depth] = field;
}

void thrift_init(struct thrift_output *thrift, struct step_buffer *out)
{
    *thrift = (struct thrift_output){.out = out};
}

void thrift_begin_element(struct thrift_output *thrift)
{
    thrift->last[++thrift->depth] = 0;
}

void thrift_begin_struct(struct thrift_output *thrift, int field)
{
    put_field(thrift, field, THRIFT_STRUCT);
    thrift_begin_element(thrift);
}

void thrift_end_struct(struct thrift_output *thrift)
{
    put_byte(thrift, 0);
    if (thrift->depth > 0)
        thrift->depth--;
}

void thrift_begin_list(struct thrift_output *thrift, int field, enum thrift_type type, size_t count)
{
    put_field(thrift, field, THRIFT_LIST);
    if (count < 15) {
        put_byte(thrift, (unsigned) count << 4 | type);
        return;
    }
    put_byte(thrift, 0xf0u | type);
    put_varint(thrift, count);
}

void thrift_i32(struct thrift_output *thrift, int field, int64_t value)
{
    put_field(thrift, field, THRIFT_I32);
    thrift_put_number(thrift, value);
}

void thrift_i64(struct thrift_output *thrift, int field, int64_t value)
{
    put_field(thrift, field, THRIFT_I64);
    thrift_put_number(thrift, value);
}

void thrift_byte(struct thrift_output *thrift, int field, uint8_t value)
{
    put_field(thrift, field, THRIFT_BYTE);
    put_byte(thrift, value);
}

void thrift_bool(struct thrift_output *thrift, int field, bool value)
{
    put_field(thrift, field, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_put_binary(struct thrift_output *thrift, struct step_bytes value)
{
    put_varint(thrift, value.length);
    if (value.length > 0 && !step_buffer_append(thrift->out, value.data, value.length))
        thrift->failed = true;
}

void thrift_binary(struct thrift_output *thrift, int field, struct step_bytes value)
{
    put_field(thrift, field, THRIFT_BINARY);
    thrift_put_binary(thrift, value);
}

void thrift_put_bool(struct thrift_output *thrift, bool value)
{
    put_byte(thrift, value ? THRIFT_TRUE : THRIFT_FALSE);
}
