// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=G1 events=all options=include=facts/ThrowingArguments$Held
// FACT: calls facts/ThrowingArguments$Held <init> 20
// FACT: alloc facts/ThrowingArguments$Held 20
package facts;

/** Threads end by what the arguments of super() throw, below no other method with probes. */
public class ThrowingArguments {
    static int thrown() {
        throw new IllegalStateException("as meant");
    }

    static class Holder {
        final int value;

        Holder(int value) { this.value = value; }
    }

    static class Held extends Holder {
        Held() { super(thrown()); }
    }

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < 20; i++) {
            Thread thread = new Thread(Held::new);
            thread.setUncaughtExceptionHandler((of, what) -> System.out.println(what.getMessage()));
            thread.start();
            thread.join();
        }
    }
}
