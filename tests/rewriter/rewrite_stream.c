/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rewrites the class files that come on stdin, for VerifyRewritten.java: each as its length in 4
 * big-endian bytes and its bytes.  For each one, stdout gets the result (enum rewrite_result, 4
 * bytes), the nanoseconds that it took (8 bytes), the methods left alone (4 bytes), the length and
 * the bytes of the new class file, or of the message where there is none.
 *
 *   rewrite_stream [all|alloc|method|apart|references|phases]
 *   rewrite_stream file.class > new.class
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/rewriter/class_bytes.h"
#include "agent/rewriter/rewrite.h"

struct counts {
    uint32_t next, left;
};

/* Numbers of all sizes that a push instruction can have. */
static uint32_t number_of(void *context, const char *class_name, const char *method_name,
                          const char *descriptor, uint16_t access_flags)
{
    static const uint32_t numbers[] = {1, 5, 6, 127, 128, 32767, 32768, 70000};
    struct counts *counts = context;
    (void) class_name, (void) method_name, (void) descriptor, (void) access_flags;
    return numbers[counts->next++ % (sizeof numbers / sizeof numbers[0])];
}

static uint32_t phase_number_of(void *context, const char *class_name, const char *method_name,
                                const char *descriptor, uint16_t access_flags)
{
    return number_of(context, class_name, method_name, descriptor, access_flags)
           << PHASE_VARIABLE_BITS;
}

static uint32_t field_number_of(void *context, const char *owner, const char *name,
                                const char *descriptor, bool is_static)
{
    (void) is_static;
    return number_of(context, owner, name, descriptor, 0);
}

static void count_left(void *context, const char *class_name, const char *method_name,
                       const char *descriptor, const char *reason, enum rewrite_loss loss)
{
    (void) loss;
    struct counts *counts = context;
    counts->left++;
    if (getenv("REWRITE_STREAM_QUIET") == NULL)
        fprintf(stderr, "%s.%s%s: %s\n", class_name, method_name, descriptor, reason);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

static void write_u4(uint32_t value)
{
    uint8_t bytes[4];
    store_u4(bytes, value);
    fwrite(bytes, 1, sizeof bytes, stdout);
}

static void answer(struct rewrite_request *request, struct counts *counts)
{
    uint8_t *out;
    size_t out_bytes;
    struct rewrite_error error = {0};
    counts->left = 0;
    uint64_t start = now_ns();
    enum rewrite_result result = class_rewrite(request, &out, &out_bytes, &error);
    uint64_t spent = now_ns() - start;
    write_u4(result);
    write_u4((uint32_t) (spent >> 32));
    write_u4((uint32_t) spent);
    write_u4(counts->left);
    if (out == NULL)
        out_bytes = strlen(error.message);
    write_u4((uint32_t) out_bytes);
    fwrite(out != NULL ? (const void *) out : error.message, 1, out_bytes, stdout);
    fflush(stdout);
    free(out);
}

static int serve(struct rewrite_request *request, struct counts *counts)
{
    uint8_t head[4];
    while (fread(head, 1, 4, stdin) == 4) {
        size_t length = load_u4(head);
        uint8_t *bytes = malloc(length + 1);
        if (bytes == NULL || fread(bytes, 1, length, stdin) != length)
            return 1;
        request->class_file = bytes;
        request->size_bytes = length;
        answer(request, counts);
        free(bytes);
    }
    return 0;
}

static int rewrite_file(struct rewrite_request *request, const char *path)
{
    FILE *file = fopen(path, "rb");
    static uint8_t bytes[16 << 20];
    uint8_t *out;
    size_t out_bytes;
    struct rewrite_error error = {0};
    if (file == NULL)
        return 1;
    request->class_file = bytes;
    request->size_bytes = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    enum rewrite_result result = class_rewrite(request, &out, &out_bytes, &error);
    if (out != NULL)
        fwrite(out, 1, out_bytes, stdout);
    else
        fprintf(stderr, "result %d at %zu: %s\n", (int) result, error.offset, error.message);
    free(out);
    return out == NULL;
}

int main(int argc, char **argv)
{
    struct counts counts = {0};
    const char *mode = argc > 1 ? argv[1] : "all";
    bool apart = strcmp(mode, "apart") == 0;
    struct rewrite_request request = {.alloc = strcmp(mode, "method") != 0 && !apart,
                                      .method = strcmp(mode, "alloc") != 0,
                                      .method_number = number_of,
                                      .left_alone = count_left,
                                      .context = &counts};
    request.apart = request.nameless = request.leaf = apart;
    request.references = strcmp(mode, "references") == 0;
    request.field_number = field_number_of;
    if (strcmp(mode, "phases") == 0) {
        request.alloc = false;
        request.nameless = request.phases = true;
        request.method_number = phase_number_of;
    }
    if (strchr(mode, '.') != NULL)
        return rewrite_file(&request, mode);
    return serve(&request, &counts);
}
