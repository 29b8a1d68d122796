// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=G1
// FACT: alloc facts/Clones$Plain 10001
// FACT: alloc facts/Clones$Lower 10001
// FACT: alloc facts/Clones$Made 20001
// FACT: alloc facts/Clones$Same 1
// FACT: alloc facts/Clones$Bare 10001
// FACT: alloc facts/Clones$Copied 10001
// FACT: alloc facts/Clones$Wrapped 1
// FACT: between Section alloc [I 10000
// FACT: between Section alloc java/math/BigInteger 10000
package facts;

import java.math.BigInteger;

/** clone() in all its ways: what it gives is one object, however many methods of that name ran. */
public class Clones {
    static class Plain implements Cloneable {
        @Override public Object clone() throws CloneNotSupportedException { return super.clone(); }
    }
    static class Lower extends Plain {
        @Override public Object clone() throws CloneNotSupportedException { return super.clone(); }
    }
    static class Made implements Cloneable {
        Object again() { return clone(); }
        @Override public Object clone() { return new Made(); }
    }
    static class Same implements Cloneable {
        @Override public Object clone() { return this; }
    }
    /** Has no clone() of its own. */
    static class Bare implements Cloneable {}
    static class Copied extends Bare { Object copy() throws CloneNotSupportedException { return clone(); } }
    /** Gives an object of a class that has Object's clone(), made by a constructor. */
    static class Wrapped implements Cloneable {
        @Override public Object clone() { return new Bare(); }
    }
    static class Section {}

    static volatile Object sink;

    static void all(Plain plain, Plain lower, Made made, Same same, Copied copied, Wrapped wrapped)
            throws CloneNotSupportedException {
        sink = plain.clone();
        sink = lower.clone();
        sink = made.clone();
        sink = made.again();
        sink = same.clone();
        sink = copied.copy();
        sink = wrapped.clone();
    }

    public static void main(String[] args) throws CloneNotSupportedException {
        Plain plain = new Plain(), lower = new Lower();
        Made made = new Made();
        Same same = new Same();
        Copied copied = new Copied();
        Wrapped wrapped = new Wrapped();
        sink = new Bare();
        for (int i = 0; i < 10000; i++)
            all(plain, lower, made, same, copied, wrapped);
        BigInteger x = BigInteger.ONE.shiftLeft(640).subtract(BigInteger.ONE), y = x.subtract(BigInteger.TWO);
        sink = x.multiply(y);
        sink = new Section();
        for (int i = 0; i < 10000; i++)
            sink = x.multiply(y);
        sink = new Section();
        System.out.println("done");
    }
}
