// SPDX-License-Identifier: Apache-2.0
package facts;

/** Threads that come one after the other and make the same objects: HotSpot samples them alike. */
public class SampledThreads {
    static final int THREADS = 300, OBJECTS = 2_000;

    static final class Made { long value; }

    static volatile Object sink;

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> {
                for (int j = 0; j < OBJECTS; j++)
                    sink = new Made();
            });
            thread.start();
            thread.join();
        }
    }
}
