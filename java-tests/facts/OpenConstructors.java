// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=G1 events=all options=include=facts/**
// FACT: calls facts/OpenConstructors$Held <init> 2
// FACT: exits facts/OpenConstructors$Held <init> 0
// FACT: alloc facts/OpenConstructors$Held 2
package facts;

import java.util.concurrent.CountDownLatch;

/** The JVM (with an argument first: a trace with a limit) ends while two threads work out what their constructors hand to super() and this(). */
public class OpenConstructors {
    static final CountDownLatch READY = new CountDownLatch(2);

    static volatile Holder sink;

    static int waited() {
        READY.countDown();
        Support.pause(600_000);
        return 1;
    }

    static class Holder {
        final int value;

        Holder(int value) { this.value = value; }
    }

    static class Held extends Holder {
        Held() { super(waited()); }

        Held(int ignored) { this(ignored, waited()); }

        Held(int ignored, int value) { super(value); }
    }

    static void start(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] args) throws InterruptedException {
        start(() -> new Held());
        start(() -> new Held(1));
        READY.await();
        for (int i = args.length == 0 ? 0 : Integer.parseInt(args[0]); i > 0; i--)
            sink = new Holder(i);
        System.out.println("leaving");
    }
}
