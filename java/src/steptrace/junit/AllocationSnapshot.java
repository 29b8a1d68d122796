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
 * A test that allocates what its line in a file says, which is committed with the source: {@code allocations.snap}, or
 * {@code -Dsteptrace.snapshot=FILE}. With {@code -Dsteptrace.update=true} the line is written.
 * On a class it holds for each of its tests that has none of its own.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@ExtendWith(LimitsExtension.class)
public @interface AllocationSnapshot {
    /** How many objects more or fewer pass. */
    long objects() default 0;

    /** How many bytes more or fewer pass. */
    long bytes() default 0;

    /** Only what is allocated in or below methods that match, as with {@code steptrace --site}; all if empty. */
    String site() default "";

    /** How often the method is called before it is measured. */
    int warmups() default 0;

    /** Whether all other threads count, too, from the method's entry to its exit. */
    boolean allThreads() default false;
}
