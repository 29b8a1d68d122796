// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

/** A class whose initializer makes an object of it, whose constructor waits before it calls super(). */
public class Initializing {
    static class Base {
        Base(int value) {}
    }

    static class One extends Base {
        long a, b, c, d; // 48 bytes with the header

        One(int value) { super(waits(value)); }

        static int waits(int value) {
            Support.meet("waiting");
            return value;
        }

        static final One ONE = new One(1);
    }

    public static void main(String[] args) {
        System.out.println(One.ONE != null);
    }
}
