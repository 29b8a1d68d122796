// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=G1
// FACT: alloc facts/ForkedChildren$Before 1000
// FACT: alloc facts/ForkedChildren$After 1000
package facts;

import java.io.IOException;

/** Children made by vfork, of which none may touch the trace. */
public class ForkedChildren {
    static class Before {}
    static class After {}

    static volatile Object sink;

    static String run(String mechanism, String... command) throws IOException, InterruptedException {
        System.setProperty("jdk.lang.Process.launchMechanism", mechanism);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        return output.strip() + " " + process.waitFor();
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 1000; i++)
            sink = new Before();
        String mechanism = System.getProperty("facts.mechanism", "VFORK");
        for (int i = 0; i < 10; i++)
            System.out.println(run(mechanism, "/bin/echo", "child", "" + i));
        System.out.println(run(mechanism, "/bin/sh", "-c", "(sleep 0.1; exit 3) & wait $!; exit 4"));
        for (int i = 0; i < 1000; i++)
            sink = new After();
        System.out.println("done");
    }
}
