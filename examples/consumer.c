/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a trace: consumer FILE.  What it does not know of a newer definition it passes over. */
#include <inttypes.h>
#include <stdio.h>

#include "net_trace.h"

static void print_tcp(const struct net_trace_reader *in, const struct net_tcp *tcp)
{
    struct net_host from;
    if (!net_host_look_up(&in->binding, in->file, tcp->from, &from))
        from.name = (struct step_bytes){(const uint8_t *) "?", 1};
    printf("%" PRIu64 ": %.*s, port %" PRIu64 ":", tcp->time, (int) from.name.length,
           (const char *) from.name.data, tcp->port);
    for (size_t i = 0; i < tcp->flags.count; i++) {
        const struct step_bytes *flag = step_slot_bytes(tcp->flags.slots[i]);
        printf(" %.*s", (int) flag->length, (const char *) flag->data);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct net_trace_reader in;
    struct step_record_view view;
    uint64_t events = 0, packets = 0, bytes = 0, lost = 0;
    if (argc != 2 || net_trace_open(argv[1], &in, &error) != STEP_STATUS_OK) {
        fprintf(stderr, "consumer: %s\n", argc != 2 ? "usage: consumer FILE" : error.message);
        return 1;
    }
    enum step_status status;
    while ((status = net_trace_next(&in, &view, &error)) != STEP_STATUS_END) {
        if (status != STEP_STATUS_OK) { /* damage: what is behind it is read all the same */
            fprintf(stderr, "consumer: %s\n", error.message);
            if (status == STEP_STATUS_CORRUPT || status == STEP_STATUS_CUT)
                continue;
            break;
        }
        struct net_event event;
        struct net_packet packet;
        struct net_tcp tcp;
        struct net_lost gone;
        events += net_event_get(&in.binding, &view, &event);
        if (net_packet_get(&in.binding, &view, &packet)) { /* a Tcp is one, too */
            packets++;
            bytes += packet.bytes;
        }
        if (net_tcp_get(&in.binding, &view, &tcp))
            print_tcp(&in, &tcp);
        lost += net_lost_get(&in.binding, &view, &gone);
    }
    printf("%" PRIu64 " events, %" PRIu64 " packets, %" PRIu64 " bytes, %" PRIu64 " lost\n", events,
           packets, bytes, lost);
    return net_trace_close(&in) == STEP_STATUS_OK ? 0 : 1;
}
