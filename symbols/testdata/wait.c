// Prints where main and a zero-filled datum are, then waits for its input to end.
#include <stdio.h>
int main(void);
char zeros[100000];
int main(void) {
  printf("%p %p\n", (void *)main, (void *)(zeros + 99999));
  fflush(stdout);
  return getchar() == EOF ? 0 : 1;
}
