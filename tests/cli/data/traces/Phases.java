// SPDX-License-Identifier: Apache-2.0
// The program of phases-17.step, phases-17-more.step and phases-25.step (gate.sh), with the classes of steptrace.jar:
// java -agentpath:libtracer.so=file=phases-17.step,stack=8,existing=no,events=alloc,phase=Phases.checkout+Phases.inner+Phases.lambda+Phases.nothing Phases 3
// of JDK 17 and 25; ...-more.step with 4 in place of 3, and the methods alone.
import steptrace.Phase;

public class Phases {
    static final String[] NAMES = {"", "#comment", " leading", "a [17]: 1 object, 2 bytes: 1 b", "two\nlines", "\033[31mred",
        "::error::x", "##[add-path]x", "<b>&\"'</code></pre>", "@all [x](javascript:1) `|", "\ud800", "fran\u00e7ais \u2028 \u202e"};
    static volatile Object sink;

    static void checkout(int n) {
        for (int i = 0; i < n; i++)
            sink = new Object();
        sink = new int[2][3];
        inner();
    }

    static void inner() {
        sink = new byte[100];
    }

    static void lambda() {
        int n = (int) System.nanoTime();
        Runnable run = () -> sink = n;
        sink = run;
    }

    static void nothing() {
    }

    /** A phase of the program, and one in itself: each counts once. */
    static void nested() {
        Phase.beginProgram("whole");
        Phase.begin("twice");
        Phase.begin("twice");
        Phase.begin("whole");
        sink = new Object();
        Phase.end();
        Phase.end();
        sink = new Object();
        Phase.end();
        sink = new Object();
        Phase.endProgram("whole");
    }

    public static void main(String[] arguments) {
        int n = Integer.parseInt(arguments[0]);
        for (int i = 0; i < 3; i++)
            checkout(n);
        lambda();
        nothing();
        inner();
        if (n != 3)
            return;
        nested();
        for (String name : NAMES) {
            Phase.begin(name);
            sink = new Object();
            Phase.end();
        }
    }
}
