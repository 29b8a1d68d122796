// SPDX-License-Identifier: Apache-2.0
package steptrace.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * How often the method of a test with limits is called before it is measured: the same as the element {@code warmups} of
 * each of them; the larger one counts. On a class it holds for each of its tests that has none of its own.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
public @interface Warmup {
    /** How often. */
    int value() default 1;
}
