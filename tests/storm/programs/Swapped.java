// SPDX-License-Identifier: Apache-2.0
// A class that is changed while it runs: by an instrumentation agent (Changer) or a debugger (Debugger).
//   Swapped ROUNDS SELF
// Each round says what the class says; SELF "yes" lets Changer change it after each round.
package storm;

public class Swapped {
    static class Target {
        static volatile Object sink;

        static String word() {
            sink = new Object[] {new int[2]};
            return "word-0";
        }

        final String mine = word();
    }

    /** Where the debugger stops. */
    static void turn(int round) {
        Target.sink = round;
    }

    public static void main(String[] args) throws Exception {
        for (int round = 0; round < Integer.parseInt(args[0]); round++) {
            long same = 0;
            String word = Target.word();
            for (int i = 0; i < 3000; i++)
                same += new Target().mine.equals(word) ? 1 : 0;
            System.out.println(round + " " + word + " " + same);
            turn(round);
            if (args[1].equals("yes"))
                Changer.change(round + 1);
        }
    }

    /** Target's class file, in which word() says something else. */
    static byte[] file(int round) throws java.io.IOException {
        try (var in = Swapped.class.getResourceAsStream("Swapped$Target.class")) {
            return Copies.patched(in.readAllBytes(), "word-0", "word-" + round % 10);
        }
    }
}
