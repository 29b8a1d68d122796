// SPDX-License-Identifier: Apache-2.0
// One class with a finalizer, and Object's constructor hot enough for each compiler.
package storm;

public class Finalized {
    static volatile Object sink;

    static class Last {
        @Override
        protected void finalize() {
            sink = this;
        }
    }

    static class Plain {}

    public static void main(String[] args) {
        int count = Integer.parseInt(args[0]);
        sink = new Last();
        for (int i = 0; i < count; i++)
            sink = i % 2 == 0 ? new Object() : new Plain();
        System.out.println("made " + count);
    }
}
