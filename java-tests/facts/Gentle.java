// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

import java.util.concurrent.ThreadLocalRandom;

/** Threads call methods of three classes, each of which makes one object a turn, while an agent
 * comes and goes. What a trace has of them may differ by an object a thread at its two ends. */
public class Gentle {
    static class Held {}
    static class First {}
    static class Second {}
    static class Third {}
    static class While {}

    static final Object[] held = new Object[100];
    static final int THREADS = 4;
    static volatile Object sink;
    static volatile boolean ends;

    static class Outer {
        static int turn(int value) {
            sink = new First();
            return Middle.turn(value) + 1;
        }
    }

    static class Middle {
        static int turn(int value) {
            sink = new Second();
            if (value % 3 == 0)
                throw new IllegalStateException("caught below");
            return Inner.turn(value) + 1;
        }
    }

    static class Inner {
        static int turn(int value) {
            sink = new Third();
            return value + 1;
        }
    }

    static void work() {
        for (int i = 1; !ends; i++) {
            try {
                Outer.turn(3 * i + 1);
                if (i % 20 == 0)
                    Thread.sleep(0, ThreadLocalRandom.current().nextInt(1_000_000));
                Outer.turn(3 * i + 2);
                Outer.turn(i % 1000 == 0 ? 3 : 1);
            } catch (IllegalStateException expected) {
                Inner.turn(1);
            } catch (InterruptedException never) {
                return;
            }
        }
    }

    static void once() {
        sink = new While();
    }

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < held.length; i++)
            held[i] = new Held();
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < threads.length; i++)
            (threads[i] = new Thread(Gentle::work)).start();
        for (int round = 0; round < 3; round++) {
            Support.meet("attach");
            for (int i = 0; i < 5000; i++)
                once();
            Support.meet("stop");
        }
        Support.meet("end");
        ends = true;
        for (Thread thread : threads)
            thread.join();
        System.out.println("held " + held.length);
    }
}
