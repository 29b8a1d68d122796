// SPDX-License-Identifier: Apache-2.0
import java.lang.reflect.Method;
import java.util.Arrays;

/**
 * {@code Repeat N CLASS METHOD ARGUMENT...}: calls a program's public static method N times in one JVM, so that the JVM's
 * start weighs little. The method takes the arguments as an array, as {@code main} does, or one by one. {@code main}s that
 * end the JVM run once.
 */
public class Repeat {
    static Object[] passed(Method method, String[] words) {
        Class<?>[] types = method.getParameterTypes();
        if (types.length == 1 && types[0] == String[].class)
            return new Object[] {words.clone()};
        boolean fits = types.length == words.length && Arrays.stream(types).allMatch(type -> type == String.class);
        return fits ? words : null;
    }

    public static void main(String[] args) throws ReflectiveOperationException {
        int times = Integer.parseInt(args[0]);
        String[] words = Arrays.copyOfRange(args, 3, args.length);
        for (Method method : Class.forName(args[1]).getMethods()) {
            if (!method.getName().equals(args[2]) || passed(method, words) == null)
                continue;
            for (int i = 0; i < times; i++)
                method.invoke(null, passed(method, words));
            return;
        }
        throw new NoSuchMethodException(args[1] + "." + args[2]);
    }
}
