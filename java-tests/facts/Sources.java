// SPDX-License-Identifier: Apache-2.0
package facts;

/** Prints where it allocates, as the JVM names the places in stack traces. */
public class Sources {
    static class Marker {
        Marker(Throwable here) {
            StackTraceElement[] frames = here.getStackTrace();
            StringBuilder line = new StringBuilder("at");
            for (StackTraceElement frame : frames)
                line.append(' ').append(frame);
            System.out.println(line);
        }
    }

    static volatile Object sink;

    /** The test gives the class of this one a source map. */
    static class Mapped {
        static void make() {
            sink = new Marker(new Throwable());
            sink = new Marker(new Throwable());
            sink = new Marker(new Throwable());
        }
    }

    interface Maker {
        void make();
    }

    static void nested() {
        Maker maker = new Maker() {
            public void make() {
                sink = new Marker(new Throwable());
            }
        };
        maker.make();
    }

    public static void main(String[] args) {
        sink = new Marker(new Throwable());
        nested();
        Mapped.make();
    }
}
