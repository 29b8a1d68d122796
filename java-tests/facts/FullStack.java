// SPDX-License-Identifier: Apache-2.0
// TEST: events=method+class+thread options=include=facts/** vm=-Xss300k
// FACT: calls facts/FullStack rounds 1
// FACT: exits facts/FullStack rounds 1
// FACT: exits facts/FullStack locked 0
package facts;

import java.io.IOException;

/**
 * Exceptions where the stack is full: handlers run as often as without probes, also those that cover
 * themselves (as javac's of synchronized blocks do), and get the exception that was thrown.
 */
public class FullStack {
    static class Thrown extends IOException {}

    static final Object lock = new Object();
    static long in, out, wrong, unlocked;
    static int deepest;

    static int locked() {
        synchronized (lock) {
            return locked() + 1;
        }
    }

    static int counted() {
        in++;
        try {
            return counted() + 1;
        } finally {
            out++;
        }
    }

    static int caughtAll() {
        in++;
        try {
            return caughtAll() + 1;
        } catch (IllegalStateException e) {
            return 0;
        } finally {
            out++;
        }
    }

    /** Throws an exception of its own at the depth where the stack overflows, or a little above. */
    static void thrown(int depth, Thrown what) throws Thrown {
        deepest = Math.max(deepest, depth);
        if (what != null && depth == 0)
            throw what;
        try {
            thrown(what != null ? depth - 1 : depth + 1, what);
        } catch (Thrown e) {
            wrong += e == what ? 0 : 1;
            in++;
            throw e;
        }
    }

    static void thrownBack(int depth) {
        Thrown what = new Thrown();
        in = 0;
        try {
            thrown(depth, what);
            wrong++;
        } catch (Thrown e) {
            wrong += e == what && in == depth ? 0 : 1;
        } catch (StackOverflowError e) {
            unlocked++; /* too deep */
        }
    }

    static void rounds() throws Exception {
        for (int i = 0; i < 2; i++) {
            try {
                locked();
            } catch (StackOverflowError e) {
                unlocked += Thread.holdsLock(lock) ? 1000 : 0;
            }
            try {
                counted();
            } catch (StackOverflowError e) {
                wrong += in == out ? 0 : 1;
            }
            try {
                caughtAll();
            } catch (StackOverflowError e) {
                wrong += in == out ? 0 : 1;
            }
        }
        try {
            thrown(0, null);
        } catch (StackOverflowError e) {
            System.out.println("overflown");
        }
        int limit = deepest;
        for (int depth = limit - 40; depth <= limit; depth++)
            thrownBack(depth);
    }

    public static void main(String[] args) throws Exception {
        rounds();
        System.out.println(wrong + " wrong, " + (unlocked < 1000));
    }
}
