/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles by halving, of the distribution by its continued fraction. */
#include "converter/numbers/beta.h"

#include <math.h>

#define BETA_STEPS 20000
#define BETA_HALVINGS 50
#define BETA_LEAST 1e-300
#define BETA_EQUAL 1e-12

/* Returns the probability that a beta variable is below `x`: a continued fraction (Lentz). */
static double beta_below(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x > 0;
    if (x > (a + 1) / (a + b + 2))
        return 1 - beta_below(b, a, 1 - x);
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a;
    double fraction = 1, c = 1, d = 0;
    for (int i = 0; i <= BETA_STEPS; i++) {
        int half = i / 2;
        double m = half;
        double term = i == 0       ? 1
                      : i % 2 == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                   : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + term * d;
        c = 1 + term / c;
        d = 1 / (fabs(d) > BETA_LEAST ? d : BETA_LEAST);
        c = fabs(c) > BETA_LEAST ? c : BETA_LEAST;
        fraction *= c * d;
        if (fabs(1 - c * d) < BETA_EQUAL)
            break;
    }
    return front * (fraction - 1);
}

double beta_quantile(double a, double b, double probability)
{
    double low = 0, high = 1;
    for (int i = 0; i < BETA_HALVINGS; i++) {
        double middle = (low + high) / 2;
        if (beta_below(a, b, middle) < probability)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}
