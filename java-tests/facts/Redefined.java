// SPDX-License-Identifier: Apache-2.0
package facts;

import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;

/** Redefines a class over and over: with the same code at other lines, and with other code. Each
 * version makes 400 objects a round, half of them below a method that stays on the stack meanwhile,
 * and the first one 200 before. */
public class Redefined {
    static final int EACH = 200;
    static volatile Object sink;
    static Instrumentation instrumentation;

    static class Item {}

    static class A {
        static void make() {
            sink = new Item();
        }
        static void stays() throws Exception {
            for (int round = 0; round < rounds; round++) redefine(round);
        }
    }

    static class B {
        static void make() {
            sink = new Item();
        }
        static void stays() throws Exception {
            for (int round = 0; round < rounds; round++) redefine(round);
        }
    }

    static class C {
        static void make() {
            sink = null;
            sink = new Item();
        }
        static void stays() throws Exception {
            for (int round = 0; round < rounds; round++) redefine(round);
        }
    }

    static int rounds;
    static final Class<?>[] VERSIONS = {A.class, B.class, C.class};
    static final byte[][] FILES = new byte[VERSIONS.length][];

    public static void premain(String words, Instrumentation given) {
        instrumentation = given;
    }

    /** The class file of a version, under the first one's name. */
    static byte[] file(Class<?> version) throws Exception {
        String name = "Redefined$" + version.getSimpleName();
        try (InputStream in = version.getResourceAsStream(name + ".class")) {
            String text = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
            return text.replace(name, "Redefined$A").getBytes(StandardCharsets.ISO_8859_1);
        }
    }

    static void make() {
        for (int i = 0; i < EACH; i++) A.make();
    }

    static void redefine(int round) throws Exception {
        instrumentation.redefineClasses(new ClassDefinition(A.class, FILES[round % FILES.length]));
        make();
        Thread other = new Thread(Redefined::make);
        other.start();
        other.join();
        if (round % 6 == 5)
            System.gc();
    }

    public static void main(String[] words) throws Exception {
        rounds = Integer.parseInt(words[0]) * VERSIONS.length;
        for (int i = 0; i < FILES.length; i++) FILES[i] = file(VERSIONS[i]);
        make();
        A.stays();
        System.out.println("done");
    }
}
