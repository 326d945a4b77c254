// One symbol in two versions, at two addresses, as libgomp has for its locks.
int lock_old(void) { return 1; }
int lock_new(void) { return 2; }
__asm__(".symver lock_old,set_lock@V_1");
__asm__(".symver lock_new,set_lock@@V_3");
int alias_a(void) { return 3; }
int alias_b(void) __attribute__((alias("alias_a")));
