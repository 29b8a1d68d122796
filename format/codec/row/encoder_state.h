/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by the row encoder and decoder. */
#ifndef FORMAT_CODEC_ROW_ENCODER_STATE_H
#define FORMAT_CODEC_ROW_ENCODER_STATE_H

#include "format/codec/row/encoder.h"
#include "format/codec/strategies/packed_strings.h"

#endif
