// SPDX-License-Identifier: Apache-2.0
// Says what becomes of the files that places.py has prepared: "append FILE" or "of FILE", a pair of arguments each.
package steptrace.junit;

import java.io.IOException;
import java.nio.file.Path;

final class Places {
    private Places() {
    }

    private static String answer(String what, Path file) {
        try {
            if (what.equals("of"))
                return Place.of(file).toString();
            Place.append(file, "more");
            return "appended";
        } catch (IOException fault) {
            return fault.getMessage();
        }
    }

    public static void main(String[] arguments) {
        for (int i = 0; i < arguments.length; i += 2)
            System.out.println(answer(arguments[i], Path.of(arguments[i + 1])));
    }
}
