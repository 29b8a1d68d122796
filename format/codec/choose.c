/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries candidate encodings on a sample of the column and chooses the smallest.
 *
 * The encoders of the STEP paper (section 3.1) see one value after the other: they adapt while they
 * write, and announce each change by a meta-event.  A column is known as a whole before a byte of
 * it is written.  So the choice is made once for a block, by trial, and stored in the block's
 * directory; a reader applies what it finds there, and none of the reasons here are part of the
 * format.
 *
 *   candidates    chains of transforms, in an order (strategies/candidates.c)
 *   trial         each candidate on the sample: its transforms, then each form that suits the
 *                 result, then the compressor in a quick level.  The cost is the size in bytes that
 *                 this gives, not a model of it: what a compressor makes of the bytes that a form
 *                 leaves cannot be predicted.
 *   ties          only a smaller cost replaces the best so far.  So of equals the first wins, and
 *                 results do not depend on anything but the order of the tables.
 *   all values    the winner is applied to the whole column, and adapted if the sample was not like
 *                 the rest (choose_finish()).
 *   later blocks  the winner is reused for some blocks without a trial, since a trial encodes its
 *                 sample many times over (recall(), choose_keep(), step_choice_judge()).
 */
#include "format/codec/choose.h"

#include <string.h>

enum {
    SAMPLE = 16384,
    THOROUGH_SAMPLE = 1 << 18,
    FIRST_SAMPLE = 1 << 16, /* used to select finalists if there are many candidates */
    FINALISTS = 4,
    RECALLED_FROM = 4 * SAMPLE, /* fewer values are tried for every block: a trial is cheap then */
    RECALLED_BLOCKS = 5,
    RECALLED_MOST = 20,
    RECALLED_THOROUGH = 3, /* blocks for which a choice is reused if size matters most */
};

/* Statistics that decide which forms are suitable.  One pass over the values costs little beside
 * the trial of a form, and most forms can be ruled out by it. */
struct shape {
    uint64_t mask;    /* all bits that are set in some value */
    bool constant;    /* all values are equal */
    size_t others;    /* values other than 0 */
    size_t beyond[4]; /* values that overflow when packed in 1, 2, 4, 8 bits */
};

static struct shape outline_of(const uint64_t *values, size_t count)
{
    uint64_t mask = 0;
    uint64_t differences = 0;
    for (size_t i = 0; i < count; i++) {
        mask |= values[i];
        differences |= values[i] ^ values[0];
    }
    return (struct shape){.mask = mask, .constant = differences == 0};
}

/* Computes the values after the chain, and their shape.  Differences, the most frequent transform,
 * are analysed in the same loop, while they are in the cache.  Each part goes on from the last
 * value of the part before, which is the first parameter of the transform. */
static enum step_status outline_chain(const struct step_chain *chain,
                                      const struct step_series *series, const uint64_t *values,
                                      size_t count, struct step_scratch *scratch,
                                      struct shape *shape)
{
    enum { PART = 2048 };
    if (chain->length != 1 || chain->links[0].transform != &step_transform_delta || count <= PART) {
        enum step_status status = step_chain_forward(chain, series, values, count, scratch);
        if (status == STEP_STATUS_OK)
            *shape = outline_of(scratch->result, count);
        return status;
    }
    if (!step_scratch_reserve(scratch, count))
        return STEP_STATUS_NO_MEMORY;
    uint64_t parameters[STEP_TRANSFORM_PARAMETERS];
    memcpy(parameters, chain->links[0].parameters, sizeof parameters);
    uint64_t *out = scratch->work;
    *shape = (struct shape){.constant = true};
    for (size_t i = 0; i < count; i += PART) {
        size_t part = count - i < PART ? count - i : PART;
        step_transform_delta.forward(parameters, series, values + i, out + i, part);
        struct shape part_shape = outline_of(out + i, part);
        shape->mask |= part_shape.mask;
        shape->constant = shape->constant && part_shape.constant && out[i] == out[0];
        parameters[0] = values[i + part - 1];
    }
    scratch->result = out;
    return STEP_STATUS_OK;
}

static void count_large(const uint64_t *values, size_t count, struct shape *shape)
{
    size_t beyond[4] = {0};
    for (size_t i = 0; i < count; i++) {
        uint64_t value = values[i];
        beyond[0] += value >= 1;
        beyond[1] += value >= 3;
        beyond[2] += value >= 15;
        beyond[3] += value >= 255;
    }
    for (size_t i = 0; i < 4; i++)
        shape->beyond[i] = beyond[i];
    shape->others = beyond[0];
}

static bool is_constant(const uint64_t *values, size_t count)
{
    size_t i = 0;
    while (i < count && values[i] == values[0])
        i++;
    return i == count;
}

static uint64_t choose_width_of(uint64_t mask)
{
    uint64_t width = 1;
    while (width < 8 && mask >> (8 * width) != 0)
        width++;
    return width;
}

/* Adds `zigzag` for signed fields and differences, so that negative numbers become small.  All
 * transforms compute modulo 2^64, and a small negative number has its highest bit set.  Without
 * such a number zigzag would only double all values.  It comes last in the chain, as forms see what
 * it gives. */
static enum step_status settle_sign(const struct step_coding_hints *field_coding,
                                    struct step_chain *chain, struct step_scratch *scratch,
                                    size_t count, struct shape *shape)
{
    bool may_be_negative = field_coding->is_signed || chain->length > 0;
    if (!may_be_negative || shape->mask >> 63 == 0)
        return STEP_STATUS_OK;
    if (!step_scratch_reserve(scratch, count))
        return STEP_STATUS_NO_MEMORY;
    step_transform_zigzag.forward(NULL, NULL, scratch->result, scratch->work, count);
    scratch->result = scratch->work;
    step_chain_append(chain, &step_transform_zigzag, 0, 0, 0);
    *shape = outline_of(scratch->result, count);
    return STEP_STATUS_OK;
}

/*
 * Lists the most promising forms for a shape.  Returns their number.
 *
 * A packed form is tried where at most a quarter of the values overflow: each overflow takes a
 * varint more, so with more of them the next width does better.  Runs are tried where at least half
 * of the values are 0. If size matters most, all other forms are tried as well; else only those
 * that the width and the share of large values speak for, as each trial costs a compression.
 */
enum { FORMS = 12 };
struct attempt {
    const struct step_form *form;
    uint64_t parameter;
};

static size_t gather_forms(const struct shape *shape, size_t count, bool thorough,
                           struct attempt *attempts)
{
    static const uint64_t bits[4] = {1, 2, 4, 8};
    size_t n = 0;
    for (size_t i = 0; i < 4; i++)
        if (shape->beyond[i] <= count / 4)
            attempts[n++] = (struct attempt){&step_form_packed, bits[i]};
    if (shape->others <= count / 2)
        attempts[n++] = (struct attempt){&step_form_runs, 0};
    uint64_t width = choose_width_of(shape->mask);
    if (thorough) {
        attempts[n++] = (struct attempt){&step_form_planes, width};
        attempts[n++] = (struct attempt){&step_form_fixed, width};
        attempts[n++] = (struct attempt){&step_form_varint, 0};
        attempts[n++] = (struct attempt){&step_form_tokens, 2};
        attempts[n++] = (struct attempt){&step_form_tokens, 3};
        attempts[n++] = (struct attempt){&step_form_tokens, 5};
        attempts[n++] = (struct attempt){&step_form_ranked, 0};
        return n;
    }
    if (n == 0 || width == 2)
        attempts[n++] = (struct attempt){&step_form_planes, width};
    if (width >= 2)
        attempts[n++] = (struct attempt){&step_form_varint, 0};
    if (width >= 2 && shape->beyond[3] > count / 4)
        attempts[n++] = (struct attempt){&step_form_fixed, width};
    if (shape->beyond[2] > count / 4) {
        attempts[n++] = (struct attempt){&step_form_tokens, 3};
        attempts[n++] = (struct attempt){&step_form_tokens, 5};
        attempts[n++] = (struct attempt){&step_form_ranked, 0};
    }
    return n;
}

/* Returns the size after form and compression; SIZE_MAX without memory, so that the attempt never
 * wins. */
static size_t cost_of(const struct attempt *attempt, const uint64_t *values, size_t count,
                      bool thorough, struct step_compressor *compressor, struct step_buffer *raw)
{
    if (!step_buffer_reserve(raw, (size_t) attempt->form->bound(attempt->parameter, count)))
        return SIZE_MAX;
    size_t length = attempt->form->encode(attempt->parameter, values, count, raw->data);
    return length != STEP_FORM_NO_MEMORY
               ? step_compress_estimate(compressor, thorough, raw->data, length)
               : SIZE_MAX;
}

/* Tries the forms on scratch->result.  Stores the best one in `chain` and returns its size. */
static size_t try_forms(struct step_chain *chain, const struct shape *shape, size_t count,
                        bool thorough, struct step_compressor *compressor,
                        struct step_scratch *scratch)
{
    struct attempt attempts[FORMS];
    size_t n = gather_forms(shape, count, thorough, attempts);
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        size_t cost =
            cost_of(&attempts[i], scratch->result, count, thorough, compressor, &scratch->raw);
        if (cost < best) {
            best = cost;
            chain->form = attempts[i].form;
            chain->form_parameter = attempts[i].parameter;
        }
    }
    return best;
}

static void make_constant(struct step_chain *chain, uint64_t value)
{
    chain->form = &step_form_constant;
    chain->form_parameter = value;
}

/*
 * Applies the chosen chain to all values, and adapts it to values outside the sample.
 *
 * The chain without zigzag is applied first, because whether there are negative numbers is a
 * question about all values again.  A column that turns out constant takes no bytes.  A form that
 * cannot hold what the sample did not show (a width too small, or equal values that were not) is
 * replaced without another trial.  The three that may replace it can hold any value: runs where few
 * values differ from 0, packed where few are large, else varints.
 */
static enum step_status choose_finish(const struct step_coding_hints *field_coding,
                                      const struct step_series *series, const uint64_t *values,
                                      size_t count, bool sampled, struct step_scratch *scratch,
                                      struct step_chain *chain)
{
    if (chain->length > 0 && chain->links[chain->length - 1].transform == &step_transform_zigzag)
        chain->length--;
    struct shape shape;
    enum step_status status = outline_chain(chain, series, values, count, scratch, &shape);
    if (status == STEP_STATUS_OK)
        status = settle_sign(field_coding, chain, scratch, count, &shape);
    if (status != STEP_STATUS_OK)
        return status;
    if (shape.constant) {
        make_constant(chain, count > 0 ? scratch->result[0] : 0);
        return status;
    }
    bool grew =
        chain->form == &step_form_constant ||
        (chain->form->fits != NULL && !chain->form->fits(chain->form_parameter, shape.mask));
    if (sampled && grew) {
        count_large(scratch->result, count, &shape);
        bool small = shape.beyond[3] <= count / 4;
        chain->form = shape.others <= count / 4 ? &step_form_runs
                      : small                   ? &step_form_packed
                                                : &step_form_varint;
        chain->form_parameter = chain->form == &step_form_packed ? 8 : 0;
    }
    return status;
}

/* The values on which all candidates are tried, and how. */
struct sample {
    const struct step_coding_hints *field_coding;
    const struct step_series *series;
    const uint64_t *values;
    size_t count;
    bool thorough; /* try all forms */
    struct step_compressor *compressor;
    struct step_scratch *scratch;
};

/* Finds the best form for the trial's transforms.  `*cost` is the size of the sample.  Equal values
 * after the transforms cost nothing, so such a candidate cannot be beaten. */
static enum step_status try_candidate(const struct sample *sample, struct step_chain *trial,
                                      size_t *cost)
{
    struct step_scratch *scratch = sample->scratch;
    enum step_status status =
        step_chain_forward(trial, sample->series, sample->values, sample->count, scratch);
    if (status != STEP_STATUS_OK)
        return status;
    struct shape shape = outline_of(scratch->result, sample->count);
    status = settle_sign(sample->field_coding, trial, scratch, sample->count, &shape);
    if (status != STEP_STATUS_OK)
        return status;
    count_large(scratch->result, sample->count, &shape);
    *cost = 0;
    if (shape.constant)
        make_constant(trial, scratch->result[0]);
    else
        *cost =
            try_forms(trial, &shape, sample->count, sample->thorough, sample->compressor, scratch);
    return status;
}

/* Tries all candidates on a sample.  Stores the best one in `chain`, and its index in `place`. */
static enum step_status try_candidates(const struct sample *sample,
                                       struct step_candidates *candidates, struct step_chain *chain,
                                       size_t *place)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < candidates->count; i++) {
        struct step_chain *trial = &candidates->chains[i];
        size_t cost;
        enum step_status status = try_candidate(sample, trial, &cost);
        if (status != STEP_STATUS_OK)
            return status;
        if (cost < best) {
            best = cost;
            *chain = *trial;
            *place = i;
        }
    }
    return chain->form != NULL ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
}

/*
 * Keeps the candidates that are best on the sample, in their order; `places` gets their original
 * indices.
 *
 * For packing there are up to 24 candidates and all forms, on a sample 16 times as long.  So a
 * first round with the usual forms leaves four of them.  The order is kept for the sake of ties.
 * Of equals the last is dropped, by the same rule.
 */
static enum step_status choose_finalists(const struct sample *sample,
                                         struct step_candidates *candidates, size_t *places)
{
    size_t costs[STEP_CANDIDATES];
    for (size_t i = 0; i < candidates->count; i++) {
        struct step_chain trial = candidates->chains[i];
        enum step_status status = try_candidate(sample, &trial, &costs[i]);
        if (status != STEP_STATUS_OK)
            return status;
    }
    while (candidates->count > FINALISTS) {
        size_t worst = 0;
        for (size_t i = 1; i < candidates->count; i++)
            worst = costs[i] >= costs[worst] ? i : worst;
        candidates->count--;
        for (size_t i = worst; i < candidates->count; i++) {
            candidates->chains[i] = candidates->chains[i + 1];
            places[i] = places[i + 1];
            costs[i] = costs[i + 1];
        }
    }
    return STEP_STATUS_OK;
}

bool step_choice_is_recalled(const struct step_choice *recalled, size_t count)
{
    return recalled != NULL && count >= RECALLED_FROM && recalled->blocks_left > 0;
}

static enum step_series_kind needs_of(const struct step_chain *chain)
{
    for (size_t i = 0; i < chain->length; i++)
        if (chain->links[i].transform->series != STEP_SERIES_NONE)
            return chain->links[i].transform->series;
    return STEP_SERIES_NONE;
}

/* Applies an earlier choice.  Not the chain is kept but the index of its candidate: parameters such
 * as the first value or the size of a table are those of this block, which gathering the candidates
 * has set.  If the candidates have changed, the chain may need another series than the caller has
 * prepared.  Then the values are stored without a transform, and the next block is tried again. */
static void recall(struct step_choice *recalled, const struct step_candidates *candidates,
                   struct step_chain *chain)
{
    recalled->blocks_left--;
    if (recalled->candidate < candidates->count)
        *chain = candidates->chains[recalled->candidate];
    if (needs_of(chain) != recalled->needs) {
        *chain = (struct step_chain){.form = &step_form_varint};
        recalled->blocks_left = 0;
        return;
    }
    chain->form = recalled->form;
    chain->form_parameter = recalled->form_parameter;
}

/* Remembers a choice.  One that wins again is reused for twice as many blocks, up to a limit: most
 * columns never change their nature.  It also keeps its largest size, so that a column that grows
 * worse little by little is not measured against its last block alone. */
static void choose_keep(struct step_choice *recalled, size_t place, bool thorough,
                        const struct step_chain *chain)
{
    struct step_choice choice = {.candidate = place,
                                 .form = chain->form,
                                 .form_parameter = chain->form_parameter,
                                 .blocks = RECALLED_BLOCKS,
                                 .needs = needs_of(chain)};
    if (recalled->form == choice.form && recalled->candidate == place &&
        recalled->form_parameter == choice.form_parameter) {
        choice.rate = recalled->rate;
        choice.blocks = recalled->blocks * 2 < RECALLED_MOST ? recalled->blocks * 2 : RECALLED_MOST;
    }
    if (thorough)
        choice.blocks = RECALLED_THOROUGH;
    choice.blocks_left = choice.blocks;
    *recalled = choice;
}

/* Some strategies learn from what has passed: in `live`, the first batches of a block leave no gaps
 * yet. */
static bool wants_long_sample(const struct step_coding_hints *hints)
{
    uint32_t named = hints->targeted;
    for (; named != 0; named &= named - 1)
        if (step_strategies[__builtin_ctz(named)]->wants_long_sample)
            return true;
    return false;
}

/* Equal values are recognised before anything else: they are frequent (the thread of a block, the
 * class of a run) and need no trial.  A choice is kept only if it stood for all values as it was
 * tried. */
enum step_status step_choose(const struct step_coding_hints *field_coding,
                             const struct step_series *series, uint64_t reference,
                             const uint64_t *values, size_t count,
                             struct step_compressor *compressor, struct step_scratch *scratch,
                             struct step_choice *recalled, struct step_chain *chain)
{
    *chain = (struct step_chain){0};
    bool thorough = step_compressor_is_best(compressor);
    size_t sample = thorough || wants_long_sample(field_coding) ? THOROUGH_SAMPLE : SAMPLE;
    sample = count < sample ? count : sample;
    if (is_constant(values, count)) {
        make_constant(chain, count > 0 ? values[0] : 0);
        return step_chain_forward(chain, series, values, count, scratch);
    }
    struct step_candidates candidates;
    step_candidates_gather(field_coding, reference, values, count, thorough, &candidates);
    if (step_choice_is_recalled(recalled, count)) {
        recall(recalled, &candidates, chain);
        return choose_finish(field_coding, series, values, count, true, scratch, chain);
    }
    size_t place = 0;
    size_t places[STEP_CANDIDATES];
    for (size_t i = 0; i < candidates.count; i++)
        places[i] = i;
    enum step_status status = STEP_STATUS_OK;
    struct sample trial = {field_coding, series, values, sample, thorough, compressor, scratch};
    if (thorough && sample > FIRST_SAMPLE && candidates.count > FINALISTS) {
        struct sample first = trial;
        first.count = FIRST_SAMPLE;
        first.thorough = false;
        status = choose_finalists(&first, &candidates, places);
    }
    if (status == STEP_STATUS_OK)
        status = try_candidates(&trial, &candidates, chain, &place);
    if (status != STEP_STATUS_OK)
        return status;
    const struct step_form *form = chain->form;
    status = choose_finish(field_coding, series, values, count, sample < count, scratch, chain);
    if (recalled != NULL && count >= RECALLED_FROM && chain->form == form &&
        form != &step_form_constant)
        choose_keep(recalled, places[place], thorough, chain);
    return status;
}

/* A choice is dropped when a block needs a quarter more bytes than its worst so far; the constant
 * keeps small columns, where a few bytes are a quarter, from being tried all the time. */
void step_choice_judge(struct step_choice *choice, size_t count, uint64_t stored_bytes)
{
    if (choice->blocks_left == 0 || count < RECALLED_FROM)
        return;
    uint64_t rate = (stored_bytes << 16) / count + 1;
    if (choice->rate != 0 && rate > choice->rate + choice->rate / 4 + 64)
        choice->blocks_left = 0;
    if (rate > choice->rate)
        choice->rate = rate;
}
