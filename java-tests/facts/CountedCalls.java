// SPDX-License-Identifier: Apache-2.0
package facts;

import java.util.concurrent.CountDownLatch;

/**
 * Threads that call the same methods at once, which return, throw, recurse and are left by
 * exceptions of constructors.  Prints how often each was called and left by an exception.  With
 * "attach", all of it also happens before and after the trace; with "virtual", in virtual threads
 * that change their carriers.
 */
public class CountedCalls {
    private static class Base {
        final int value;

        Base(int value) {
            if (value == 0)
                throw new IllegalStateException();
            this.value = value;
        }

        int value() {
            return value;
        }
    }

    private static final class Derived extends Base {
        Derived(int value) {
            super(checked(value));
        }
    }

    private static final int DEPTH = 9;
    private static volatile long sum;
    private static boolean yields;

    static int leaf(int x) {
        return x + 1;
    }

    static int divided(int x, int by) {
        return x / by;
    }

    static int plain(int x) {
        return leaf(x) + leaf(x + 1);
    }

    static int deep(int n) {
        if (n == 0 && yields)
            Thread.yield();
        return n == 0 ? 0 : deep(n - 1) + 1;
    }

    static int thrown(int i) {
        if (i % 5 == 0)
            throw new IllegalStateException();
        return i;
    }

    static int through(int i) {
        return thrown(i) + 1;
    }

    static int checked(int i) {
        if (i % 8 == 0)
            throw new IllegalArgumentException();
        return i % 8 - 1;
    }

    static long round(int i) {
        long result = plain(i) + deep(DEPTH);
        try {
            result += through(i);
        } catch (IllegalStateException e) {
            result++;
        }
        try {
            result += new Derived(i).value();
        } catch (IllegalStateException | IllegalArgumentException e) {
            result++;
        }
        try {
            result += divided(i, i & 3);
        } catch (ArithmeticException e) {
            result++;
        }
        return result;
    }

    static void work(int rounds, CountDownLatch all) {
        all.countDown();
        try {
            all.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        long result = 0;
        for (int i = 0; i < rounds; i++)
            result += round(i);
        sum = result;
    }

    private static void together(int count, int rounds, boolean isVirtual) throws Exception {
        CountDownLatch all = new CountDownLatch(count);
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            Runnable run = () -> work(rounds, all);
            if (isVirtual) {
                threads[i] = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
                                     .invoke(null, run);
            } else {
                threads[i] = new Thread(run);
                threads[i].start();
            }
        }
        for (Thread thread : threads)
            thread.join();
    }

    private static void say(String method, long calls, long exceptions) {
        System.out.println("calls " + method + " " + calls + " " + exceptions);
    }

    /** `rounds` is a multiple of 40, so that all remainders are as frequent. */
    private static void say(long rounds) {
        say("facts/CountedCalls.round", rounds, 0);
        say("facts/CountedCalls.plain", rounds, 0);
        say("facts/CountedCalls.leaf", 2 * rounds, 0);
        say("facts/CountedCalls.divided", rounds, rounds / 4);
        say("facts/CountedCalls.deep", (DEPTH + 1) * rounds, 0);
        say("facts/CountedCalls.thrown", rounds, rounds / 5);
        say("facts/CountedCalls.through", rounds, rounds / 5);
        say("facts/CountedCalls.checked", rounds, rounds / 8);
        say("facts/CountedCalls$Derived.<init>", rounds, rounds / 8 * 2);
        say("facts/CountedCalls$Base.<init>", rounds / 8 * 7, rounds / 8);
        say("facts/CountedCalls$Base.value", rounds / 8 * 6, 0);
    }

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[0]), rounds = Integer.parseInt(arguments[1]);
        boolean isVirtual = arguments[2].equals("virtual"), waits = arguments[2].equals("attach");
        yields = isVirtual;
        if (waits) {
            together(count, rounds, false);
            Support.meet("attach");
        }
        together(count, rounds, isVirtual);
        if (waits) {
            Support.meet("stop");
            together(count, rounds, false);
        }
        say((long) count * rounds);
    }
}
