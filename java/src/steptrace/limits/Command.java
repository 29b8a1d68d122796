// SPDX-License-Identifier: Apache-2.0
package steptrace.limits;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command steptrace, which reads the traces. */
final class Command {
    private static final String PROPERTY = "steptrace.command";
    private static final String NOT_MEASURED = "no phase matches";

    private Command() {
    }

    /** Returns what it prints. Anything but success is an exception: a test is never judged by half a trace. */
    static String run(String... words) throws IOException {
        String program = System.getProperty(PROPERTY, "steptrace");
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
                throw new IOException(String.join(" ", command) + " ends with " + code + ": " + output + said);
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
            throw new IOException("limits of tests need the command steptrace on the PATH, or -D" + PROPERTY
                    + "=FILE: " + fault.getMessage(), fault);
        }
    }
}
