// SPDX-License-Identifier: Apache-2.0
package facts;

import java.io.PrintStream;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * As Survivors, in a crowded heap: other threads keep it nearly full and change what is old, so that collections are
 * mixed or full ones, and fail.  Each round has a class of arrays of its own, with more dimensions than the last one.
 * Arguments: threads, objects that each keeps, seconds, and whether some arrays are humongous.
 * tests/bench/walk_survivors.py judges it.
 */
public class Crowded {
    static class A { }
    static class B { long a; }
    static class C { int a; }
    static class D { Object a, b, c; }
    static final int MOST = 4000, ROUNDS = 800;
    static final GarbageCollectorMXBean[] collectors =
            ManagementFactory.getGarbageCollectorMXBeans().toArray(new GarbageCollectorMXBean[0]);
    static volatile Object sink, ofOthers;
    static volatile boolean stop;

    /** Without the pauses of marking. */
    static long collections() {
        long sum = 0;
        for (GarbageCollectorMXBean collector : collectors)
            if (!collector.getName().contains("Concurrent"))
                sum += collector.getCollectionCount();
        return sum;
    }

    static void crowd(int count, int seed, boolean humongous) {
        Object[] live = new Object[count];
        Random random = new Random(seed);
        while (!stop)
            try {
                int choice = random.nextInt(100), i = random.nextInt(count);
                if (choice == 0 && humongous)
                    ofOthers = new byte[600_000 + random.nextInt(300_000)];
                else if (choice < 30)
                    live[i] = new byte[random.nextInt(4000)];
                else if (choice < 40)
                    live[i] = new int[random.nextInt(1000)];
                else if (choice < 50)
                    System.identityHashCode(live[i]);
                else
                    ofOthers = new byte[random.nextInt(500)];
                if (choice == 99)
                    Thread.sleep(1);
            } catch (OutOfMemoryError e) {
                Arrays.fill(live, null);
            } catch (InterruptedException e) {
                return;
            }
    }

    static void collect(long before) {
        while (collections() == before)
            sink = new byte[100];
    }

    /** Returns its line; null: it has none, since there was more than one collection. */
    static String round(Class<?> element, Random random, Object[] kept) {
        collect(collections());
        int objects = 200 + random.nextInt(3000), survive = 1 + random.nextInt(objects);
        long before = collections();
        Arrays.fill(kept, null);
        for (int i = 0; i < objects; i++) {
            sink = Array.newInstance(element, random.nextInt(6));
            if (i < survive)
                kept[i] = sink;
            if (i % 50 == 0)
                System.identityHashCode(sink);
        }
        sink = null;
        synchronized (kept[0]) {
            boolean whole = collections() == before;
            collect(before);
            String name = kept[0].getClass().getName().replace('.', '/');
            return whole && collections() == before + 1 ? "round " + name + " " + objects + " " + survive : null;
        }
    }

    public static void main(String[] arguments) throws Exception {
        int threads = Integer.parseInt(arguments[0]), count = Integer.parseInt(arguments[1]);
        for (int i = 0; i < threads; i++) {
            int seed = i;
            Thread thread = new Thread(() -> crowd(count, seed, Boolean.parseBoolean(arguments[3])));
            thread.setDaemon(true);
            thread.start();
        }
        List<String> lines = new ArrayList<>();
        Class<?>[] elements = {A.class, B.class, C.class, D.class};
        Object[][] kept = new Object[6][MOST];
        Random random = new Random(5);
        long end = System.nanoTime() + Long.parseLong(arguments[2]) * 1_000_000_000;
        for (int i = 0; i < ROUNDS && System.nanoTime() < end; i++)
            try {
                String line = round(elements[i % 4], random, kept[i % 6]);
                if (line != null)
                    lines.add(line);
                elements[i % 4] = elements[i % 4].arrayType();
            } catch (OutOfMemoryError e) {
                elements[i % 4] = elements[i % 4].arrayType();
            }
        stop = true;
        try (PrintStream out = new PrintStream(System.getProperty("facts.out"))) {
            lines.forEach(out::println);
        }
    }
}
