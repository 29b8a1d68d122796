/* SPDX-License-Identifier: Apache-2.0 */
/* What putting and getting values share. */
#ifndef FORMAT_CODEC_ROW_ENCODER_STATE_H
#define FORMAT_CODEC_ROW_ENCODER_STATE_H

#include "format/codec/row/encoder.h"
#include "format/codec/row/identifiers.h"
#include "format/codec/strategies/packed_strings.h"

#endif
