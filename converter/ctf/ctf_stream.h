/* SPDX-License-Identifier: Apache-2.0 */
/* A file of a CTF trace: one stream of events in packets. */
#ifndef CONVERTER_CTF_CTF_STREAM_H
#define CONVERTER_CTF_CTF_STREAM_H

#include "converter/ctf/ctf_metadata.h"
#include "converter/files/output_file.h"
#include "format/core/bytes.h"

struct ctf_stream {
    struct output_file file;
    enum ctf_stream_class class;
    bool has_clock;
    uint64_t number;         /* of the trace's stream */
    struct step_buffer body; /* the events of the packet */
    uint64_t begin, last;    /* times of the packet's first event, and of the latest of all */
    uint64_t event_count;    /* in the packet */
    uint64_t packet_count;   /* that were written */
    uint64_t lost_count;     /* events of which it is known that they were lost */
    uint64_t told_count;     /* of them those that a packet has told */
};

/* Zero-initialised has no file.  `path` lives on. */
enum step_status ctf_stream_open(struct ctf_stream *stream, const char *path,
                                 enum ctf_stream_class class, uint64_t number, bool has_clock,
                                 struct step_error *error);
/* Begins an event: its fields are to be appended to `stream->body`.  Times that go back become the
 * last one.  False: out of memory. */
bool ctf_stream_event(struct ctf_stream *stream, uint32_t id, uint64_t time);
/* Writes the packet, where there are events for one, or losses to tell; `at_least`: if it has so
 * many bytes. */
enum step_status ctf_stream_packet(struct ctf_stream *stream, size_t at_least,
                                   struct step_error *error);
/* The last packet; the file is complete. */
enum step_status ctf_stream_close(struct ctf_stream *stream, struct step_error *error);
void ctf_stream_reset(struct ctf_stream *stream);

#endif
