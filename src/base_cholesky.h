/* Symmetric positive definite systems of moderate size, in double precision and in a fixed order of operations: members
 * of an ensemble solve them on threads, where BLAS and LAPACK have no place (bits, and an error handler that jumps).
 *
 * Matrices are row-major [n x n]; of symmetric ones the upper triangle is read.
 */
#ifndef PN_BASE_CHOLESKY_H
#define PN_BASE_CHOLESKY_H

#include <stddef.h>

/* a = U'U: the upper triangle of a becomes U. A pivot that is not positive beyond rounding is replaced by a huge one,
 * so that the direction it stands for gets a coefficient of zero; their number is returned. */
size_t pn_cholesky(double *a, size_t n);

/* log |U'U| */
double pn_cholesky_logdet(const double *u, size_t n);

/* x = (U'U)^-1 x */
void pn_cholesky_solve(const double *u, size_t n, double *x);

/* inverse = (U'U)^-1, both triangles; work [n x n] */
void pn_cholesky_inverse(const double *u, size_t n, double *inverse, double *work);

#endif
