// SPDX-License-Identifier: Apache-2.0
package steptrace.junit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a reviewer sees a failed limit under GitHub Actions: an annotation of the line, and a row of the job's
 * summary. Elsewhere nothing.
 */
final class Reviewer {
    private static final List<String> SOURCES = List.of("src/test/java", "src/test/kotlin", "test", "src", "");

    private Reviewer() {
    }

    static void tell(Subject subject, String fault) throws IOException {
        if (!"true".equals(System.getenv("GITHUB_ACTIONS")))
            return;
        /* a command begins a line, and tests may have begun one */
        System.out.println("\n::error " + place(subject, fault) + "title=" + property(subject.name()) + "::" + message(fault));
        String summary = System.getenv("GITHUB_STEP_SUMMARY");
        if (summary != null)
            Place.append(Path.of(summary), row(fault));
    }

    /** "file=src/test/java/a/Test.java,line=7,", of the test's own frame; empty if the file is not found. */
    private static String place(Subject subject, String fault) {
        String type = subject.method().getDeclaringClass().getName();
        Matcher frame = Pattern.compile(Pattern.quote(subject.frame()) + "\\(([^:()]+):(\\d+)\\)").matcher(fault);
        if (!frame.find())
            return "";
        String folder = type.contains(".") ? type.substring(0, type.lastIndexOf('.')).replace('.', '/') + "/" : "";
        for (String root : SOURCES) {
            Path path = Path.of(root, folder + frame.group(1));
            if (Files.isRegularFile(path))
                return "file=" + property(ofRepository(path).toString()) + ",line=" + frame.group(2) + ",";
        }
        return "";
    }

    /** GitHub's paths begin at the repository; a build of many modules runs the tests of each in its directory. */
    private static Path ofRepository(Path path) {
        String variable = System.getenv("GITHUB_WORKSPACE");
        if (variable == null || variable.isEmpty())
            return path;
        Path workspace = Path.of(variable).toAbsolutePath().normalize(), whole = path.toAbsolutePath().normalize();
        return whole.startsWith(workspace) ? workspace.relativize(whole) : path;
    }

    private static String message(String text) {
        return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A");
    }

    private static String property(String text) {
        return message(text).replace(":", "%3A").replace(",", "%2C");
    }

    private static String row(String fault) {
        String text = fault.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
        return "<pre>" + text + "</pre>\n\n";
    }
}
