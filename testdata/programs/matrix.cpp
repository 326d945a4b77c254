// matrix.cpp: see matrix.h.
#include "matrix.h"
