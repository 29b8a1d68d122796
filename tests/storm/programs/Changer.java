// SPDX-License-Identifier: Apache-2.0
// An instrumentation agent: redefines Swapped.Target, and retransforms all classes that it may.
package storm;

import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

public class Changer {
    private static Instrumentation instrumentation;

    public static void premain(String args, Instrumentation given) {
        instrumentation = given;
        given.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String name, Class<?> of,
                                    ProtectionDomain domain, byte[] file) {
                return name != null && name.startsWith("storm/") ? file.clone() : null;
            }
        }, true);
    }

    static void change(int round) throws Exception {
        instrumentation.redefineClasses(
            new ClassDefinition(Swapped.Target.class, Swapped.file(round)));
        instrumentation.retransformClasses(Mix.class, Swapped.class, java.util.ArrayList.class,
                                           Thread.class, Swapped.Target.class);
        Mix.work(round, 20);
    }
}
