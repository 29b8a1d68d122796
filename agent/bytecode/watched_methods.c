/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of start= and stop=: their triggers stand in the pages of method numbers. */
#include "agent/bytecode/class_hook.h"

#include "agent/records/method_numbers.h"

static const struct watch_actions *actions;

void watched_methods_act(const struct watch_actions *wanted)
{
    actions = wanted;
}

void watched_method_add(uint32_t number, unsigned triggers)
{
    struct method_page *page = method_page_of(number);
    if (page != NULL)
        atomic_store(&page->triggers[number % METHOD_PAGE_NUMBERS], (uint8_t) triggers);
}

void watched_methods_forget(void)
{
    for (uint32_t first = 0; first < METHOD_PAGE_NUMBERS * METHOD_PAGES;
         first += METHOD_PAGE_NUMBERS)
        for (uint32_t i = 0; method_page_of(first) != NULL && i < METHOD_PAGE_NUMBERS; i++)
            watched_method_add(first + i, 0);
}

static unsigned triggers_of_number(uint32_t number)
{
    struct method_page *page = method_page_of(number);
    return page != NULL ? atomic_load_explicit(&page->triggers[number % METHOD_PAGE_NUMBERS],
                                               memory_order_relaxed)
                        : 0;
}

void watched_method_entered(JNIEnv *jni, uint32_t number)
{
    unsigned triggers = triggers_of_number(number);
    if (triggers != 0)
        actions->entered(jni, triggers);
}

void watched_method_left(uint32_t number)
{
    unsigned triggers = triggers_of_number(number);
    if (triggers != 0)
        actions->left(triggers);
}
