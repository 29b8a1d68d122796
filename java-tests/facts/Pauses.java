// SPDX-License-Identifier: Apache-2.0
package facts;

import java.io.InputStream;

/** Makes objects of which few live on, for many short pauses; given a word also class loaders, whose memory causes collections of its own. */
public class Pauses {
    static Object[] kept = new Object[2000];

    static class Loader extends ClassLoader {
        Class<?> define(byte[] bytes) {
            return defineClass("facts.Pauses", bytes, 0, bytes.length);
        }
    }

    static byte[] itself() throws Exception {
        try (InputStream in = Pauses.class.getResourceAsStream("Pauses.class")) {
            return in.readAllBytes();
        }
    }

    public static void main(String[] args) throws Exception {
        byte[] bytes = itself();
        for (int i = 0; i < 5000; i++) {
            for (int k = 0; k < (args.length == 0 ? 1000 : 200); k++) kept[(i * 7 + k) % kept.length] = new byte[64];
            if (args.length != 0) new Loader().define(bytes).getDeclaredMethods();
            if (i % 100 == 0) Thread.sleep(1);
        }
    }
}
