// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.atomic.AtomicLong;

/** Soak SECONDS THREADS: makes objects as fast as it can; so many of them live at any time (soak.live).  Prints
 *  how many of each class it made.  With -Dsoak.gc=true one collection after the other is asked for. */
public class Soak {
    static final int LIVE = Integer.getInteger("soak.live", 50_000);

    static final class Node { Object next; long value; }
    static final class Copied implements Cloneable {
        int value;
        Copied copy() throws CloneNotSupportedException { return (Copied) clone(); }
    }
    static final class Task implements Runnable {
        final Node[] made = new Node[100];
        @Override public void run() {
            for (int i = 0; i < made.length; i++)
                made[i] = new Node();
        }
    }

    static final AtomicLong nodes = new AtomicLong(), copies = new AtomicLong(), arrays = new AtomicLong();
    static volatile Object sink;

    static void churn(long end) {
        Object[] ring = new Object[LIVE];
        Copied template = new Copied();
        long rounds = 0;
        try {
            for (int at = 0; System.nanoTime() < end; )
                for (int i = 0; i < 1000; i++, rounds++) {
                    Node node = new Node();
                    node.next = i % 2 == 0 ? template.copy() : new short[i % 64];
                    ring[at] = node;
                    at = at + 1 == LIVE ? 0 : at + 1;
                }
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException(e);
        }
        sink = ring;
        nodes.addAndGet(rounds);
        copies.addAndGet(rounds / 2 + 1);
        arrays.addAndGet(rounds / 2);
    }

    public static void main(String[] args) throws InterruptedException {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        Thread[] threads = new Thread[Integer.parseInt(args[1])];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> churn(end));
            threads[i].start();
        }
        if (Boolean.getBoolean("soak.gc"))
            new Thread(() -> {
                while (System.nanoTime() < end)
                    System.gc();
            }).start();
        long tasks = 0;
        for (; System.nanoTime() < end; tasks++) {
            Thread thread = new Thread(new Task()); // threads come and go meanwhile
            thread.start();
            thread.join();
            Thread.sleep(10);
        }
        for (Thread thread : threads)
            thread.join();
        System.out.println("Soak$Node " + (nodes.get() + 100 * tasks));
        System.out.println("Soak$Copied " + copies.get());
        System.out.println("[S " + arrays.get());
        System.out.println("Soak$Task " + tasks);
    }
}
