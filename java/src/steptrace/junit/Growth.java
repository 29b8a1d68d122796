// SPDX-License-Identifier: Apache-2.0
package steptrace.junit;

import steptrace.limits.Recording;
import steptrace.limits.Sites;

/**
 * Whether what calls leave behind grows with their number. Each round is a trace of its own with twice as many calls as the
 * round before: of what can be filled, no more than its size is left, and of a leak, at its site, twice as much.
 */
final class Growth {
    private static final int MOST_OF_FIRST = 16;
    /** Rounds in a row that do not grow: what happens once in the round before could hide the growth in one. */
    private static final int CALM = 2;

    private Growth() {
    }

    static void judge(Subject.Call call, Subject subject, Limit limit) throws Throwable {
        int calls = limit.calls();
        do {
            calls /= 2;
        } while (calls > MOST_OF_FIRST);
        int calm = 0;
        for (Sites before = null;; calls *= 2) {
            try (Recording recording = subject.recording()) {
                for (int i = 0; i < calls; i++)
                    call.run();
                Recording.collect();
                recording.end();
                Sites now = recording.sites(true, limit.site()).within(subject.frame());
                calm = before != null && !now.grow(before, calls / 32) ? calm + 1 : 0;
                boolean isLast = 2 * calls > limit.calls();
                if (calm == CALM || (isLast && calm > 0))
                    return;
                if (isLast)
                    LimitsExtension.fail(recording, subject, fault(subject, limit, before, now, calls));
                before = now;
            }
        }
    }

    private static String fault(Subject subject, Limit limit, Sites before, Sites now, int calls) {
        return subject.name() + " grows: of " + calls + " calls " + Sites.amount(now.objects(), now.bytes())
                + " live, of " + calls / 2 + " calls " + Sites.amount(before.objects(), before.bytes())
                + (limit.site().isEmpty() ? "" : ", in " + limit.site()) + "; more by\n"
                + now.more(before).table(subject.frame());
    }
}
