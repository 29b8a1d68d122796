// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

import java.util.Scanner;

/** For each line of its input it makes objects, collects, and answers; others make objects all the while. */
public class Beats {
    static class Beaten { int a; }
    static class Other {}

    static volatile Object sink;

    public static void main(String[] args) {
        Thread other = new Thread(() -> {
            while (true)
                sink = new Other();
        });
        other.setDaemon(true);
        other.start();
        Scanner lines = new Scanner(System.in);
        System.out.println("beating");
        for (int beat = 1; lines.hasNextLine(); beat++) {
            lines.nextLine();
            for (int i = 0; i < 10000; i++)
                sink = new Beaten();
            System.gc();
            System.out.println("beat " + beat);
        }
    }
}
