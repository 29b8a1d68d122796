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
 * A test that may be repeated for ever: what its calls leave behind does not grow with their number. The method is called
 * 16 times, then 32, 64, ... times, and after each round the heap is collected. The test passes when no more bytes of a round's
 * objects live than of those of the round before, which had half of the calls; so a cache may fill up. It fails if the last
 * round still leaves more.
 * On a class it holds for each of its tests that has none of its own.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@ExtendWith(LimitsExtension.class)
public @interface NoGrowth {
    /** How many calls the last round has, or as near below as doubling comes. */
    int calls() default 512;

    /** Only what is allocated in or below methods that match, as with {@code steptrace --site}; all if empty. */
    String site() default "";

    /** How often the method is called before. */
    int warmups() default 0;

    /** Whether all other threads count, too, from the method's entry to its exit. */
    boolean allThreads() default false;
}
