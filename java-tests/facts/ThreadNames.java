// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

/** Threads with long names, of characters that take one to four bytes. */
public class ThreadNames {
    static final int[] LENGTHS = {1000, 1023, 1024, 5000, 40000};

    public static void main(String[] args) throws InterruptedException {
        for (String text : new String[] {"L", "\u00e9", "\u20ac", "\ud834\udd1e"})
            for (int length : LENGTHS) {
                Thread thread = new Thread(Object::new, text.repeat(length));
                thread.start();
                thread.join();
            }
    }
}
