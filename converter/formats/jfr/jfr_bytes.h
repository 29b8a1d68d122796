/* SPDX-License-Identifier: Apache-2.0 */
/* How JDK Flight Recorder encodes numbers, texts and events, in a growing buffer. */
#ifndef CONVERTER_FORMATS_JFR_JFR_BYTES_H
#define CONVERTER_FORMATS_JFR_JFR_BYTES_H

#include "format/core/bytes.h"
#include "steptrace/value.h"

/* A value that is not known: readers show it as "N/A". */
#define JFR_UNKNOWN (UINT64_C(1) << 63)

/* Zero-initialise for an empty buffer. */
struct jfr_bytes {
    struct step_buffer buffer;
    struct step_buffer text; /* scratch */
    bool failed;             /* out of memory: something is missing */
};

void jfr_bytes_reset(struct jfr_bytes *bytes);

static inline void jfr_bytes_clear(struct jfr_bytes *bytes)
{
    bytes->buffer.length = 0;
}

void jfr_put_byte(struct jfr_bytes *bytes, unsigned byte);
/* A compressed integer: 7 bits per byte, the lowest first; the ninth byte has 8. */
void jfr_put_number(struct jfr_bytes *bytes, uint64_t value);
void jfr_put_big_endian(struct jfr_bytes *bytes, uint64_t value, unsigned byte_count);
/* A string in the place where it is used; bytes that are not UTF-8 become U+FFFD. */
void jfr_put_text(struct jfr_bytes *bytes, struct step_bytes text);
/* The same, but null if there is no text. */
void jfr_put_optional_text(struct jfr_bytes *bytes, const char *text);
void jfr_put_bytes(struct jfr_bytes *bytes, const struct jfr_bytes *more);
/* An event of which `body` is what follows the size. */
void jfr_put_event(struct jfr_bytes *bytes, const struct jfr_bytes *body);

#endif
