// SPDX-License-Identifier: Apache-2.0
package steptrace;

import java.io.IOException;
import steptrace.packed.PackedFile;

/** Loads the copy of libtracer.so in the JAR file. */
final class NativeLibrary {
    private static final String NAME = "libtracer.so";
    /** Which class loader's copy of this class has loaded the agent; a JVM can have one agent. */
    private static final String LOADED = "steptrace.agent.loaded";

    private static boolean isLoaded;

    private NativeLibrary() {
    }

    /** Loads it unless it is there. Its file is gone afterwards: the library keeps what it needs of it. */
    static void load() throws IOException {
        if (isLoaded)
            return;
        if (System.getProperty(LOADED) != null)
            throw new IOException("another class loader has loaded the agent");
        if (isThere())
            throw new IOException("this JVM has another copy of the agent already, of -agentpath or steptrace attach");
        PackedFile library = new PackedFile(NAME, "rw-------");
        try {
            System.load(library.path().toString());
        } catch (UnsatisfiedLinkError fault) {
            throw new IOException(fault.getMessage() + hint(fault.getMessage()), fault);
        } finally {
            remove(library);
        }
        isLoaded = true;
        System.setProperty(LOADED, "yes");
    }

    /** Whether a copy of the agent has defined the class of its probes, which a second one cannot. */
    private static boolean isThere() {
        try {
            Class.forName("java.lang.StepTraceProbe", false, null);
            return true;
        } catch (ClassNotFoundException none) {
            return false;
        }
    }

    /** What the loader says of a file system without programs. */
    private static String hint(String reason) {
        return reason.contains("failed to map segment") || reason.contains("Operation not permitted")
                ? " (java.io.tmpdir may be mounted with noexec; -Djava.io.tmpdir=DIRECTORY names another)" : "";
    }

    private static void remove(PackedFile library) {
        try {
            library.close();
        } catch (IOException fault) {
            System.err.println("steptrace: " + reason(fault) + ": not removed");
        }
    }

    /** What an exception means to a reader of stderr. */
    static String reason(Throwable fault) {
        String text = fault.getMessage();
        return text != null && fault.getClass() == IOException.class ? text : fault.toString();
    }
}
