/* SPDX-License-Identifier: Apache-2.0 */
/* The sample trace of the unit tests, for the fuzz targets here. */
#include "tests/formats/step/sample_trace.c" // NOLINT(bugprone-suspicious-include)
