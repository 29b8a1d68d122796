/* SPDX-License-Identifier: Apache-2.0 */
/* What is watched: events in any order, a trace that grows, a feed that falls behind, and what is
 * on the screen.
 */
#include <CUnit/Basic.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyses/watch/watch_view.h"
#include "steptrace/live.h"
#include "tests/unit/run_suite.h"

/* ---- the model ---- */

static struct trace_event alloc_of(uint64_t object, uint64_t size, uint32_t class_id, uint64_t time)
{
    return (struct trace_event){.kind = EVENT_OBJECT_ALLOC,
                                .object = object,
                                .size = size,
                                .class_id = class_id,
                                .thread_id = 1,
                                .time_ns = time};
}

static struct trace_event free_of(uint64_t object, uint64_t time)
{
    return (struct trace_event){.kind = EVENT_OBJECT_FREE, .object = object, .time_ns = time};
}

static struct watch_model *make_model(struct trace_names *names)
{
    struct event_selection all;
    struct watch_model *model = malloc(sizeof *model);
    event_selection_init(&all);
    trace_names_init(names);
    CU_ASSERT_FATAL(model != NULL);
    watch_model_init(model, names, &all);
    return model;
}

static void drop_model(struct watch_model *model, struct trace_names *names)
{
    watch_model_reset(model);
    trace_names_reset(names);
    free(model);
}

static struct watch_sums class_sums(const struct watch_model *model, uint32_t id)
{
    const struct watch_row *row = id_table_find(&model->rows[WATCH_CLASSES], id);
    return row != NULL ? watch_row_now(model, row) : (struct watch_sums){0};
}

/* One in 1,000 bytes: an object of 1,000 bytes stands for 1 / (1 - 1 / e) = 1.582 objects. */
static void test_samples(void)
{
    struct trace_names names;
    struct watch_model *model = make_model(&names);
    struct trace_event early = alloc_of(1, 1000, 7, 10), late = alloc_of(2, 1000, 7, 20);
    struct trace_event dead_early = free_of(1, 30), dead_late = free_of(2, 40);
    static struct sampling sampling;
    sample_weights_init(&model->weights, 1000, &sampling);
    early.drawn_bytes = 500; /* 1 / (1 - 1 / e^2) = 1.157 objects */
    watch_model_put(model, &dead_early);
    watch_model_put(model, &early);
    watch_model_put(model, &late);
    const struct watch_estimates *row = id_table_find(&model->estimates[WATCH_CLASSES], 7);
    CU_ASSERT_PTR_NOT_NULL_FATAL(row);
    CU_ASSERT_EQUAL(row->allocated.samples, 2);
    CU_ASSERT_DOUBLE_EQUAL(row->allocated.objects, 1.582 + 1.157, 0.001);
    CU_ASSERT_DOUBLE_EQUAL(row->freed.objects, 1.157, 0.001);
    CU_ASSERT_DOUBLE_EQUAL(watch_estimates_live(model, row).bytes, 1582, 0.1);
    CU_ASSERT_TRUE(watch_model_knows_deaths(model));
    watch_model_put(model, &dead_late);
    CU_ASSERT_EQUAL(watch_estimates_live(model, &model->total_estimates).samples, 0);
    CU_ASSERT_DOUBLE_EQUAL(model->total_estimates.freed.objects, 1.582 + 1.157, 0.001);
    model->gave_up = true;
    CU_ASSERT_FALSE(watch_model_knows_deaths(model));
    drop_model(model, &names);
}

static void test_any_order(void)
{
    struct trace_names names;
    struct watch_model *model = make_model(&names);
    struct trace_event events[] = {free_of(1, 50), alloc_of(2, 16, 3, 10), alloc_of(1, 100, 4, 5),
                                   free_of(2, 60), alloc_of(3, 8, 3, 70)};
    for (size_t i = 0; i < 5; i++)
        watch_model_put(model, &events[i]);
    struct watch_sums three = class_sums(model, 3), four = class_sums(model, 4);
    CU_ASSERT_EQUAL(watch_live_bytes(&three), 8);
    CU_ASSERT_EQUAL(three.objects, 2);
    CU_ASSERT_EQUAL(watch_live_objects(&four), 0);
    CU_ASSERT_EQUAL(four.freed_bytes, 100);
    CU_ASSERT_EQUAL(model->total.sums.bytes, 124);
    drop_model(model, &names);
}

static void test_pending_is_told_anew(void)
{
    struct trace_names names;
    struct watch_model *model = make_model(&names);
    struct trace_event birth = alloc_of(1, 100, 4, 5), other = alloc_of(2, 50, 4, 6),
                       death = free_of(1, 9), unknown = free_of(77, 9);
    watch_model_put(model, &birth);
    for (int look = 0; look < 3; look++) {
        watch_model_begin_pending(model);
        watch_model_pend(model, &other);
        watch_model_pend(model, &death);
        watch_model_pend(model, &unknown);
        struct watch_sums sums = class_sums(model, 4);
        CU_ASSERT_EQUAL(sums.objects, 2);
        CU_ASSERT_EQUAL(watch_live_bytes(&sums), 50);
    }
    watch_model_begin_pending(model); /* now they are in the file */
    watch_model_put(model, &other);
    watch_model_put(model, &death);
    struct watch_sums sums = class_sums(model, 4);
    CU_ASSERT_EQUAL(sums.objects, 2);
    CU_ASSERT_EQUAL(watch_live_bytes(&sums), 50);
    drop_model(model, &names);
}

/* Births and deaths that both lie in the live file, and deaths whose births do. */
static void test_pending_dead(void)
{
    struct trace_names names;
    struct watch_model *model = make_model(&names);
    struct trace_event first = alloc_of(1, 100, 4, 5), second = alloc_of(2, 50, 4, 6),
                       kept = alloc_of(3, 8, 4, 7), death = free_of(1, 9), other = free_of(2, 9);
    watch_model_put(model, &death);
    for (int look = 0; look < 2; look++) {
        watch_model_begin_pending(model);
        watch_model_pend(model, &other);
        watch_model_pend(model, &first);
        watch_model_pend(model, &second);
        watch_model_pend(model, &kept);
        struct watch_sums sums = class_sums(model, 4);
        CU_ASSERT_EQUAL(sums.objects, 3);
        CU_ASSERT_EQUAL(sums.freed_bytes, 150);
        CU_ASSERT_EQUAL(watch_live_objects(&sums), 1);
    }
    drop_model(model, &names);
}

/* Sums that were seen do not fall where the next look has read less of the streams; and are those
 * of the trace in the end. */
static void test_monotone(void)
{
    struct trace_names names;
    struct watch_model *model = make_model(&names);
    struct trace_event first = alloc_of(1, 100, 4, 5), second = alloc_of(2, 50, 4, 6);
    watch_model_begin_pending(model);
    watch_model_pend(model, &first);
    watch_model_pend(model, &second);
    watch_model_settle(model, 0, false);
    const struct watch_row *row = id_table_find(&model->rows[WATCH_CLASSES], 4);
    CU_ASSERT_EQUAL(row->shown.bytes, 150);
    watch_model_begin_pending(model);
    watch_model_put(model, &first);
    watch_model_settle(model, 2, false);
    CU_ASSERT_EQUAL(row->shown.bytes, 150);
    CU_ASSERT_EQUAL(model->total.shown.objects, 2);
    CU_ASSERT_EQUAL(row->bytes_rate, 0);
    watch_model_put(model, &second);
    second.object = 3;
    watch_model_put(model, &second);
    watch_model_settle(model, 2, false);
    CU_ASSERT_EQUAL(row->shown.bytes, 200);
    CU_ASSERT_EQUAL(row->bytes_rate, 25);
    watch_model_settle(model, 0, true);
    CU_ASSERT_EQUAL(row->shown.bytes, 200);
    drop_model(model, &names);
}

static void test_curve(void)
{
    static struct watch_curve forth, back;
    uint64_t a[50], b[50];
    watch_curve_init(&forth);
    watch_curve_init(&back);
    for (uint64_t i = 0; i < 2000; i++) { /* past the last step several times */
        watch_curve_put(&forth, i * 10000000, 10, false);
        watch_curve_put(&forth, i * 10000000 + 5000000, -UINT64_C(9), false);
        watch_curve_put(&back, (1999 - i) * 10000000, 10, false);
        watch_curve_put(&back, (1999 - i) * 10000000 + 5000000, -UINT64_C(9), false);
    }
    watch_curve_live(&forth, 2000 * UINT64_C(10000000), a, 50);
    watch_curve_live(&back, 2000 * UINT64_C(10000000), b, 50);
    CU_ASSERT_EQUAL(a[49], 2000);
    for (size_t i = 0; i < 50; i++)
        CU_ASSERT(a[i] > 40 * i && a[i] < 40 * (i + 3) && a[i] == b[i]);
    watch_curve_put(&forth, UINT64_MAX, 1, false); /* any time has its step */
    CU_ASSERT(forth.count <= WATCH_CURVE_STEPS);
}

/* ---- a trace that grows ---- */

static char directory[] = "/tmp/watch-XXXXXX";

static void path_of(const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s/%s", directory, name);
}

static char *read_shop(size_t *length)
{
    char *bytes = malloc(1 << 20);
    FILE *file = fopen(SHOP_TRACE, "rb");
    CU_ASSERT_FATAL(bytes != NULL && file != NULL);
    *length = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

/* A process that holds the live file as the traced one would. */
static pid_t hold_live_file(const char *path)
{
    int ready[2];
    char byte = 0;
    CU_ASSERT_FATAL(pipe(ready) == 0);
    pid_t child = fork();
    if (child == 0) {
        struct step_live_header header = {.version = STEP_LIVE_VERSION,
                                          .page_bytes = STEP_LIVE_PAGE,
                                          .clock_multiplier = 1,
                                          .resolution_ns = 1000};
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
        int file = open(path, O_RDWR | O_CREAT, 0600);
        memcpy(header.magic, STEP_LIVE_MAGIC, sizeof header.magic);
        bool ok = file >= 0 && write(file, &header, sizeof header) == (ssize_t) sizeof header &&
                  fcntl(file, F_SETLK, &lock) == 0;
        ok = ok && write(ready[1], &byte, 1) == 1;
        for (;;)
            pause();
    }
    CU_ASSERT_FATAL(child > 0 && read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void append(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "ab");
    CU_ASSERT_FATAL(file != NULL);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static void read_on(struct watch_feed *feed)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    bool more = true;
    CU_ASSERT_EQUAL_FATAL(watch_feed_refresh(feed, 1000000000, &error), STEP_STATUS_OK);
    while (more)
        CU_ASSERT_EQUAL_FATAL(watch_feed_read(feed, 1000000, &more, &error), STEP_STATUS_OK);
}

static struct watch_feed *open_feed(const char *path)
{
    struct event_selection all;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct watch_feed *feed = malloc(sizeof *feed);
    event_selection_init(&all);
    CU_ASSERT_FATAL(feed != NULL);
    CU_ASSERT_EQUAL_FATAL(watch_feed_open(feed, path, &all, 0, &error), STEP_STATUS_OK);
    return feed;
}

static void close_feed(struct watch_feed *feed)
{
    watch_feed_close(feed);
    free(feed);
}

/* Without processor time nothing is read, and the feed says how far it is behind. */
static uint64_t fall_behind(struct watch_feed *feed)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    size_t next = feed->next;
    bool more = true;
    watch_feed_settle(feed, 1);
    feed->share = 1e-6;
    feed->credit_ns = -1e12;
    CU_ASSERT_EQUAL_FATAL(watch_feed_refresh(feed, 1000000000, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(watch_feed_read(feed, 1000000000, &more, &error), STEP_STATUS_OK);
    CU_ASSERT(!more && feed->next == next && !watch_feed_is_exact(feed));
    CU_ASSERT(watch_feed_settle(feed, 1) < 0);
    feed->share = 0;
    return watch_feed_behind_ns(feed);
}

/* `whole`: its writer gets to close it; else it is killed before. */
static void grow(bool whole)
{
    char path[100], live[110];
    size_t length, step = 7001, given = 3000;
    char *bytes = read_shop(&length);
    path_of(whole ? "whole.step" : "killed.step", path, sizeof path);
    snprintf(live, sizeof live, "%s%s", path, STEP_LIVE_SUFFIX);
    pid_t child = hold_live_file(live);
    append(path, bytes, given);
    struct watch_feed *feed = open_feed(path), *at_once = NULL;
    uint64_t events = 0, behind_ns = 0;
    for (; given + step < length; given += step) { /* ends in the middle of blocks */
        append(path, bytes + given, step);
        behind_ns += fall_behind(feed);
        read_on(feed);
        CU_ASSERT(watch_feed_is_exact(feed) && watch_feed_behind_ns(feed) == 0);
        CU_ASSERT_EQUAL(feed->tail.state, WATCH_RUNNING);
        CU_ASSERT(feed->tail.events >= events);
        CU_ASSERT_EQUAL(step_reader_damage_count(feed->tail.reader), 0);
        events = feed->tail.events;
    }
    CU_ASSERT(events > 1000 && behind_ns > 0);
    if (whole)
        append(path, bytes + given, length - given);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    if (whole)
        unlink(live);
    read_on(feed);
    CU_ASSERT_EQUAL(feed->tail.state, whole ? WATCH_WHOLE : WATCH_CUT);
    CU_ASSERT(watch_feed_is_exact(feed));
    at_once = open_feed(path);
    read_on(at_once);
    CU_ASSERT_EQUAL(
        memcmp(&feed->model.total.sums, &at_once->model.total.sums, sizeof feed->model.total.sums),
        0);
    CU_ASSERT_EQUAL(feed->tail.events, at_once->tail.events);
    CU_ASSERT_EQUAL(feed->model.live.count, at_once->model.live.count);
    close_feed(at_once);
    close_feed(feed);
    unlink(path);
    unlink(live);
    free(bytes);
}

static void test_growing(void)
{
    CU_ASSERT_FATAL(mkdtemp(directory) != NULL);
    grow(true);
    grow(false);
    rmdir(directory);
}

/* ---- the view ---- */

/* A search has so much processor time a look: it goes on in the next ones. */
static void press(struct watch_view *view, const char *keys)
{
    for (; *keys != '\0'; keys++)
        watch_view_key(view, *keys == '\n' ? WATCH_KEY_ENTER : *keys);
    while (view->table.search.left > 0)
        watch_view_key(view, WATCH_KEY_NONE);
}

static const char *drawn(struct watch_view *view, size_t width, size_t height)
{
    static struct watch_screen screen;
    static char text[WATCH_ROWS_MOST * WATCH_LINE_BYTES];
    size_t at = 0;
    screen.width = width;
    screen.height = height;
    screen.unicode = false;
    watch_view_draw(view, &screen);
    text[0] = '\0';
    for (size_t i = 0; i < screen.height; i++) {
        CU_ASSERT(strlen(screen.lines[i]) <= width);
        at += (size_t) snprintf(text + at, sizeof text - at, "%s\n", screen.lines[i]);
    }
    return text;
}

static void test_view(void)
{
    struct watch_feed *feed = open_feed(SHOP_TRACE);
    struct watch_view view;
    watch_view_init(&view, feed, 0);
    read_on(feed);
    CU_ASSERT(watch_view_look(&view, 0));
    CU_ASSERT_PTR_NOT_NULL(strstr(drawn(&view, 80, 24), "live 113 KiB in 2,620 objects"));
    CU_ASSERT_PTR_NOT_NULL(strstr(drawn(&view, 80, 24), "[1 classes]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(drawn(&view, 20, 5), "live 113 KiB"));
    press(&view, "2/Shop.order\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(drawn(&view, 80, 24), "Shop.order:20 <- Shop.main"));
    press(&view, "/zz\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(drawn(&view, 80, 24), "no such name"));
    for (size_t i = 0; i < 20; i++)
        watch_view_key(&view, i == 0 ? '/' : WATCH_KEY_BACKSPACE);
    press(&view, "\n1m");
    CU_ASSERT_PTR_NOT_NULL(strstr(drawn(&view, 80, 24), "growth"));
    CU_ASSERT_PTR_NOT_NULL(strstr(drawn(&view, 80, 24), "+0 B since the mark"));
    for (size_t i = 0; i < 30; i++) { /* all orders, and beyond both ends */
        press(&view, "sSsr\t");
        watch_view_key(&view, i % 2 ? WATCH_KEY_END : WATCH_KEY_UP);
        drawn(&view, 80, 24);
    }
    CU_ASSERT_EQUAL(watch_view_key(&view, 'f'), WATCH_GOES_ON);
    press(&view, "class=java.**");
    CU_ASSERT_EQUAL(watch_view_key(&view, WATCH_KEY_ENTER), WATCH_SELECT);
    CU_ASSERT_STRING_EQUAL(view.selection, "class=java.**");
    press(&view, "f");
    for (size_t i = 0; i < 20; i++)
        watch_view_key(&view, WATCH_KEY_BACKSPACE);
    press(&view, "clas=foo"); /* a fault stays in the prompt, and is no title */
    CU_ASSERT_EQUAL(watch_view_key(&view, WATCH_KEY_ENTER), WATCH_GOES_ON);
    CU_ASSERT_EQUAL(view.input, WATCH_INPUT_SELECTION);
    CU_ASSERT_STRING_EQUAL(view.selection, "class=java.**");
    CU_ASSERT_PTR_NOT_NULL(strstr(drawn(&view, 120, 24), "only clas=foo_  column 1:"));
    CU_ASSERT_PTR_NOT_NULL(strstr(drawn(&view, 120, 24), "only class=java.**\n"));
    watch_view_key(&view, WATCH_KEY_ESCAPE);
    CU_ASSERT_EQUAL(view.input, WATCH_NO_INPUT);
    static const size_t sizes[][2] = {{0, 0}, {1, 1}, {3, 2}, {20, 5}, {500, 200}, {9999, 9999}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        drawn(&view, sizes[i][0], sizes[i][1]);
        press(&view, "?");
        drawn(&view, sizes[i][0], sizes[i][1]);
        press(&view, "?");
    }
    CU_ASSERT_EQUAL(watch_view_key(&view, 'q'), WATCH_QUIT);
    watch_table_reset(&view.table);
    close_feed(feed);
}

/* In slices a search finds the same as at once. */
static void test_search(void)
{
    struct watch_feed *feed = open_feed(SHOP_TRACE);
    struct watch_search search = {.text = NULL};
    char name[WATCH_NAME_TEXT];
    read_on(feed);
    size_t slices = 0, found = 0, should = 0;
    do {
        CU_ASSERT_FATAL(watch_search_begin(&search, WATCH_SITES, "Shop", -1e9));
        found = 0;
        for (uint32_t id = 0; id_table_next(&feed->model.rows[WATCH_SITES], &id); id++)
            found += watch_search_matches(&search, feed, id);
    } while (++slices < 1000 && search.left > 0);
    for (uint32_t id = 0; id_table_next(&feed->model.rows[WATCH_SITES], &id); id++) {
        watch_name(feed, WATCH_SITES, id, name, sizeof name);
        should += strstr(name, "Shop") != NULL;
    }
    CU_ASSERT(slices > 1 && search.left == 0 && found > 0);
    CU_ASSERT_EQUAL(found, should);
    watch_search_reset(&search);
    close_feed(feed);
}

static void test_selection(void)
{
    struct event_selection selected;
    char fault[160], good[] = "class=[B  --size=>=1k thread=main", bad[] = "class=[B sice=4",
                     late[] = "lifetime=<3ms", none[] = "class";
    event_selection_init(&selected);
    CU_ASSERT(watch_selection_parse(good, &selected, fault, sizeof fault));
    CU_ASSERT_EQUAL(selected.classes.count, 1);
    CU_ASSERT_EQUAL(selected.size.least, 1024);
    event_selection_init(&selected);
    CU_ASSERT_FALSE(watch_selection_parse(bad, &selected, fault, sizeof fault));
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, "column 10:"));
    event_selection_init(&selected);
    CU_ASSERT_FALSE(watch_selection_parse(late, &selected, fault, sizeof fault));
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, "lifetime needs a trace that has ended"));
    event_selection_init(&selected);
    CU_ASSERT_FALSE(watch_selection_parse(none, &selected, fault, sizeof fault));
}

static void test_chosen_classes(void)
{
    struct watch_feed *feed = open_feed(SHOP_TRACE);
    struct event_selection selected;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    char words[] = "class=[B";
    event_selection_init(&selected);
    CU_ASSERT(watch_selection_parse(words, &selected, words, 0));
    read_on(feed);
    const struct watch_row *row = NULL;
    uint64_t all = feed->model.total.sums.objects, one = 0;
    CU_ASSERT_EQUAL(watch_feed_select(feed, &selected, &error), STEP_STATUS_OK);
    read_on(feed);
    for (uint32_t id = 0; id_table_next(&feed->model.rows[WATCH_CLASSES], &id); id++) {
        row = id_table_find(&feed->model.rows[WATCH_CLASSES], id);
        one += row->sums.objects > 0;
    }
    CU_ASSERT_EQUAL(one, 1);
    CU_ASSERT(feed->model.total.sums.objects > 1000 && feed->model.total.sums.objects < all);
    close_feed(feed);
}

/* A trace whose times go to the end of what 64 bits hold. */
static void test_late_band(void)
{
    struct watch_phases phases = {.until_ns = UINT64_MAX};
    struct watch_band band = {.steps = {0}};
    double end = 18446744073709551616.0; /* 2^64 */
    band.steps[WATCH_BAND_STEPS - 1] = 1;
    CU_ASSERT_TRUE(watch_band_covers(&phases, &band, end, end));
    CU_ASSERT_TRUE(watch_band_covers(&phases, &band, 0, 2 * end));
    CU_ASSERT_FALSE(watch_band_covers(&phases, &band, 0, end / 2));
}

/* A method that only the live file has: its class has long been in the file, and no object of it
 * was ever seen. */
static void test_names_of_both_files(void)
{
    struct watch_feed *feed = open_feed(SHOP_TRACE);
    struct trace_names *names = &feed->tail.names;
    const struct step_live_entry method = {.kind = STEP_LIVE_DEFINE_METHOD,
                                           .number = 1000001,
                                           .name = step_text("doGet"),
                                           .descriptor = step_text("()V"),
                                           .class_ = 1};
    const struct step_live_entry frame = {.kind = STEP_LIVE_DEFINE_FRAME,
                                          .number = 1000001,
                                          .method = method.number,
                                          .parent = 1,
                                          .line = 34};
    const struct step_live_entry in_file = {
        .kind = STEP_LIVE_DEFINE_FRAME, .number = 1000002, .method = 1};
    CU_ASSERT_FALSE(trace_class_of(names, 1)->known);
    watch_tail_take_entry(&feed->tail, &method);
    CU_ASSERT(trace_class_of(names, 1)->known);
    watch_tail_take_entry(&feed->tail, &frame);
    CU_ASSERT(trace_frame_of(names, 1000001)->known);
    CU_ASSERT(trace_frame_of(names, 1)->known);
    watch_tail_take_entry(&feed->tail, &in_file);
    CU_ASSERT(trace_method_of(names, trace_frame_of(names, 1000002)->method_id)->known);
    close_feed(feed);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("watch", NULL, NULL);
    CU_add_test(suite, "names of both files", test_names_of_both_files);
    CU_add_test(suite, "any order", test_any_order);
    CU_add_test(suite, "samples", test_samples);
    CU_add_test(suite, "pending is told anew", test_pending_is_told_anew);
    CU_add_test(suite, "pending dead", test_pending_dead);
    CU_add_test(suite, "monotone", test_monotone);
    CU_add_test(suite, "curve", test_curve);
    CU_add_test(suite, "growing", test_growing);
    CU_add_test(suite, "view", test_view);
    CU_add_test(suite, "search", test_search);
    CU_add_test(suite, "selection", test_selection);
    CU_add_test(suite, "chosen classes", test_chosen_classes);
    CU_add_test(suite, "late band", test_late_band);
}
