/* What the files of layer 0's fit share (train_smooth*.c); see train_smooth.c for the mathematics.
 *
 * A spline's row has four numbers different from zero in terms of values and curvatures at its knots (layer_spline.h).
 * Sums over rows are made in these extended columns, [values | curvatures | missing] per term, and brought to the
 * centred columns of X by D_i = [I - mu 1' | F'].
 */
#ifndef PN_TRAIN_SMOOTH_PARTS_H
#define PN_TRAIN_SMOOTH_PARTS_H

#include "train_smooth.h"

#define PN_RHO_RANGE 18.0 /* log strengths stay within +- of that of their scale */

/* What one value of a feature puts into the extended columns: `width` numbers of its cell. Cells are the intervals
 * between knots or the levels, then the missing value, then nothing. */
typedef struct {
  double x[4];
  uint32_t cell;
} pn_place;

/* A block of a penalty's matrix, at consecutive columns. */
typedef struct {
  size_t term, penalty, at, n;
  const double *s;    /* [n x n] */
  const double *line; /* [n] with s = line line', or NULL */
} pn_penalty_part;

/* A term in the design. */
typedef struct {
  size_t columns, extended; /* how many there are of both */
  size_t at, extended_at;   /* where they begin; the intercept is column 0 of both */
  size_t cells, width;      /* 4 numbers for a spline, 1 for levels */
  const pn_place *place;    /* [n_values]; NULL for a term without columns */
  const double *project;    /* D_i [columns x extended] */
  const double *transposed; /* D_i' */
  const double *mean;       /* mu [knots] */
} pn_design_term;

struct pn_smooth_fitter {
  pn_smooth *smooth;
  const pn_config *config;
  const pn_data *data;
  size_t blocks; /* outputs, each with a Gram matrix of its own */
  size_t P, E, most_values, most_knots;
  pn_design_term *term; /* [terms] */
  pn_smooth_penalty *penalty;
  size_t penalties;
  pn_penalty_part *parts;
  size_t n_parts;
  double *gram, *rhs, *factor, *beta; /* [blocks x ..] */
  double *before;                     /* [blocks x P] coefficients before a step */
  double *best_beta, *best_rho;       /* where the criterion was lowest */
  double *ridge;                      /* [P x P] what is always added to the Gram matrix, upper triangle */
  double *phi, *square, *rows;
  double *ext, *ext_rhs, *inverse, *work, *temporary;
  double *tile;           /* products of the cells of two terms */
  double *row_x;          /* [block x 4] weighted numbers of a term's rows */
  uint32_t *used;         /* [block] rows that count */
  uint32_t *row, *row_at; /* [block] the same in order of a term's cells, and these */
  uint32_t *cell_begin;   /* [most cells + 1] */
  size_t row_block;
  const double *kept; /* strengths given from outside, for good */
  double *lambda, *trial, *gradient, *hessian, *step;
  double *half;   /* [n_parts x most part] S beta */
  double *w, *wz; /* [n] */
  double *gram_w; /* [blocks x n] weights of the Gram matrices */
  double *table, *scratch;
  int gram_ready; /* a gaussian's Gram matrices do not change */
  size_t iterations;
  int (*poll)(void *context);
  void *context;
  int stopped;
};

/* Asks whether the fit shall end. */
static inline int pn_smooth_stops(pn_smooth_fitter *fit) {
  if (!fit->stopped && fit->poll != NULL) fit->stopped = fit->poll(fit->context);
  return fit->stopped;
}

/* The extended column, counted from the term's first, of number k of a cell; -1: none. */
long pn_design_column(const pn_smooth_term *term, size_t cell, size_t k);

static inline double pn_sum_product(const double *a, const double *b, size_t n) {
  double sum = 0;
  for (size_t k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

/* ---- train_smooth_sums.c ---- */

/* Gram matrix and right-hand side of output q at layer 0's predictions eta, those of fit->beta, beside what net (or
 * NULL) says. Unless `fresh`, the Gram matrix stays while the working weights hardly change; the right-hand side is
 * always exact. */
void pn_smooth_sum(pn_smooth_fitter *fit, const double *net, const double *eta, size_t q, int fresh);

/* Twice the negative log likelihood, without its constant. shifted: [2 x outputs]. */
double pn_smooth_deviance(const pn_smooth_fitter *fit, const double *net, const double *eta, double *shifted);

/* ---- train_smooth_strengths.c ---- */

/* Natural units of the penalties, the ridge, and the least strengths, from the first sums over rows. */
void pn_smooth_scales(pn_smooth_fitter *fit);

/* lambda of the log strengths rho. */
void pn_smooth_lambda(const pn_smooth_fitter *fit, const double *rho, int straight, double *lambda);

/* Coefficients of all outputs for given strengths; returns twice the criterion. */
double pn_smooth_solve(pn_smooth_fitter *fit, const double *lambda);

/* One Newton step of the log strengths, halved until the criterion falls. Returns the largest change, 0 at the end. */
double pn_smooth_newton(pn_smooth_fitter *fit, const pn_smooth_options *options, double *criterion);

/* Covariance [penalties x penalties] of the log strengths, from the curvature of the criterion; 0 if they are given. */
void pn_smooth_uncertainty(const pn_smooth_fitter *fit, double *covariance);

/* V of block q to fit->inverse, S beta of all parts to fit->half. */
void pn_smooth_prepare(const pn_smooth_fitter *fit, size_t q);

/* d[c x penalties]: derivatives of coefficients first .. first + c - 1 by the log strengths, - lambda_j V S_j beta, of
 * the block that is prepared. */
void pn_smooth_sensitivity(const pn_smooth_fitter *fit, size_t first, size_t c, double *d);

/* sum of lambda beta'S beta over outputs and penalties. */
double pn_smooth_penalty_value(const pn_smooth_fitter *fit, const double *beta, const double *lambda);

#endif
