/* SEXP to typed structs, errors and cleanup; see r_parse.h. Runs on the main thread only. */
#include "r_parse.h"

#include <R_ext/RS.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <limits.h>
#include <string.h>

#include "base_size.h"

static void free_arena(void *arena) {
  pn_arena_free(arena);
}

SEXP pn_r_guard(SEXP (*body)(void *call), void *call, pn_arena *arena) {
  pn_arena_init(arena);
  return R_ExecWithCleanup(body, call, free_arena, arena);
}

void pn_r_abort(const char *kind, const char *format, ...) {
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  SEXP space = PROTECT(R_FindNamespace(PROTECT(Rf_mkString("protonam"))));
  SEXP call = PROTECT(Rf_lang3(Rf_install("engine_abort"), PROTECT(Rf_mkString(message)), PROTECT(Rf_mkString(kind))));
  Rf_eval(call, space);
  UNPROTECT(5);
  Rf_error("%s", message); /* not reached: engine_abort() raises */
}

void pn_r_check(pn_status status) {
  if (status == PN_NO_MEMORY) pn_r_abort("memory", "The engine could not get the memory it needs.");
}

SEXP pn_r_element(SEXP list, const char *name) {
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  if (TYPEOF(list) != VECSXP || TYPEOF(names) != STRSXP) return R_NilValue;
  for (R_xlen_t i = 0; i < Rf_xlength(list); ++i) {
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
  }
  return R_NilValue;
}

double pn_r_number(SEXP list, const char *name) {
  SEXP x = pn_r_element(list, name);
  if ((!Rf_isReal(x) && !Rf_isInteger(x) && !Rf_isLogical(x)) || Rf_xlength(x) != 1) {
    pn_r_abort("engine", "The engine needs one number `%s`.", name);
  }
  return Rf_asReal(x);
}

size_t pn_r_size(SEXP list, const char *name) {
  const double x = pn_r_number(list, name);
  if (!(x >= 0 && x < 9007199254740992.0)) pn_r_abort("engine", "The engine needs a count `%s`, not %g.", name, x);
  return (size_t)x;
}

int pn_r_flag(SEXP list, const char *name) {
  return pn_r_number(list, name) != 0;
}

static int one_of(SEXP list, const char *name, const char *const *choices, int n) {
  SEXP x = pn_r_element(list, name);
  if (Rf_isString(x) && Rf_xlength(x) == 1) {
    for (int i = 0; i < n; ++i) {
      if (strcmp(CHAR(STRING_ELT(x, 0)), choices[i]) == 0) return i;
    }
  }
  pn_r_abort("engine", "The engine does not know this `%s`.", name);
  return 0;
}

/* A size of the model: counts that R's integers can hold, since some become dimensions of arrays. */
static size_t model_size(SEXP from, const char *name, size_t least) {
  const size_t x = pn_r_size(from, name);
  if (x < least) pn_r_abort("engine", "The engine needs `%s` to be at least %d.", name, (int)least);
  if (x > INT_MAX) pn_r_abort("engine", "The engine needs `%s` to be below 2^31, not %.0f.", name, (double)x);
  return x;
}

/* Which columns of the data the prototype layers have: all, unless `net` says otherwise. */
static void parse_net(pn_config *config, SEXP net, SEXP from, pn_arena *arena) {
  uint32_t *columns = pn_arena_alloc(arena, config->features, sizeof(uint32_t));
  if (columns == NULL) pn_r_check(PN_NO_MEMORY);
  config->columns = net == R_NilValue ? config->features : model_size(from, "n_columns", 1);
  config->net = columns;
  if (net != R_NilValue && (!Rf_isInteger(net) || (size_t)Rf_xlength(net) != config->features)) {
    pn_r_abort("engine", "The engine needs `net` as one integer per feature with prototypes.");
  }
  for (size_t i = 0; i < config->features; ++i) {
    const size_t at = net == R_NilValue ? i : (size_t)(INTEGER(net)[i] - 1);
    if (at >= config->columns) pn_r_abort("engine", "The engine found a column that does not exist.");
    columns[i] = (uint32_t)at;
  }
}

static double number_or(SEXP list, const char *name, double absent) {
  return pn_r_element(list, name) == R_NilValue ? absent : pn_r_number(list, name);
}

static const double *optional_doubles(SEXP list, const char *name, size_t n) {
  SEXP x = pn_r_element(list, name);
  if (x == R_NilValue) return NULL;
  if (!Rf_isReal(x) || (size_t)Rf_xlength(x) != n) {
    pn_r_abort("engine", "The engine needs `%s` as a double vector of %.0f values.", name, (double)n);
  }
  return REAL(x);
}

/* The penalty on variation; configurations that know nothing of it have none. */
static void parse_variation(pn_config *config, SEXP from) {
  const double strength = number_or(from, "variation", 0), scale = number_or(from, "variation_scale", 1);
  const double *weight = optional_doubles(from, "variation_weight", config->features);
  if (!(strength >= 0 && strength <= FLT_MAX)) {
    pn_r_abort("variation", "The penalty on variation must be 0 or more, not %g.", strength);
  }
  if (!(scale > 0 && R_FINITE(scale))) {
    pn_r_abort("variation", "The scale of the penalty on variation must be above 0, not %g.", scale);
  }
  for (size_t i = 0; weight != NULL && i < config->features; ++i) {
    if (!(weight[i] >= 0 && R_FINITE(weight[i]))) {
      pn_r_abort("variation", "The weights of the penalty on variation must be 0 or more, not %g.", weight[i]);
    }
  }
  if (strength > 0 && config->members > 1) {
    pn_r_abort("variation", "The penalty on variation is for components of one feature, not of %.0f.",
               (double)config->members);
  }
  if (strength > 0 && (config->dropout > 0 || config->dropout_output > 0)) {
    pn_r_abort("variation", "The penalty on variation and dropout exclude each other: set one of them to 0.");
  }
  config->variation = (float)strength;
  config->variation_scale = scale;
  config->variation_weight = weight;
}

void pn_r_config(pn_config *config, SEXP from, pn_arena *arena) {
  static const char *const norms[] = {"layer", "batch"};
  static const char *const families[] = {"gaussian", "binomial", "multinomial", "poisson"};
  static const char *const kinds[] = {"none", "group", "response"};
  config->use_prototypes = pn_r_flag(from, "use_prototypes");
  config->features = model_size(from, "n_features", pn_r_element(from, "net") == R_NilValue ? 1 : 0);
  config->hidden = model_size(from, "hidden", 1);
  config->prototypes = model_size(from, "n_prototypes", config->use_prototypes ? 1 : 0);
  config->layers = model_size(from, "n_layers", 1);
  config->outputs = model_size(from, "n_outputs", 1);
  config->tasks = model_size(from, "n_tasks", 1);
  config->predictor_layers = (int)model_size(from, "predictor_layers", 1);
  config->hierarchical = pn_r_flag(from, "hierarchical");
  config->norm = (pn_norm)one_of(from, "norm", norms, 2);
  config->family = (pn_family)one_of(from, "family", families, 4);
  config->task_kind = (pn_task_kind)one_of(from, "task_kind", kinds, 3);
  config->output_penalty = (float)pn_r_number(from, "output_penalty");
  config->dropout = (float)pn_r_number(from, "dropout");
  config->dropout_output = (float)pn_r_number(from, "dropout_output");
  if (config->predictor_layers != 1 && config->predictor_layers != 2) {
    pn_r_abort("engine", "The engine has predictors of 1 or 2 layers, not %d.", config->predictor_layers);
  }

  SEXP components = pn_r_element(from, "components");
  if (!Rf_isInteger(components) || !Rf_isMatrix(components) ||
      (Rf_xlength(components) == 0) != (config->features == 0)) {
    pn_r_abort("engine", "The engine needs `components` as an integer matrix.");
  }
  config->members = (size_t)Rf_nrows(components);
  config->components = (size_t)Rf_ncols(components);
  if (config->members == 1 && config->components != config->features) {
    pn_r_abort("engine", "Order 1 has one component per feature.");
  }
  uint32_t *component = pn_arena_alloc(arena, (size_t)Rf_xlength(components), sizeof(uint32_t));
  if (component == NULL) pn_r_check(PN_NO_MEMORY);
  for (R_xlen_t i = 0; i < Rf_xlength(components); ++i) {
    const int feature = INTEGER(components)[i];
    if (feature < 1 || (size_t)feature > config->features || (config->members == 1 && feature != i + 1)) {
      pn_r_abort("engine", "The engine found a component of a feature that does not exist.");
    }
    component[i] = (uint32_t)(feature - 1);
  }
  config->component = component;
  parse_net(config, pn_r_element(from, "net"), from, arena);
  parse_variation(config, from);
}

/* The largest of n codes. */
static size_t largest_code(const unsigned char *code, int width, size_t n) {
  size_t most = 0;
  for (size_t r = 0; r < n; ++r) {
    size_t value;
    if (width == 1) {
      value = code[r];
    } else if (width == 2) {
      uint16_t two;
      memcpy(&two, code + 2 * r, sizeof(two));
      value = two;
    } else {
      uint32_t four;
      memcpy(&four, code + 4 * r, sizeof(four));
      value = four;
    }
    most = value > most ? value : most;
  }
  return most;
}

static void parse_feature(pn_feature *feature, SEXP from, size_t n, pn_arena *arena) {
  SEXP values = pn_r_element(from, "values"), codes = pn_r_element(from, "codes");
  const size_t width = pn_r_size(from, "width");
  if (!Rf_isReal(values) || TYPEOF(codes) != RAWSXP || (width != 1 && width != 2 && width != 4) ||
      (size_t)Rf_xlength(codes) != PN_SIZE(n, width)) {
    pn_r_abort("engine", "The engine found a feature that is not encoded as it should be.");
  }
  feature->n_values = (size_t)Rf_xlength(values);
  feature->code = RAW(codes);
  feature->width = (int)width;
  feature->stride = width;
  if (n > 0 && largest_code(feature->code, feature->width, n) >= feature->n_values) {
    pn_r_abort("engine", "The engine found a code beyond the feature's table of values.");
  }
  float *value = pn_arena_alloc(arena, feature->n_values, sizeof(float));
  if (value == NULL) pn_r_check(PN_NO_MEMORY);
  for (size_t i = 0; i < feature->n_values; ++i) value[i] = (float)REAL(values)[i];
  feature->value = value;
}

static void check_labels(const pn_data *data, const pn_config *config) {
  const size_t labels = data->n * data->y_columns;
  if (config->family == PN_MULTINOMIAL) {
    for (size_t r = 0; r < labels; ++r) {
      if (!(data->y[r] >= 0 && data->y[r] < (double)config->outputs)) {
        pn_r_abort("engine", "The engine found a class that does not exist.");
      }
    }
  }
  if (config->task_kind == PN_TASK_GROUP) {
    for (size_t r = 0; r < data->n; ++r) {
      if (data->task[r] < 1 || (size_t)data->task[r] > config->tasks) {
        pn_r_abort("engine", "The engine found a group that does not exist.");
      }
    }
  }
}

void pn_r_data(pn_data *data, const pn_config *config, SEXP from, pn_arena *arena) {
  SEXP features = pn_r_element(from, "features"), y = pn_r_element(from, "y"), task = pn_r_element(from, "task");
  memset(data, 0, sizeof(*data));
  data->n = pn_r_size(from, "n");
  if (data->n >= UINT32_MAX) pn_r_abort("engine", "The engine takes fewer than 2^32 rows.");
  if (TYPEOF(features) != VECSXP || (size_t)Rf_xlength(features) != config->columns) {
    pn_r_abort("engine", "The engine needs one encoded column per feature.");
  }
  pn_feature *column = pn_arena_alloc(arena, config->columns, sizeof(pn_feature));
  pn_feature *feature = pn_arena_alloc(arena, config->features, sizeof(pn_feature));
  if (column == NULL || feature == NULL) pn_r_check(PN_NO_MEMORY);
  for (size_t i = 0; i < config->columns; ++i) {
    parse_feature(&column[i], VECTOR_ELT(features, (R_xlen_t)i), data->n, arena);
  }
  for (size_t i = 0; i < config->features; ++i) feature[i] = column[config->net[i]];
  data->column = column;
  data->feature = feature;
  if (y == R_NilValue) return;
  data->y_columns = config->task_kind == PN_TASK_RESPONSE ? config->tasks : 1;
  data->y = optional_doubles(from, "y", PN_SIZE(data->n, data->y_columns));
  data->weight = optional_doubles(from, "weights", data->n);
  data->offset = optional_doubles(from, "offset", data->n);
  SEXP fold = pn_r_element(from, "fold");
  if (fold != R_NilValue && (!Rf_isInteger(fold) || (size_t)Rf_xlength(fold) != data->n)) {
    pn_r_abort("engine", "The engine needs every row's fold as an integer.");
  }
  if (fold != R_NilValue) data->fold = INTEGER(fold);
  if (config->task_kind == PN_TASK_GROUP) {
    if (!Rf_isInteger(task) || (size_t)Rf_xlength(task) != data->n) {
      pn_r_abort("engine", "The engine needs every row's group as an integer.");
    }
    data->task = INTEGER(task);
  }
  check_labels(data, config);
}

void pn_r_model(pn_model *model, const pn_config *config, SEXP params, SEXP running, pn_arena *arena) {
  pn_r_check(pn_model_init(model, config, arena));
  if (!Rf_isReal(params) || (size_t)Rf_xlength(params) != model->layout.total) {
    pn_r_abort("engine", "The engine needs %.0f parameters for this model, not %.0f.", (double)model->layout.total,
               (double)Rf_xlength(params));
  }
  for (size_t i = 0; i < model->layout.total; ++i) model->param[i] = (float)REAL(params)[i];
  if (running == R_NilValue) return;
  if (!Rf_isReal(running) || (size_t)Rf_xlength(running) != PN_SIZE(2, config->features)) {
    pn_r_abort("engine", "The engine needs two running statistics per feature.");
  }
  for (size_t i = 0; i < 2 * config->features; ++i) model->running[i] = (float)REAL(running)[i];
}

int pn_r_threads(SEXP threads) {
  return pn_threads_cap(Rf_asInteger(threads));
}

R_xlen_t pn_r_length(size_t n) {
  if ((double)n > (double)R_XLEN_T_MAX) pn_r_abort("memory", "The engine's result would have %.3g values.", (double)n);
  return (R_xlen_t)n;
}

SEXP pn_r_doubles(const float *x, size_t n) {
  SEXP out = Rf_allocVector(REALSXP, pn_r_length(n));
  for (size_t i = 0; i < n; ++i) REAL(out)[i] = x[i];
  return out;
}

void pn_r_dim(SEXP x, int n_dims, const size_t *dims) {
  SEXP dim = PROTECT(Rf_allocVector(INTSXP, n_dims));
  for (int i = 0; i < n_dims; ++i) {
    if (dims[i] > INT_MAX)
      pn_r_abort("engine", "The engine's arrays have fewer than 2^31 rows, not %.0f.", (double)dims[i]);
    INTEGER(dim)[i] = (int)dims[i];
  }
  Rf_setAttrib(x, R_DimSymbol, dim);
  UNPROTECT(1);
}
