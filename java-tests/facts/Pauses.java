// SPDX-License-Identifier: Apache-2.0
package facts;

/** Makes objects of which few live on, for many short pauses. */
public class Pauses {
    static Object[] kept = new Object[2000];

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 5000; i++) {
            for (int k = 0; k < 1000; k++) kept[(i * 7 + k) % kept.length] = new byte[64];
            if (i % 100 == 0) Thread.sleep(1);
        }
    }
}
