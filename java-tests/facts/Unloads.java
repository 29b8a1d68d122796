// SPDX-License-Identifier: Apache-2.0
package facts;

/** Classes are made and unloaded while the harness begins and ends traces. */
public class Unloads {
    private static final int CLASSES = 3000;

    private static void make(String name) throws Exception {
        byte[] bytes = Classes.classFile(name);
        for (int i = 0; i < CLASSES; i++)
            new Classes.Loader().define(bytes);
    }

    public static void main(String[] args) throws Exception {
        for (String name : new String[] {"First", "Second", "Third"}) {
            Support.collect();
            Support.meet("unloaded");
            make("facts/" + name);
            Support.meet("made");
        }
    }
}
