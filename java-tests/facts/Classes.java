// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=G1,Z
// FACT: alloc facts/col{003a}on 10
// FACT: alloc facts/back{005c}slash 10
// FACT: alloc facts/line{000a}feed{000d}return 10
// FACT: alloc facts/Größe/名前 10
// FACT: alloc facts/𝒜𝓁𝓁𝑜𝒸 10
// FACT: alloc facts/half{d83d} 10
// FACT: alloc facts/{dc00}low 10
// FACT: alloc facts/sp{_}ace 10
// FACT: alloc [Lfacts/col{003a}on; 1
// FACT: alloc [[Lfacts/𝒜𝓁𝓁𝑜𝒸; 1
// FACT: loads facts/col{003a}on 1
// FACT: loads [Lfacts/col{003a}on; 1
// FACT: loads facts/𝒜𝓁𝓁𝑜𝒸 1
// FACT: loads facts/Twin 7
// FACT: alloc facts/Twin 21
// FACT: loads facts/Veiled* 5
// FACT: alloc facts/Veiled* 15
// FACT: loads facts/Classes$Lazy 1
// FACT: loads facts/Classes$Never 0
// FACT: loads [Lfacts/Classes$Lazy; 1
// FACT: alloc facts/Classes$Lazy 0
package facts;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;

/** Names that need care, one name from several loaders, hidden and array classes. */
public class Classes {
    static class Lazy {}
    static class Never {}

    static volatile Object sink;

    /** Defines what it is given. */
    static final class Loader extends ClassLoader {
        Loader() { super(Classes.class.getClassLoader()); }
        Class<?> define(byte[] bytes) { return defineClass(null, bytes, 0, bytes.length); }
    }

    /** The class file of a class with this name that has a public constructor and no more. */
    static byte[] classFile(String name) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(0xCAFEBABE);
        out.writeShort(0);
        out.writeShort(52);
        out.writeShort(10);              // constants 1 to 9
        utf8(out, name);                 // 1
        constant(out, 7, 1);             // 2 this class
        utf8(out, "java/lang/Object");   // 3
        constant(out, 7, 3);             // 4 super class
        utf8(out, "<init>");             // 5
        utf8(out, "()V");                // 6
        utf8(out, "Code");               // 7
        constant(out, 12, 5, 6);         // 8 name and type
        constant(out, 10, 4, 8);         // 9 Object.<init>
        shorts(out, 0x21, 2, 4, 0, 0);   // public super; no interfaces, no fields
        shorts(out, 1, 1, 5, 6, 1, 7);   // one method, public, with Code
        out.writeInt(17);
        shorts(out, 1, 1);
        out.writeInt(5);
        out.write(new byte[] {0x2A, (byte) 0xB7, 0, 9, (byte) 0xB1});
        shorts(out, 0, 0, 0);
        return bytes.toByteArray();
    }

    private static void utf8(DataOutputStream out, String text) throws IOException {
        out.writeByte(1);
        out.writeUTF(text);
    }

    private static void constant(DataOutputStream out, int tag, int... indexes) throws IOException {
        out.writeByte(tag);
        shorts(out, indexes);
    }

    private static void shorts(DataOutputStream out, int... values) throws IOException {
        for (int value : values)
            out.writeShort(value);
    }

    static void make(Class<?> type, int count) throws ReflectiveOperationException {
        for (int i = 0; i < count; i++)
            sink = type.getDeclaredConstructor().newInstance();
    }

    static void names() throws Exception {
        Loader loader = new Loader();
        String[] names = {
            "col:on", "back\\slash", "line\nfeed\rreturn", "Größe/名前",
            "\ud835\udc9c\ud835\udcc1\ud835\udcc1\ud835\udc5c\ud835\udcb8", "half\ud83d", "\udc00low",
            "sp ace"};
        for (String name : names) {
            Class<?> type = loader.define(classFile("facts/" + name));
            make(type, 10);
            if (name.equals("col:on"))
                sink = Array.newInstance(type, 3);
            if (name.length() == 10 && name.codePointCount(0, 10) == 5)
                sink = Array.newInstance(type, 0, 0);
        }
    }

    static void twins() throws Exception {
        byte[] bytes = classFile("facts/Twin");
        for (int i = 0; i < 7; i++)
            make(new Loader().define(bytes), 3);
    }

    static void veiled() throws Exception {
        byte[] bytes = classFile("facts/Veiled");
        for (int i = 0; i < 5; i++)
            make(MethodHandles.lookup().defineHiddenClass(bytes, false).lookupClass(), 3);
    }

    public static void main(String[] args) throws Exception {
        names();
        twins();
        veiled();
        sink = new Lazy[3];
        System.out.println("done");
    }
}
