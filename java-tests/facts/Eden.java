// SPDX-License-Identifier: Apache-2.0
package facts;

import com.sun.management.ThreadMXBean;
import java.io.PrintStream;
import java.lang.invoke.MethodHandles;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Counts what it allocates by class, for engine=walk: objects by its own count, bytes by the JVM's
 * count of its threads.  All objects go through a volatile field, so that none is removed.  Large
 * arrays may be allocated elsewhere than in eden.  tests/jvm/eden_cases.py judges it.
 */
public class Eden {
    static class Small { int a; }
    static class Wide { long a, b, c, d, e; }
    static class Final { long a; protected void finalize() { ended++; } }
    static class Item { }
    static class Big { }
    static class InThread { long a, b; }
    static class InVirtual { long a, b, c; }
    static volatile int ended;
    static volatile Object sink;
    static final Object[] kept = new Object[2000];
    static final ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    static final Map<String, long[]> counts = new LinkedHashMap<>();

    interface Making { void make(int i) throws Exception; }

    static synchronized void add(String name, long objects, long bytes) {
        long[] sums = counts.computeIfAbsent(name, key -> new long[2]);
        sums[0] += objects;
        sums[1] += bytes;
    }

    /** Makes that many; the thread allocates nothing else meanwhile. */
    static void count(String name, int objects, int most, Making making) throws Exception {
        for (int done = 0; done < objects; done += most) {
            int now = Math.min(most, objects - done);
            long before = bean.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < now; i++)
                making.make(i);
            long bytes = bean.getCurrentThreadAllocatedBytes() - before;
            add(name, now, bytes);
        }
    }

    static void keep(int i, Object object) {
        sink = object;
        if (i % 97 == 0)
            kept[i / 97 % kept.length] = object;
    }

    static void work() throws Exception {
        for (int round = 0; round < 4; round++) {
            count("facts/Eden$Small", 300_000, 300_000, i -> keep(i, new Small()));
            count("facts/Eden$Wide", 50_000, 50_000, i -> keep(i, new Wide()));
            count("facts/Eden$Final", 500, 500, i -> sink = new Final());
            count("[Lfacts/Eden$Item;", 30_000, 30_000, i -> keep(i, new Item[i % 40]));
            count("[[Lfacts/Eden$Item;", 3_000, 3_000, i -> sink = new Item[i % 7][]);
            count("[Lfacts/Eden$Big;", 6, 6, i -> sink = new Big[700_000]);
            hidden();
            if (round == 1)
                System.gc();
        }
    }

    /** Classes, whose mirrors have sizes of their own. */
    static void hidden() throws Exception {
        byte[] bytes;
        try (var in = Eden.class.getResourceAsStream("Eden$Small.class")) {
            bytes = in.readAllBytes();
        }
        for (int i = 0; i < 20; i++)
            sink = MethodHandles.lookup().defineHiddenClass(bytes, false).lookupClass();
    }

    static void checked(Making making) {
        try {
            making.make(0);
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
    }

    static void threads() throws Exception {
        List<Thread> all = new ArrayList<>();
        for (int t = 0; t < 60; t++) {
            int objects = 500 + 100 * t;
            all.add(new Thread(() -> checked(
                    x -> count("facts/Eden$InThread", objects, objects, i -> sink = new InThread()))));
        }
        for (Thread thread : all)
            thread.start();
        for (Thread thread : all)
            thread.join();
    }

    /** Virtual threads that wait have their stacks in the heap. */
    static void virtualThreads() throws Exception {
        var start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        List<Thread> all = new ArrayList<>();
        for (int t = 0; t < 200; t++)
            all.add((Thread) start.invoke(null, (Runnable) () -> checked(x -> {
                for (int i = 0; i < 100; i++) {
                    sink = new InVirtual();
                    if (i % 25 == 0)
                        Thread.sleep(1);
                }
            })));
        for (Thread thread : all)
            thread.join();
        add("facts/Eden$InVirtual", 20_000, 0);
    }

    public static void main(String[] arguments) throws Exception {
        count("facts/Eden$Warm", 1, 1, i -> { });
        counts.clear();
        long before = bean.getCurrentThreadAllocatedBytes();
        work();
        threads();
        if (Runtime.version().feature() >= 21)
            virtualThreads();
        long bytes = bean.getCurrentThreadAllocatedBytes() - before;
        try (PrintStream out = new PrintStream(System.getProperty("facts.out"))) {
            for (Map.Entry<String, long[]> row : counts.entrySet())
                out.println("class " + row.getKey() + " " + row.getValue()[0] + " " + row.getValue()[1]);
            out.println("thread " + bytes);
        }
    }
}
