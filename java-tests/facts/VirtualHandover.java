// SPDX-License-Identifier: Apache-2.0
// TEST: jdk=21 collectors=G1 events=all options=include=facts/VirtualHandover*,resolution=10ms vm=-Djdk.virtualThreadScheduler.parallelism=4
// FACT: alloc facts/VirtualHandover$Parcel 4000
// FACT: calls facts/VirtualHandover$Parcel open 4000
// FACT: exits facts/VirtualHandover give 4000
package facts;

import java.util.concurrent.SynchronousQueue;

/** Virtual threads change carriers many times within one tick of the trace's clock, and hand objects to
 * platform threads, which use them at once. */
public class VirtualHandover {
    static final int EACH = 1000;
    static final SynchronousQueue<Parcel> QUEUE = new SynchronousQueue<>();

    static class Parcel {
        int opened;

        void open() { opened++; }
    }

    static void give() throws InterruptedException {
        for (int i = 0; i < 3; i++)
            Thread.yield();
        QUEUE.put(new Parcel());
    }

    static void giveAll() {
        try {
            for (int i = 0; i < EACH; i++)
                give();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void takeAll() {
        try {
            for (int i = 0; i < 2 * EACH; i++)
                QUEUE.take().open();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        var start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        Runnable give = VirtualHandover::giveAll;
        for (int i = 0; i < 4; i++)
            start.invoke(null, give);
        Thread other = new Thread(VirtualHandover::takeAll);
        other.start();
        takeAll();
        other.join();
        System.out.println("done");
    }
}
