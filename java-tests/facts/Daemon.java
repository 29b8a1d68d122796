// SPDX-License-Identifier: Apache-2.0
package facts;

// A daemon's start: native code closes every descriptor but the first three and opens files of the
// program's own, so that they have whatever numbers were in use; then the program works on.
// TEST: collectors=none
public class Daemon {
    static Object[] kept = new Object[1000];

    static class Made {
        long one, two;
    }

    static native boolean closeAndOpen(String prefix, int count);

    static native boolean areUntouched(String prefix, int count);

    public static void main(String[] args) {
        System.load(System.getProperty("facts.library"));
        int count = Integer.parseInt(args[1]);
        for (int round = 0; round < 3; round++) {
            if (!closeAndOpen(args[0] + round, count))
                System.out.println("files cannot be made");
            for (int i = 0; i < 400000; i++)
                kept[i % kept.length] = new Made();
        }
        for (int round = 0; round < 3; round++)
            System.out.println(areUntouched(args[0] + round, count));
    }
}
