// SPDX-License-Identifier: Apache-2.0
// As many classes as wanted: copies of Copied0000, whose name is patched in its class file; each has a
// loader of its own.
package storm;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

public class Copies extends ClassLoader {
    static final byte[] FILE = read();

    Copies() {
        super(Copies.class.getClassLoader());
    }

    private static byte[] read() {
        try (InputStream in = Copies.class.getResourceAsStream("Copied0000.class")) {
            return in.readAllBytes();
        } catch (IOException odd) {
            throw new IllegalStateException(odd);
        }
    }

    /** All "from" in a class file become "to", which is as long. */
    static byte[] patched(byte[] file, String from, String to) {
        String text = new String(file, StandardCharsets.ISO_8859_1);
        return text.replace(from, to).getBytes(StandardCharsets.ISO_8859_1);
    }

    Copied make(int number) throws ReflectiveOperationException {
        String name = String.format("Copied%04d", number);
        byte[] file = patched(FILE, "Copied0000", name);
        Class<?> made = defineClass("storm." + name, file, 0, file.length);
        return (Copied) made.getDeclaredConstructor().newInstance();
    }
}
