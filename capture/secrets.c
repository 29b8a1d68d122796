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

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t size = strlen(end);
    return length >= size && strncasecmp(text + length - size, end, size) == 0;
}

static bool is_secret(const char *name, size_t length)
{
    static const char *const parts[] = {"password", "passwd", "passphrase", "pwd",
                                        "secret",   "token",  "bearer",     "credential",
                                        "cookie",   "jwt",    "signature",  "authorization"};
    static const char *const ends[] = {"key", "pass", "auth", "sig", "pw"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (contains(name, length, parts[i]))
            return true;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (ends_with(name, length, ends[i]))
            return true;
    return false;
}

static bool is_one_of(char letter, const char *letters)
{
    return letter != '\0' && strchr(letters, letter) != NULL;
}

/* Returns whether a name of a secret stands before the sign at `at`: password=, "token": or
 * Authorization:, but not the path of a file in a list that colons divide. */
static bool names_secret(const char *text, size_t at)
{
    size_t end = at;
    while (end > 0 && is_one_of(text[end - 1], "\"' \t\\"))
        end--;
    size_t from = end; /* 0 bytes divide arguments */
    while (from > 0 && text[from - 1] != '\0' && !is_one_of(text[from - 1], "=:,;&?{}[]()\"' \t"))
        from--;
    bool is_path = text[at] == ':' && (memchr(text + from, '.', end - from) != NULL ||
                                       memchr(text + from, '/', end - from) != NULL);
    return !is_path && is_secret(text + from, end - from);
}

/* Returns where in the word at `at` the value begins from which it is masked, or its length. */
static size_t value_of_secret(const char *text, size_t at, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((text[at + i] == '=' || text[at + i] == ':') && names_secret(text, at + i))
            return i + 1;
    return length;
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

/* Finds the password of "user:password@host" at the word's beginning. Returns its length, or 0. */
static size_t password_of_url(const char *user, size_t length, size_t *at)
{
    const char *end = user + length, *slash = memchr(user, '/', length);
    const char *host = memrchr(user, '@', (size_t) ((slash != NULL ? slash : end) - user));
    const char *colon = host != NULL ? memchr(user, ':', (size_t) (host - user)) : NULL;
    if (colon == NULL)
        return 0;
    *at = (size_t) (colon + 1 - user);
    return (size_t) (host - colon - 1);
}

/* Masks the passwords of all URLs in a word, scheme://user:password@host. Returns the new length of
 * the text. */
static size_t mask_urls(char *text, size_t length, size_t at, size_t *size)
{
    for (size_t from = 0; from < *size;) {
        char *word = text + at;
        const char *scheme = memmem(word + from, *size - from, "://", 3);
        size_t in_url = 0;
        if (scheme == NULL)
            break;
        from = (size_t) (scheme + 3 - word);
        size_t password = password_of_url(word + from, *size - from, &in_url);
        size_t less = password > 0 ? mask(text, length, at + from + in_url, password) : 0;
        *size -= less;
        length -= less;
    }
    return length;
}

/* What the words before say of the next one. */
struct secrets_state {
    bool masks_next;
    bool is_long; /* the option that wants a value begins with two dashes */
};

static bool is_value(const struct secrets_state *state, const char *word, size_t size)
{
    bool is_option = size > 0 && word[0] == '-';
    bool is_long = is_option && size > 1 && word[1] == '-';
    return state->masks_next && (!is_option || (state->is_long && !is_long));
}

/* Returns whether the value of a secret is the next word: --password x, Authorization: x, Bearer x.
 */
static bool wants_value(const char *text, size_t at, size_t size, bool blanks)
{
    const char *word = text + at;
    size_t scheme = ends_with(word, size, "bearer")  ? strlen("bearer")
                    : ends_with(word, size, "basic") ? strlen("basic")
                                                     : 0;
    bool is_scheme = scheme > 0 && (scheme == size ||
                                    is_one_of(word[size - scheme - 1], blanks ? "=:\"'" : "\"'"));
    bool is_option = size > 0 && word[0] == '-' && memchr(word, '=', size) == NULL &&
                     memchr(word, ':', size) == NULL && memchr(word, '/', size) == NULL;
    bool is_sign = size > 0 && (word[size - 1] == ':' || (size == 1 && word[0] == '='));
    return is_scheme || (is_sign && names_secret(text, at + size - 1)) ||
           (is_option && is_secret(word, size));
}

/* Words that blanks separate were arguments with blanks, perhaps: a value goes on up to its closing
 * quote. Returns the size with these words. */
static size_t up_to_quote(const char *word, size_t from, size_t size)
{
    if (from >= size || !is_one_of(word[from], "\"'") ||
        memchr(word + from + 1, word[from], size - from - 1) != NULL)
        return size;
    const char *closing = strchr(word + size, word[from]);
    return closing != NULL ? (size_t) (closing - word) + strcspn(closing, " ") : size;
}

/* Masks in a word, whose size it sets. Returns the new length of the text. */
static size_t mask_word(char *text, size_t length, size_t at, size_t *size, char separator,
                        struct secrets_state *state)
{
    const char *word = text + at;
    bool is_next = is_value(state, word, *size), blanks = separator == ' ';
    length = mask_urls(text, length, at, size);
    size_t from = is_next ? 0 : value_of_secret(text, at, *size), less = 0;
    bool masks = from < *size;
    bool wants = !masks && wants_value(text, at, *size, blanks);
    /* Where blanks divide, nothing says where a value ends but an option. */
    *state = (struct secrets_state){.masks_next = wants || (blanks && masks),
                                    .is_long = wants && *size > 1 && word[1] == '-'};
    if (masks) {
        *size = blanks ? up_to_quote(word, from, *size) : *size;
        less = mask(text, length, at + from, *size - from);
    }
    *size -= less;
    return length - less;
}

/* An argument that has words itself. */
static size_t mask_words_within(char *text, size_t length, size_t at, size_t *size)
{
    size_t masked = secrets_mask(text + at, *size, ' ');
    if (masked == *size)
        return length;
    memmove(text + at + masked, text + at + *size, length - at - *size + 1);
    length -= *size - masked;
    *size = masked;
    return length;
}

size_t secrets_mask(char *text, size_t length, char separator)
{
    struct secrets_state state = {.masks_next = false};
    for (size_t at = 0; at < length;) {
        char *word = text + at, *found = memchr(word, separator, length - at);
        size_t size = found != NULL ? (size_t) (found - word) : length - at;
        length = mask_word(text, length, at, &size, separator, &state);
        if (separator != ' ' && memchr(text + at, ' ', size) != NULL)
            length = mask_words_within(text, length, at, &size);
        at += size + 1;
    }
    return length;
}
