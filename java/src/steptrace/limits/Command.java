// SPDX-License-Identifier: Apache-2.0
package steptrace.limits;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import steptrace.packed.PackedFile;

/** The command steptrace, which reads the traces: the JAR file's, or the one that the user names. */
final class Command {
    private static final String NAME = "steptrace";
    private static final String PROPERTY = "steptrace.command";
    private static final String NOT_MEASURED = "no phase matches";

    private static String program;

    private Command() {
    }

    /** Unpacks it the first time. Its file is gone afterwards: it runs by an open descriptor. */
    static synchronized void prepare() throws IOException {
        if (program == null)
            program = System.getProperty(PROPERTY);
        if (program != null)
            return;
        try (PackedFile file = new PackedFile(NAME, "rwx------")) {
            program = file.descriptor().toString();
        } catch (IOException fault) {
            throw new IOException(fault.getMessage() + "; -D" + PROPERTY + "=FILE names another command", fault);
        }
    }

    /**
     * Returns what it prints. Anything but success is an exception: a test is never judged by half a trace.
     *
     * @param told gets what it says on stderr
     */
    static String run(Consumer<String> told, String... words) throws IOException {
        List<String> command = new ArrayList<>(List.of(program));
        command.addAll(List.of(words));
        Path errors = Files.createTempFile("steptrace-", ".err");
        try {
            Process process = start(command, errors);
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int code = process.waitFor();
            String said = Files.readString(errors, StandardCharsets.ISO_8859_1);
            if (code != 0 || said.contains(NOT_MEASURED))
                throw new IOException(NAME + " " + String.join(" ", words) + " ends with " + code + ": " + output + said);
            told.accept(said);
            return output;
        } catch (InterruptedException fault) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", fault);
        } finally {
            Files.deleteIfExists(errors);
        }
    }

    private static Process start(List<String> command, Path errors) throws IOException {
        try {
            return new ProcessBuilder(command).redirectError(errors.toFile()).start();
        } catch (IOException fault) {
            throw new IOException("the command that reads traces does not start (java.io.tmpdir may be mounted with noexec; -D"
                    + PROPERTY + "=FILE names another command): " + fault.getMessage(), fault);
        }
    }
}
