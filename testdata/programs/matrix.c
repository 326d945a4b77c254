// matrix.c: see matrix.h.
#include "matrix.h"
