// SPDX-License-Identifier: Apache-2.0
// Works in two threads until its standard input ends.
package storm;

public class Waiting {
    static volatile boolean stopped;
    static volatile long seen;

    public static void main(String[] args) throws Exception {
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            int seed = i;
            threads[i] = new Thread(() -> {
                while (!stopped)
                    seen += Mix.work(seed, 50);
            }, "busy" + i);
            threads[i].start();
        }
        System.out.println("ready");
        System.out.flush();
        while (System.in.read() >= 0) {
        }
        stopped = true;
        for (Thread thread : threads)
            thread.join();
        System.out.println("done");
    }
}
