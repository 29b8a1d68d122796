/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs, lists of them, files of them. */
#include "agent/base/option_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/option_table.h"
#include "capture/log.h"
#include "format/core/nearest_word.h"

#define FILE_BYTES_MOST 65536
#define FILE_DEPTH_MOST 4

static bool parse_value(struct option_parse *parse, const char *key, const char *value)
{
    for (size_t i = 0; i < option_count; i++) {
        if (strcmp(option_table[i].key, key) == 0 &&
            (option_table[i].shared || !parse->only_shared)) {
            option_table[i].set(parse, key, value);
            return true;
        }
    }
    return false;
}

static const char *nearest_key(const struct option_parse *parse, const char *typed)
{
    const char *nearest = NULL;
    size_t least = NEAREST_WORD_CHANGES + 1;
    for (size_t i = 0; i < option_count; i++)
        if ((option_table[i].shared || !parse->only_shared) &&
            nearest_word_improves(typed, option_table[i].key, &least))
            nearest = option_table[i].key;
    return nearest;
}

static void parse_pair(struct option_parse *parse, char *pair)
{
    char *equals = strchr(pair, '=');
    if (equals != NULL)
        *equals = '\0';
    if (!(equals != NULL ? parse_value(parse, pair, equals + 1)
                         : option_take_command(parse, pair))) {
        const char *nearest = nearest_key(parse, pair);
        parse->faults++;
        if (nearest != NULL && strcmp(nearest, pair) == 0) {
            log_message("option '%s' lacks its value: %s=... (try help)", pair, pair);
            return;
        }
        log_message("option '%s' is unknown%s%s%s (try help)", pair,
                    nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                    nearest != NULL ? "'?" : "");
    }
}

void option_text_parse(struct option_parse *parse, char *text, const char *separators)
{
    for (char *rest = NULL, *pair = strtok_r(text, separators, &rest); pair != NULL;
         pair = strtok_r(NULL, separators, &rest))
        parse_pair(parse, pair);
}

/* The file's text with a 0 byte behind it, to be freed; NULL, with errno, or 0 for what is no
 * text or too large. */
static char *read_text(const char *path)
{
    errno = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return NULL;
    char *text = malloc(FILE_BYTES_MOST);
    size_t length = text != NULL ? fread(text, 1, FILE_BYTES_MOST, file) : 0;
    fclose(file);
    errno = 0;
    if (text == NULL || length == FILE_BYTES_MOST || memchr(text, '\0', length) != NULL) {
        free(text);
        return NULL;
    }
    text[length] = '\0';
    return text;
}

/* From # to the end of the line. */
static void blank_comments(char *text)
{
    for (char *hash = strchr(text, '#'); hash != NULL; hash = strchr(hash, '#'))
        memset(hash, ' ', strcspn(hash, "\n"));
}

void option_text_parse_file(struct option_parse *parse, const char *key, const char *path)
{
    errno = 0;
    char *text = parse->file_depth < FILE_DEPTH_MOST ? read_text(path) : NULL;
    if (text == NULL) {
        log_message("option %s: '%s' cannot be read: %s", key, path,
                    errno != 0 ? strerror(errno) : "too large or no text");
        parse->faults++;
        return;
    }
    blank_comments(text);
    parse->file_depth++;
    option_text_parse(parse, text, ", \t\r\n");
    parse->file_depth--;
    free(text);
}
