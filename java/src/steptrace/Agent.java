// SPDX-License-Identifier: Apache-2.0
package steptrace;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * Loads the StepTrace agent, which lies in this class's JAR file, into the JVM that runs it:
 * {@code -javaagent:steptrace.jar=OPTIONS}, or {@link #command} from a program. The options are those
 * of {@code -agentpath:libtracer.so=OPTIONS}.
 */
public final class Agent {
    private static final Pattern REQUIRED = Pattern.compile("(^|,)required=yes(,|$)");

    private Agent() {
    }

    /** For {@code -javaagent}. A program that cannot be traced runs untraced, unless required=yes. */
    public static void premain(String options) {
        String text = options == null ? "" : options;
        try {
            command(text);
        } catch (Throwable fault) {
            boolean required = REQUIRED.matcher(text).find();
            System.err.println("steptrace: " + NativeLibrary.reason(fault)
                    + (required ? "; required=yes: the program does not run untraced"
                            : "; the program runs untraced"));
            if (required)
                Runtime.getRuntime().halt(1);
        }
    }

    /** For tools that load JAR files as agents into a running JVM. */
    public static void agentmain(String options) throws IOException {
        command(options == null ? "" : options);
    }

    /**
     * Runs a command of the agent: options begin a trace; {@code stop}, {@code flush}, {@code snapshot} and
     * {@code status} are for the trace that is being recorded. When {@code stop} returns, the trace is whole.
     *
     * @throws IOException if the agent cannot be loaded or refuses; what it says is on stderr
     */
    public static synchronized void command(String options) throws IOException {
        NativeLibrary.load();
        int code = run(options.getBytes(nameCharset()));
        if (code != 0)
            throw new IOException("the agent refuses \"" + options + "\": the reason is above");
    }

    /** The charset of the platform, which names of files have and {@link #command} takes. */
    public static Charset nameCharset() {
        String name = System.getProperty("sun.jnu.encoding");
        return name != null && Charset.isSupported(name) ? Charset.forName(name) : StandardCharsets.UTF_8;
    }

    /** libtracer.so registers it when it is loaded: agent/session/entry_points.c. */
    private static native int run(byte[] options);
}
