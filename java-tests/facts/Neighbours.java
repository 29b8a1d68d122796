// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

/** Pairs of objects at known distances; tests/jvm/locality_cases.py has the numbers. */
public class Neighbours {
    static class Part {
        long value;
    }

    /** Its part is made by its constructor. */
    static class Whole {
        final Part part = new Part();
    }

    /** There are ten arrays between it and its part. */
    static class Far {
        final Part part;

        Far(Part part) {
            this.part = part;
        }
    }

    /** Its part is of another thread. */
    static class Foreign {
        Part part;
    }

    static final int COUNT = 500;
    static final Object[] kept = new Object[COUNT];
    static final Part[] foreign = new Part[COUNT];
    static Object last;
    static final Class<?>[] loaded = {Part.class, Whole.class, Far.class, Foreign.class}; // before any pair

    static void wholes() {
        for (int i = 0; i < COUNT; i++)
            kept[i] = new Whole();
    }

    static void fars() {
        for (int i = 0; i < COUNT; i++) {
            Part part = new Part();
            for (int k = 0; k < 10; k++)
                last = new byte[984];
            kept[i] = new Far(part);
        }
    }

    static void makeForeign() {
        for (int i = 0; i < COUNT; i++)
            foreign[i] = new Part();
    }

    static void foreigns() throws InterruptedException {
        Thread other = new Thread(Neighbours::makeForeign);
        other.start();
        other.join();
        for (int i = 0; i < COUNT; i++) {
            Foreign one = new Foreign();
            one.part = foreign[i];
            one.part = foreign[i]; // the same again
            kept[i] = one;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        wholes();
        fars();
        foreigns();
        System.out.println(kept[COUNT - 1] != null);
    }
}
