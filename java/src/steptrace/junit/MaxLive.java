// SPDX-License-Identifier: Apache-2.0
package steptrace.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Limits what a test leaves behind: of the objects that it allocated, those that live when its method
 * has returned and the heap has been collected. Fields of the test's object are among what keeps them
 * alive.
 * On a class it holds for each of its tests that has none of its own.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@ExtendWith(LimitsExtension.class)
public @interface MaxLive {
    /** The most bytes that pass. */
    long bytes() default Long.MAX_VALUE;

    /** The most objects that pass. */
    long objects() default Long.MAX_VALUE;

    /** Only what is allocated in or below methods that match, as with {@code steptrace --site}; all if empty. */
    String site() default "";

    /** How often the method is called before it is measured. */
    int warmups() default 0;

    /** Whether all other threads count, too, from the method's entry to its exit. */
    boolean allThreads() default false;
}
