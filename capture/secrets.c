/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a command line word by word, and shortens it where it masks. */
#include "capture/secrets.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define MASK "***"
#define MASK_LENGTH (sizeof MASK - 1)

static bool contains(const char *text, size_t length, const char *part)
{
    size_t size = strlen(part);
    for (size_t i = 0; i + size <= length; i++)
        if (strncasecmp(text + i, part, size) == 0)
            return true;
    return false;
}

static bool is_secret(const char *name, size_t length)
{
    static const char *const parts[] = {"password", "passwd", "passphrase", "pwd",
                                        "secret",   "token",  "bearer",     "credential",
                                        "cookie",   "jwt",    "signature"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (contains(name, length, parts[i]))
            return true;
    return length >= 3 && strncasecmp(name + length - 3, "key", 3) == 0;
}

/* Returns where the value begins from which a word is masked, or its length. */
static size_t value_of_secret(const char *word, size_t length)
{
    size_t name = 0;
    for (size_t i = 0; i < length; i++) {
        if (word[i] == '=' && is_secret(word + name, i - name))
            return i + 1;
        if (strchr("=,;&?", word[i]) != NULL)
            name = i + 1;
    }
    return length;
}

/* Finds the password of "scheme://user:password@host". Returns its length, or 0. */
static size_t password_of_url(const char *word, size_t length, size_t *at)
{
    const char *scheme = memmem(word, length, "://", 3), *end = word + length;
    if (scheme == NULL)
        return 0;
    const char *user = scheme + 3, *slash = memchr(user, '/', (size_t) (end - user));
    const char *host = memrchr(user, '@', (size_t) ((slash != NULL ? slash : end) - user));
    const char *colon = host != NULL ? memchr(user, ':', (size_t) (host - user)) : NULL;
    if (colon == NULL)
        return 0;
    *at = (size_t) (colon + 1 - word);
    return (size_t) (host - colon - 1);
}

/* Replaces a part of the text by the mask, or by as many stars as fit. Returns by how much the text
 * is shorter. */
static size_t mask(char *text, size_t length, size_t at, size_t size)
{
    size_t stars = size < MASK_LENGTH ? size : MASK_LENGTH;
    memset(text + at, '*', stars);
    memmove(text + at + stars, text + at + size, length - at - size + 1);
    return size - stars;
}

size_t secrets_mask(char *text, size_t length, char separator)
{
    bool masks_next = false;
    for (size_t at = 0; at < length;) {
        char *word = text + at, *found = memchr(word, separator, length - at);
        size_t size = found != NULL ? (size_t) (found - word) : length - at;
        bool is_option = size > 0 && word[0] == '-', is_value = masks_next && !is_option;
        size_t from = is_value ? 0 : value_of_secret(word, size), in_url = 0, password = 0;
        if (from == size)
            password = password_of_url(word, size, &in_url);
        masks_next = is_option && memchr(word, '=', size) == NULL && is_secret(word, size);
        size_t less = from < size    ? mask(text, length, at + from, size - from)
                      : password > 0 ? mask(text, length, at + in_url, password)
                                     : 0;
        length -= less;
        at += size - less + 1;
    }
    return length;
}
