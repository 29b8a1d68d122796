/* SPDX-License-Identifier: Apache-2.0 */
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/** Reads a recording with the JDK's own API, and prints its sums, one per line, fields separated by tabs. */
public class JfrSums {
    static final Map<String, long[]> sums = new TreeMap<>();

    static void add(String kind, String name, long... amounts) {
        String key = kind + "\t" + name.replaceAll("[\\p{Cntrl}\u0085\u2028\u2029]", "?");
        long[] sum = sums.computeIfAbsent(key, k -> new long[amounts.length]);
        for (int i = 0; i < amounts.length; i++)
            sum[i] += amounts[i];
    }

    static String stack(RecordedStackTrace trace) {
        StringBuilder text = new StringBuilder();
        if (trace != null)
            for (RecordedFrame frame : trace.getFrames())
                text.append('|').append(frame.getMethod().getType().getName()).append('.')
                    .append(frame.getMethod().getName()).append(':').append(frame.getLineNumber());
        return text.toString();
    }

    static void take(RecordedEvent event) {
        String kind = event.getEventType().getName();
        add("events", kind, 1);
        switch (kind) {
        case "jdk.ObjectAllocationSample": {
            long weight = event.getLong("weight");
            RecordedThread thread = event.getThread();
            add("class", event.getClass("objectClass").getName(), weight);
            add("site", event.getClass("objectClass").getName() + stack(event.getStackTrace()), weight);
            add("thread", (thread != null ? thread.getJavaName() : ""), weight);
            break;
        }
        case "steptrace.ObjectLifetime":
            add("lifetime", event.getClass("objectClass").getName(), event.getLong("bytes"), event.getLong("objects"),
                event.getLong("deadBytes"), event.getLong("deadObjects"), event.getDuration("lifetimes").toNanos() / 1000);
            break;
        case "jdk.GarbageCollection":
            add("freed", "", event.getLong("freedBytes"), event.getLong("freedObjects"));
            break;
        case "jdk.GCHeapSummary":
            add("heap", event.getString("when"), event.getLong("heapUsed"));
            break;
        case "jdk.MethodTiming":
            add("calls", event.<RecordedMethod>getValue("method").getType().getName() + "."
                    + event.<RecordedMethod>getValue("method").getName(), event.getLong("invocations"),
                event.getLong("exceptions"), event.getDuration("inclusive").toNanos(),
                event.getDuration("exclusive").toNanos());
            break;
        case "jdk.MethodTrace":
            add("traced", event.<RecordedMethod>getValue("method").getType().getName() + "."
                    + event.<RecordedMethod>getValue("method").getName(), 1);
            break;
        case "jdk.ThreadStart":
        case "jdk.ThreadEnd":
            add(kind, event.getThread("thread").getJavaName(), 1);
            break;
        case "jdk.ClassLoad":
            add(kind, event.getClass("loadedClass").getName(), 1);
            break;
        default:
        }
    }

    public static void main(String[] arguments) throws Exception {
        try (RecordingFile file = new RecordingFile(Path.of(arguments[0]))) {
            while (file.hasMoreEvents())
                take(file.readEvent());
        }
        for (Map.Entry<String, long[]> entry : sums.entrySet()) {
            StringBuilder line = new StringBuilder(entry.getKey());
            for (long amount : entry.getValue())
                line.append('\t').append(amount);
            System.out.println(line);
        }
    }
}
