// SPDX-License-Identifier: Apache-2.0
// The program of names-17.step and missed-17.step (gate_incomplete.sh): phases whose names look like others, in a call from before the
// trace. With the classes of steptrace.jar, on JDK 17: java -XX:+UseSerialGC -agentpath:libtracer.so=file=names-17.step,stack=64,
// existing=no,start=Names.run,phase=Names.name,events=alloc+free Names; missed-17.step with events=alloc,missed=no.
import steptrace.Phase;

public class Names {
    static volatile Object sink;
    static void name(String name, int size) {
        Phase.begin(name);
        sink = new byte[size];
        Phase.end();
    }
    static void run() {
        String[] names = {"a\n", "a\\x0a", "a\\\\x0a", "#b", "\\x23b", "(no name)", "", "\\x28no name)", "c\\xg", "\\"};
        for (int i = 0; i < names.length; i++)
            name(names[i], 100 + 8 * i);
        Phase.beginProgram("program");
        sink = new int[10];
        Phase.endProgram("program");
    }
    public static void main(String[] a) {
        run();
        System.gc();
    }
}
