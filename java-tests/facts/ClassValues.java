// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

import java.util.ArrayList;
import java.util.List;

/** Objects that only fields of java.lang.Class objects hold; see tests/jvm/class_fields.py. */
public class ClassValues {
    static class Held {
        final byte[] bytes = new byte[100];
    }

    static class HeldByPrimitive {
    }

    enum Colour { RED, GREEN }

    static class Key {
    }

    static final ClassValue<List<Object>> VALUES = new ClassValue<>() {
        @Override
        protected List<Object> computeValue(Class<?> of) {
            return new ArrayList<>();
        }
    };

    public static void main(String[] args) {
        for (int i = 0; i < 200; i++) {
            VALUES.get(Key.class).add(new Held());
            VALUES.get(long.class).add(new HeldByPrimitive());
        }
        Colour.valueOf("RED"); // makes Class.enumConstantDirectory
        System.gc();
        System.out.println(VALUES.get(Key.class).size() == 200);
    }
}
