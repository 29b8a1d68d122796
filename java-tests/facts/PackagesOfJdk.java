// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;

/** A class of the program's in a package of the JDK's, which a loader of the program's may define anywhere but in java. */
public class PackagesOfJdk {
    static final String NAME = "com.sun.net.httpserver.Hunter2Account";
    static final String OTHER = "facts/PlaceholderOfTheSameLength_ForH";

    static class Definer extends ClassLoader {
        Class<?> define() throws IOException {
            try (InputStream in = PackagesOfJdk.class.getResourceAsStream("/" + OTHER + ".class")) {
                String code = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
                byte[] bytes = code.replace(OTHER, NAME.replace('.', '/')).getBytes(StandardCharsets.ISO_8859_1);
                return defineClass(NAME, bytes, 0, bytes.length);
            }
        }
    }

    static Object kept;

    public static void main(String[] args) throws Exception {
        Class<?> account = new Definer().define();
        Constructor<?> make = account.getDeclaredConstructor();
        Method other = account.getDeclaredMethod("hunter2other", account);
        make.setAccessible(true);
        other.setAccessible(true);
        Object made = make.newInstance();
        kept = new Object[] {made, Array.newInstance(account, 3), other.invoke(made, made)};
    }
}

/** Its name is as long as the one that it gets. */
class PlaceholderOfTheSameLength_ForH {
    Object hunter2field;

    public PlaceholderOfTheSameLength_ForH() {
    }

    PlaceholderOfTheSameLength_ForH hunter2other(PlaceholderOfTheSameLength_ForH other) {
        hunter2field = other;
        return new PlaceholderOfTheSameLength_ForH();
    }
}
