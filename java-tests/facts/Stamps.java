// SPDX-License-Identifier: Apache-2.0
package facts;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Many calls with waits between. Prints how long the waits were: of calls (`rest`) and between calls
 * (`gap`). With `hand` a thread hands objects over to another, which calls their methods at once;
 * with `forever` it calls until it is killed, and with `construct` it makes objects so long.
 */
public class Stamps {
    static final class Item {
        final int value;

        Item(int value) {
            this.value = value;
        }

        int value() {
            return value;
        }
    }

    static class Part {
        Part() {
            count();
        }
    }

    static class Whole extends Part {
        Whole() {
            count();
        }
    }

    static void count() {
        sum++;
        if (sum < 0)
            count();
    }

    static final int WAIT_MS = 200;
    static final int ITEMS = 5_000;
    static final AtomicReference<Object> slot = new AtomicReference<>();
    static long sum;

    static int deep(int n) {
        return n < 2 ? n : deep(n - 1) + deep(n - 2);
    }

    static void rest() throws InterruptedException {
        Thread.sleep(WAIT_MS);
    }

    static void give() {
        for (int i = 0; i < ITEMS; i++) {
            Item item = new Item(i);
            while (!slot.compareAndSet(null, item))
                Thread.onSpinWait();
            if (i % (ITEMS / 4) == 0)
                System.gc();
        }
    }

    static void take() {
        for (int i = 0; i < ITEMS; i++) {
            Object item;
            while ((item = slot.getAndSet(null)) == null)
                Thread.onSpinWait();
            sum += ((Item) item).value();
        }
    }

    static void hand() throws InterruptedException {
        Thread other = new Thread(Stamps::give, "giver");
        other.start();
        take();
        other.join();
        System.out.println(sum);
    }

    static long[] wait(int n) throws InterruptedException {
        deep(n);
        long rest = System.nanoTime();
        rest();
        rest = System.nanoTime() - rest;
        deep(n);
        long gap = System.nanoTime();
        Thread.sleep(WAIT_MS);
        gap = System.nanoTime() - gap;
        deep(n);
        return new long[] {rest, gap};
    }

    public static void main(String[] arguments) throws InterruptedException {
        if (arguments[0].equals("hand")) {
            hand();
        } else if (arguments[0].equals("forever")) {
            while (true)
                System.out.println(deep(12));
        } else if (arguments[0].equals("construct")) {
            while (true) {
                for (int i = 0; i < 2_000; i++)
                    slot.set(new Whole());
                System.out.println("made");
            }
        } else {
            int n = Integer.parseInt(arguments[0]);
            for (long[] waited : new long[][] {wait(n), wait(n), wait(n)})
                System.out.println("rest " + waited[0] + "\ngap " + waited[1]);
        }
    }
}
