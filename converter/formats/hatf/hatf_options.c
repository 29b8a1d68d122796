/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of HATF, and the options of their encodings. */
#include <string.h>

#include "converter/formats/hatf/hatf_format.h"
#include "converter/trace/events_as_allocs.h"

static const struct format_option encoding_rows[] = {
    {{"encoding", 0, "NAME", "HATF: naive (default), small-size, ..., best or optimal",
      WORDS_OF(enum hatf_encoding, "naive", "small-size", "same-size", "combined-size",
               "base-offset-1", "base-offset-2", "best-base-offset", "stride", "best", "optimal")},
     offsetof(struct hatf_options, encoding)},
    {{"for", 0, "PACKER", "HATF: with best or optimal, minimise the size after gzip or zstd",
      WORDS_OF(enum hatf_packer, "", "gzip", "zstd")},
     offsetof(struct hatf_options, packed_by)},
    {.place = 0}};

static const struct format_option field_rows[] = {
    {{"field-bytes", 0, "N", "simple-binary: bytes a field, 8 (default) or 4",
      WORDS_OF(unsigned, "", "4", "8")},
     0},
    {.place = 0}};

const struct format_options hatf_options = {sizeof(struct hatf_options), encoding_rows, NULL};
const struct format_options simple_binary_options = {sizeof(unsigned), field_rows, NULL};

/* HATF has no magic number; files of StepTrace begin with a comment. */
static bool starts_hatf(const char *start, size_t length)
{
    static const char comment[] = "HATF 1.0";
    return length >= 3 + sizeof comment - 1 && start[0] == HATF_COMMENT &&
           memcmp(start + 3, comment, sizeof comment - 1) == 0;
}

/* A ZIP file whose first entry has one of two names. */
static bool starts_split(const char *start, size_t length)
{
    return length >= 34 && memcmp(start, "PK\003\004", 4) == 0 &&
           (memcmp(start + 30, "hatf", 4) == 0 || memcmp(start + 30, "tag", 3) == 0);
}

static const struct format_options *const binary_options[] = {
    &alloc_event_options, &hatf_options, &alloc_split_options, &alloc_omit_options, NULL};
/* The entries of a ZIP file are compressed. */
static const struct format_options *const zip_options[] = {
    &alloc_event_options, &hatf_options,        &alloc_split_options,
    &alloc_omit_options,  &compression_options, NULL};
static const struct format_options *const text_options[] = {&alloc_event_options,
                                                            &alloc_omit_options, NULL};
static const struct format_options *const simple_options[] = {
    &alloc_event_options, &alloc_omit_options, &simple_binary_options, NULL};

/* Members shared by the binary formats. */
#define OF_BINARY                                                                                  \
    .needs = FORMAT_NEEDS_ALLOCATIONS, .open_source = hatf_source_create,                          \
    .alloc_sink = &hatf_sink_operations

const struct trace_format format_hatf = {
    .name = "hatf",
    .ending = ".hatf",
    .help = "HATF 1.0",
    .packs_by_ending = true,
    .starts = starts_hatf,
    .open_stream = hatf_stream_create,
    .options = binary_options,
    OF_BINARY,
};

const struct trace_format format_hatf_zip = {
    .name = "hatf.zip",
    .ending = ".hatf.zip",
    .help = "HATF, one ZIP entry per stream",
    .starts = starts_split,
    .options = zip_options,
    OF_BINARY,
};

const struct trace_format format_hatf_txt = {
    .name = "hatf.txt",
    .ending = ".hatf.txt",
    .help = "HATF as text, a record per line",
    .packs_by_ending = true,
    .needs = FORMAT_NEEDS_ALLOCATIONS,
    .options = text_options,
    .magic = "# HATF",
    .open_source = hatf_source_create,
    .open_stream = hatf_stream_create,
    .alloc_sink = &hatf_text_sink_operations,
};

const struct trace_format format_memory_replay = {
    .name = "memory-replay",
    .ending = ".memory-replay.txt",
    .help = "text for Android's memory_replay",
    .packs_by_ending = true,
    .needs = FORMAT_NEEDS_ALLOCATIONS,
    .options = text_options,
    .alloc_sink = &hatf_text_sink_operations,
};

const struct trace_format format_simple_binary = {
    .name = "simple-binary",
    .ending = ".simple.bin",
    .help = "the HATF paper's simple binary",
    .packs_by_ending = true,
    .needs = FORMAT_NEEDS_ALLOCATIONS,
    .options = simple_options,
    .alloc_sink = &simple_binary_sink_operations,
};
