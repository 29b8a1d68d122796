/* SPDX-License-Identifier: Apache-2.0 */
/* Packets are made in memory, since their heads say how long they are. */
#include "converter/ctf/ctf_stream.h"

#include "converter/base/no_memory.h"
#include "converter/ctf/ctf_values.h"

#define PACKET_MAGIC 0xC1FC1FC1u

enum step_status ctf_stream_open(struct ctf_stream *stream, const char *path,
                                 enum ctf_stream_class class, uint64_t number, bool has_clock,
                                 struct step_error *error)
{
    stream->class = class;
    stream->number = number;
    stream->has_clock = has_clock;
    stream->body.length = 0;
    stream->begin = stream->last = stream->event_count = stream->packet_count = 0;
    stream->lost_count = stream->told_count = 0;
    return output_file_open(&stream->file, path, error);
}

bool ctf_stream_event(struct ctf_stream *stream, uint32_t id, uint64_t time)
{
    if (time > stream->last)
        stream->last = time;
    if (stream->event_count++ == 0)
        stream->begin = stream->last;
    return ctf_put_number(&stream->body, id, 4) &&
           (!stream->has_clock || ctf_put_number(&stream->body, stream->last, 8));
}

/* The header and the context of packets, as ctf_metadata.c has them. */
static bool make_head(const struct ctf_stream *stream, struct step_buffer *head)
{
    size_t length = (stream->has_clock ? 2 * 8 : 0) + 4 + 4 + 8 + 4 * 8;
    uint64_t bits = (length + stream->body.length) * 8;
    bool ok = ctf_put_number(head, PACKET_MAGIC, 4) && ctf_put_number(head, stream->class, 4) &&
              ctf_put_number(head, stream->number, 8);
    if (stream->has_clock)
        ok = ok &&
             ctf_put_number(head, stream->event_count > 0 ? stream->begin : stream->last, 8) &&
             ctf_put_number(head, stream->last, 8);
    return ok && ctf_put_number(head, bits, 8) && ctf_put_number(head, bits, 8) &&
           ctf_put_number(head, stream->packet_count, 8) &&
           ctf_put_number(head, stream->lost_count, 8);
}

enum step_status ctf_stream_packet(struct ctf_stream *stream, size_t at_least,
                                   struct step_error *error)
{
    struct step_buffer head = {0};
    bool is_needed = stream->event_count > 0 || stream->lost_count > stream->told_count;
    if (!is_needed || stream->body.length < at_least)
        return STEP_STATUS_OK;
    enum step_status status = make_head(stream, &head)
                                  ? output_file_write(&stream->file, head.data, head.length, error)
                                  : no_memory(error);
    if (status == STEP_STATUS_OK)
        status = output_file_write(&stream->file, stream->body.data, stream->body.length, error);
    step_buffer_reset(&head);
    stream->told_count = stream->lost_count;
    stream->body.length = 0;
    stream->event_count = 0;
    stream->packet_count++;
    return status;
}

enum step_status ctf_stream_close(struct ctf_stream *stream, struct step_error *error)
{
    enum step_status status = ctf_stream_packet(stream, 0, error);
    return status == STEP_STATUS_OK ? output_file_commit(&stream->file, error) : status;
}

void ctf_stream_reset(struct ctf_stream *stream)
{
    output_file_abort(&stream->file);
    step_buffer_reset(&stream->body);
}
