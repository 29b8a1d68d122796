// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=all driver=attach options=stack=6
// FACT: alloc facts/Attached$Early 500
// FACT: freed facts/Attached$Early 500
// FACT: alloc facts/Attached$Held 100
// FACT: freed facts/Attached$Held 0
// FACT: alloc facts/Attached$While 20000
// FACT: freed facts/Attached$While 20000
// FACT: threads-allocating facts/Attached$Worked 4
// FACT: alloc facts/Attached$Worked 4000
// FACT: alloc facts/Attached$Stopped 0
// FACT: loads facts/Attached$While 1
// FACT: loads facts/Attached$Held 1
// FACT: loads facts/Attached$Stopped 0
// FACT: site facts/Attached$While 20000 facts/Attached.traced(Attached.java:48) <- facts/Attached.main(Attached.java:63)
// FACT: site facts/Attached$Worked 4000 facts/Attached.work(Attached.java:33)
package facts;

/** The agent comes while it runs, and stops before it ends. */
public class Attached {
    static class Early {}
    static class Held {}
    static class While {}
    static class Worked {}
    static class Stopped {}

    static Object[] early = new Object[500];
    static Object[] held = new Object[100];
    static volatile Object sink;

    static void work() {
        for (int i = 0; i < 1000; i++)
            sink = new Worked();
    }

    static void begin() {
        for (int i = 0; i < early.length; i++)
            early[i] = new Early();
        for (int i = 0; i < held.length; i++)
            held[i] = new Held();
    }

    static void traced() throws InterruptedException {
        early = null;
        for (int i = 0; i < 20_000; i++)
            sink = new byte[1000]; // a thread that runs already is not sampled at once: see java.md
        for (int i = 0; i < 20_000; i++)
            sink = new While();
        sink = null;
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++)
            (threads[i] = new Thread(Attached::work)).start();
        for (Thread thread : threads)
            thread.join();
        Support.collect();
        Support.pause(100);
    }

    public static void main(String[] args) throws InterruptedException {
        begin();
        Support.collect();
        Support.meet("attach");
        traced();
        Support.meet("stop");
        for (int i = 0; i < 1000; i++)
            sink = new Stopped();
        Support.meet("again");
        for (int i = 0; i < 1000; i++)
            sink = new Worked();
        System.out.println("held " + held.length);
    }
}
