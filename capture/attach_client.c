/* SPDX-License-Identifier: Apache-2.0 */
/* The connection to the program that attaches: it says that the program still waits, and takes the
 * messages that a command causes to whoever gave the command.
 *
 * The program listens on a socket in the JVM's /tmp as long as it waits for the answer, and puts
 * `client=PATH,` before the command. */
#include "capture/attach_client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "capture/log.h"

#define CLIENT_MS 10000

static const char key[] = "client=";

/* Nobody will listen there again: the program that made it was killed. */
static void remove_left(const char *path)
{
    struct stat about;
    if (lstat(path, &about) == 0 && S_ISSOCK(about.st_mode) && about.st_uid == geteuid())
        unlink(path);
}

/* A blocking connection would wait while the program's queue is full, so it is none. */
static int attach_client_connect_to(const struct sockaddr_un *address)
{
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0 ||
        connect(descriptor, (const struct sockaddr *) address, sizeof *address) == 0)
        return descriptor;
    int code = errno;
    close(descriptor);
    errno = code;
    return -1;
}

/* The program answers each connection.  One that is being killed takes none. */
static bool is_awaited(int client)
{
    struct pollfd one = {.fd = client, .events = POLLIN};
    char answer;
    return poll(&one, 1, CLIENT_MS) == 1 && recv(client, &answer, 1, MSG_DONTWAIT) == 1;
}

bool attach_client_take(const char **options, int *client)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = *options != NULL ? *options + sizeof key - 1 : "";
    size_t length = strcspn(path, ",");
    *client = -1;
    if (*options == NULL || strncmp(*options, key, sizeof key - 1) != 0)
        return true;
    *options = path + length + (path[length] == ',');
    if (length >= sizeof address.sun_path)
        return false;
    memcpy(address.sun_path, path, length);
    *client = attach_client_connect_to(&address);
    if (*client >= 0 && is_awaited(*client)) {
        log_copy_to(*client);
        return true;
    }
    if (*client >= 0) {
        close(*client);
        *client = -1;
        errno = ECONNREFUSED;
    }
    if (errno == ECONNREFUSED)
        remove_left(address.sun_path);
    log_message("a command was ignored: the program that sent it did not wait");
    return false;
}

void attach_client_leave(int client)
{
    log_copy_to(-1);
    if (client >= 0)
        close(client);
}
