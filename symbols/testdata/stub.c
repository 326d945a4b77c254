// What the regions refer to, so that they link.
#include <stdlib.h>
void ext(int n) { (void)n; }
void cold(void) { abort(); }
