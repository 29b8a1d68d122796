// SPDX-License-Identifier: Apache-2.0
// OutOfMemoryError: of objects, of one array, of class metadata, and in several threads at once; each
// is caught, and the program goes on.
package storm;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

public class Hunger {
    static volatile Object sink;

    static void objects() {
        List<Object> list = new ArrayList<>();
        for (;;)
            list.add(new Object[1000]);
    }

    static void array() {
        sink = new long[Integer.MAX_VALUE - 8];
    }

    static void metadata() {
        List<Object> list = new ArrayList<>();
        try {
            for (int i = 0;; i++)
                list.add(new Copies().make(i % 10000));
        } catch (ReflectiveOperationException odd) {
            throw new IllegalStateException(odd);
        }
    }

    static String outcome(Runnable hungry) {
        try {
            hungry.run();
            return "fed";
        } catch (OutOfMemoryError error) {
            return "hungry";
        }
    }

    static int together(int count) throws InterruptedException {
        AtomicInteger failed = new AtomicInteger();
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            threads[i] = new Thread(() -> {
                for (int k = 0; k < 3; k++)
                    if (outcome(Hunger::objects).equals("hungry"))
                        failed.incrementAndGet();
            });
            threads[i].start();
        }
        for (Thread thread : threads)
            thread.join();
        return failed.get();
    }

    public static void main(String[] args) throws Exception {
        for (String arg : args)
            switch (arg) {
                case "objects": System.out.println(outcome(Hunger::objects)); break;
                case "array": System.out.println(outcome(Hunger::array)); break;
                case "metadata": System.out.println(outcome(Hunger::metadata)); break;
                case "together": System.out.println(together(4) > 0); break;
                default: throw new IllegalArgumentException(arg);
            }
    }
}
