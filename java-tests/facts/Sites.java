// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=Serial,G1 options=stack=6 vm=-Xmx128m
// FACT: site facts/Sites$Straight 700 facts/Sites.straight(Sites.java:34) <- facts/Sites.main(Sites.java:66)
// FACT: site facts/Sites$Item 300 facts/Sites.make(Sites.java:38) <- facts/Sites.left(Sites.java:42) <- facts/Sites.main(Sites.java:67)
// FACT: site facts/Sites$Item 200 facts/Sites.make(Sites.java:38) <- facts/Sites.right(Sites.java:46) <- facts/Sites.main(Sites.java:68)
// FACT: site [J 90 facts/Sites.array(Sites.java:50) <- facts/Sites.main(Sites.java:69)
// FACT: site facts/Sites$Deep 1 facts/Sites.deep(Sites.java:55) <- facts/Sites.deep(Sites.java:56) <- facts/Sites.deep(Sites.java:56)
// FACT: site facts/Sites$Built 40 facts/Sites$Builder.<init>(Sites.java:29) <- facts/Sites.main(Sites.java:72)
// FACT: site facts/Sites$Hot 200000 facts/Sites.hot(Sites.java:61) <- facts/Sites.main(Sites.java:74)
// FACT: site facts/Sites$Threaded 500 facts/Sites.lambda$main$0(Sites.java:75) <- facts/Sites$$Lambda
// FACT: site facts/Sites$Inner 1 facts/Sites$Outer.<init>(Sites.java:85) <- facts/Sites$Inner.<init>(Sites.java:91) <- facts/Sites.main(Sites.java:78)
// FACT: site facts/Sites$Inner 1 facts/Sites.main(Sites.java:78)
package facts;

/** Objects whose call stacks are known, to the line. */
public class Sites {
    static class Straight {}
    static class Item {}
    static class Deep {}
    static class Built {}
    static class Hot {}
    static class Threaded {}

    static volatile Object sink;

    static class Builder {
        Object built;
        Builder() {
            built = new Built();
        }
    }

    static void straight() {
        sink = new Straight();
    }

    static void make() {
        sink = new Item();
    }

    static void left() {
        make();
    }

    static void right() {
        make();
    }

    static void array(int i) {
        sink = new long[i % 7];
    }

    static void deep(int levels) {
        if (levels == 0)
            sink = new Deep();
        else deep(levels - 1);
    }

    static void hot() {
        for (int i = 0; i < 200_000; i++)
            sink =
                new Hot();
    }

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < 700; i++) straight();
        for (int i = 0; i < 300; i++) left();
        for (int i = 0; i < 200; i++) right();
        for (int i = 0; i < 90; i++) array(i);
        deep(20);
        for (int i = 0; i < 40; i++)
            sink = new Builder();

        hot();
        Thread thread = new Thread(() -> { for (int i = 0; i < 500; i++) sink = new Threaded(); });
        thread.start();
        thread.join();
        sink = new Inner(1);
        System.out.println("done");
    }

    static class Outer {
        Outer(int n) {
            if (n > 0)
                sink = new Inner(n - 1);
        }
    }

    static class Inner extends Outer {
        Inner(int n) {
            super(n);
        }
    }
}
