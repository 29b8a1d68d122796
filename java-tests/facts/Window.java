// SPDX-License-Identifier: Apache-2.0
package facts;

/** A method between others, twice: start=, stop= and method=count of engine_cases.py look at it. */
public class Window {
    static class Before {}
    static class Within { Within() { inner(); } }
    static class After {}

    static int total;

    static void inner() { total++; }

    /** Makes 3 objects, in calls of itself. */
    static void window(int n) {
        Support.sink = new Within();
        if (n > 1)
            window(n - 1);
    }

    /** Leaves by an exception, from its second call of itself. */
    static void thrown(int n) {
        Support.sink = new Within();
        if (n == 0)
            throw new IllegalStateException();
        thrown(n - 1);
    }

    static void before() {
        for (int i = 0; i < 100; i++)
            Support.sink = new Before();
    }

    static void after() {
        for (int i = 0; i < 100; i++)
            Support.sink = new After();
        inner();
    }

    /** Another thread is in methods of its own, all the while. */
    static void beside(Thread thread) throws InterruptedException {
        thread.start();
        window(3);
        thread.join();
    }

    public static void main(String[] args) throws Exception {
        before();
        Thread thread = new Thread(() -> window(3));
        window(3);
        after();
        try {
            thrown(2);
        } catch (IllegalStateException e) {
            after();
        }
        beside(thread);
        System.out.println("total " + total);
    }
}
