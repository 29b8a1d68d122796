/* SPDX-License-Identifier: Apache-2.0 */
/* A request of HTTP/1.0, whose answer ends with the connection. */
#include "converter/output/http_post.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "converter/cli/descriptors.h"
#include "converter/files/monotonic_time.h"
#include "format/core/bytes.h"

#define SCHEME "http://"
#define STEP_SECONDS 30   /* of a connect, a send or a receive */
#define WHOLE_SECONDS 120 /* of all that is sent, and of all that is received */
#define COPY_BYTES 65536u
#define ANSWER_BYTES 65536u

struct address {
    bool is_v6;
    uint16_t port;
    const char *host; /* in the URL, up to the path */
    size_t host_length;
    const char *path;
};

bool http_is_url(const char *output)
{
    return strncmp(output, SCHEME, sizeof SCHEME - 1) == 0 ||
           strncmp(output, "https://", sizeof "https://" - 1) == 0;
}

/* Returns what follows the name of a loopback address, or NULL. */
static const char *after_host(const char *host, bool *is_v6)
{
    static const char *const names[] = {"127.0.0.1:", "localhost:", "[::1]:"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        *is_v6 = names[i][0] == '[';
        if (strncmp(host, names[i], strlen(names[i])) == 0)
            return host + strlen(names[i]);
    }
    return NULL;
}

static bool http_post_parse(const char *url, struct address *address)
{
    if (strncmp(url, SCHEME, sizeof SCHEME - 1) != 0)
        return false;
    address->host = url + sizeof SCHEME - 1;
    const char *port = after_host(address->host, &address->is_v6);
    if (port == NULL || *port < '1' || *port > '9')
        return false;
    char *end;
    unsigned long number = strtoul(port, &end, 10);
    address->port = (uint16_t) number;
    address->host_length = (size_t) (end - address->host);
    address->path = end;
    for (const char *at = end; *at != '\0'; at++)
        if (*at <= ' ' || *at > '~')
            return false;
    return number <= UINT16_MAX && *end == '/' && strlen(end) < 1024;
}

enum step_status http_check_url(const char *url, struct step_error *error)
{
    struct address address;
    if (http_post_parse(url, &address))
        return STEP_STATUS_OK;
    return step_error_set(error, STEP_STATUS_IO, url, STEP_NO_OFFSET,
                          "only http://HOST:PORT/PATH is possible, where HOST is 127.0.0.1, [::1] "
                          "or localhost");
}

static enum step_status failed(const char *url, const char *what, struct step_error *error)
{
    bool late = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINPROGRESS;
    return step_error_set(error, STEP_STATUS_IO, url, STEP_NO_OFFSET, "%s: %s", what,
                          late ? "the server took too long" : strerror(errno));
}

static int http_post_connect_to(const struct address *address)
{
    const struct timeval limit = {.tv_sec = STEP_SECONDS};
    const struct sockaddr_in v4 = {.sin_family = AF_INET,
                                   .sin_port = htons(address->port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
                                    .sin6_port = htons(address->port),
                                    .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int connection = socket(address->is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection >= 0 &&
        setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0 &&
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
        (address->is_v6 ? connect(connection, (const struct sockaddr *) &v6, sizeof v6)
                        : connect(connection, (const struct sockaddr *) &v4, sizeof v4)) == 0)
        return connection;
    close_quietly(connection);
    return -1;
}

/* A server that goes on slowly keeps each step below its limit. */
static bool http_post_is_late(uint64_t start_ns)
{
    bool late = monotonic_ns() - start_ns > WHOLE_SECONDS * UINT64_C(1000000000);
    if (late)
        errno = EAGAIN;
    return late;
}

/* Stops without an error where the server closes early: its answer has the reason. */
static bool send_request(int connection, const struct address *address, const char *type, int file,
                         uint64_t size)
{
    static char buffer[COPY_BYTES];
    const uint64_t start_ns = monotonic_ns();
    int head = snprintf(buffer, sizeof buffer,
                        "POST %s HTTP/1.0\r\nHost: %.*s\r\nUser-Agent: steptrace\r\nContent-Type: "
                        "%s\r\nContent-Length: %" PRIu64 "\r\nConnection: close\r\n\r\n",
                        address->path, (int) address->host_length, address->host, type, size);
    if (!output_send_all(connection, buffer, (size_t) head))
        return errno == EPIPE || errno == ECONNRESET;
    for (uint64_t at = 0; at < size;) {
        ssize_t got = pread(file, buffer, sizeof buffer, (off_t) at);
        if (got <= 0)
            return false;
        if (!output_send_all(connection, buffer, (size_t) got))
            return errno == EPIPE || errno == ECONNRESET;
        at += (uint64_t) got;
        if (http_post_is_late(start_ns))
            return false;
    }
    return true;
}

/* Returns the number of bytes of the answer, or -1. */
static ssize_t receive_answer(int connection, char *answer)
{
    size_t length = 0;
    const uint64_t start_ns = monotonic_ns();
    while (length < ANSWER_BYTES - 1) {
        if (http_post_is_late(start_ns))
            return -1;
        ssize_t got = recv(connection, answer + length, ANSWER_BYTES - 1 - length, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && length == 0)
            return -1;
        if (got <= 0)
            break;
        length += (size_t) got;
    }
    answer[length] = '\0';
    return (ssize_t) length;
}

/* Returns the number of profiles that ExportProfilesServiceResponse.partial_success says were
 * rejected. */
static uint64_t rejected_profiles(const char *body, size_t length)
{
    enum { PARTIAL_SUCCESS = 1 << 3 | 2, REJECTED = 1 << 3 };
    uint64_t part_length = 0, rejected = 0;
    const uint8_t *at = (const uint8_t *) body, *end = at + length;
    if (length < 2 || *at != PARTIAL_SUCCESS ||
        (at = step_varint_get(at + 1, end, &part_length)) == NULL || at == end || *at != REJECTED ||
        step_varint_get(at + 1, end, &rejected) == NULL)
        return 0;
    return rejected;
}

static enum step_status http_post_judge(const char *url, const char *answer, size_t length,
                                        struct step_error *error)
{
    unsigned status = 0;
    const char *body = strstr(answer, "\r\n\r\n");
    if (sscanf(answer, "HTTP/1.%*1u %3u", &status) != 1 || status < 100)
        return step_error_set(error, STEP_STATUS_IO, url, STEP_NO_OFFSET,
                              "the answer is not HTTP's");
    if (status < 200 || status > 299)
        return step_error_set(error, STEP_STATUS_IO, url, STEP_NO_OFFSET,
                              "the server answers with status %u", status);
    uint64_t rejected =
        body != NULL ? rejected_profiles(body + 4, length - (size_t) (body + 4 - answer)) : 0;
    if (rejected == 0)
        return STEP_STATUS_OK;
    return step_error_set(error, STEP_STATUS_IO, url, STEP_NO_OFFSET,
                          "the server rejected %" PRIu64 " of the profiles", rejected);
}

enum step_status http_post(const char *url, const char *type, int file, uint64_t size,
                           struct step_error *error)
{
    static char answer[ANSWER_BYTES];
    struct address address;
    if (!http_post_parse(url, &address))
        return http_check_url(url, error);
    int connection = http_post_connect_to(&address);
    if (connection < 0)
        return failed(url, "cannot connect", error);
    enum step_status status = STEP_STATUS_OK;
    ssize_t length = -1;
    if (!send_request(connection, &address, type, file, size))
        status = failed(url, "cannot send", error);
    else if ((length = receive_answer(connection, answer)) < 0)
        status = failed(url, "cannot receive the answer", error);
    else
        status = http_post_judge(url, answer, (size_t) length, error);
    close(connection);
    return status;
}
