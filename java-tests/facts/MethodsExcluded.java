// SPDX-License-Identifier: Apache-2.0
// TEST: events=method+class+thread options=include=facts/*+java/util/ArrayList,exclude=facts/*$Left*
// FACT: calls facts/MethodsExcluded one 100
// FACT: calls facts/MethodsExcluded$LeftOut * 0
// FACT: calls facts/MethodsExcluded$Taken <init> 10
// FACT: calls java/util/ArrayList add >=10
// FACT: calls java/lang/Object * 0
// FACT: alloc * 0
package facts;

import java.util.ArrayList;
import java.util.List;

/** include= and exclude= choose the classes whose methods are traced. */
public class MethodsExcluded {
    static class LeftOut { int a = one(3); }
    static class Taken {}

    static int one(int x) { return x + 1; }

    public static void main(String[] args) {
        List<Object> list = new ArrayList<>();
        for (int i = 0; i < 100; i++)
            new LeftOut();
        for (int i = 0; i < 10; i++)
            list.add(new Taken());
        System.out.println(list.size());
    }
}
