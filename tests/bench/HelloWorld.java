// SPDX-License-Identifier: Apache-2.0
/** The least that a JVM can be asked for. */
public class HelloWorld {
    public static void main(String[] args) {
        System.out.println("Hello, world");
    }
}
