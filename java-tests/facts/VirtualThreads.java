// SPDX-License-Identifier: Apache-2.0
// TEST: jdk=21 collectors=G1,Z vm=-Djdk.virtualThreadScheduler.parallelism=4
// FACT: alloc facts/VirtualThreads$Task 20000
// FACT: alloc facts/VirtualThreads$Last 1000
// FACT: threads-allocating facts/VirtualThreads$Task 1000
// FACT: threads-allocating facts/VirtualThreads$Last 1000
// FACT: threads-ended facts/VirtualThreads$Task
// FACT: starts-between facts/VirtualThreads$Section 1000..1020
package facts;

import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicInteger;

/** Virtual threads that change their carriers between allocations. */
public class VirtualThreads {
    static class Task {}
    static class Last {}
    static class Section {}

    static volatile Object sink;
    static final AtomicInteger moved = new AtomicInteger();

    static void run() {
        String first = carrier();
        for (int i = 0; i < 20; i++) {
            sink = new Task();
            if (i % 5 == 0)
                Support.pause(1);
            else
                Thread.yield();
        }
        sink = new Last();
        if (!carrier().equals(first))
            moved.incrementAndGet();
    }

    /** A virtual thread's text ends with its carrier's name. */
    static String carrier() {
        String text = Thread.currentThread().toString();
        return text.substring(text.lastIndexOf('@') + 1);
    }

    public static void main(String[] args) throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        Runnable run = VirtualThreads::run;
        sink = new Section();
        Support.pause(5);
        Thread[] threads = new Thread[1000];
        for (int i = 0; i < threads.length; i++)
            threads[i] = (Thread) start.invoke(null, run);
        for (Thread thread : threads)
            thread.join();
        Support.pause(50);
        sink = new Section();
        System.out.println("some moved: " + (moved.get() > 0));
    }
}
