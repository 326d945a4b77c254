// tool.c: a tool of libomp's own interface (OMPT) whose callbacks are a 5-byte
// nop to probe each.
#include <omp-tools.h>

#define NOP(name) __attribute__((naked, visibility("default"))) void name(void) { __asm__(".byte 0x0f, 0x1f, 0x44, 0, 0; ret"); }
NOP(on_acquire)
NOP(on_acquired)
NOP(on_released)
NOP(on_sync)
NOP(on_create)
NOP(on_schedule)

static int start(ompt_function_lookup_t look_up, int device, ompt_data_t *data)
{
	ompt_set_callback_t set = (ompt_set_callback_t)look_up("ompt_set_callback");
	(void)device, (void)data;
	set(ompt_callback_mutex_acquire, on_acquire);
	set(ompt_callback_mutex_acquired, on_acquired);
	set(ompt_callback_mutex_released, on_released);
	set(ompt_callback_sync_region, on_sync);
	set(ompt_callback_task_create, on_create);
	set(ompt_callback_task_schedule, on_schedule);
	return 1;
}

static void end(ompt_data_t *data) { (void)data; }

ompt_start_tool_result_t *ompt_start_tool(unsigned int version, const char *runtime)
{
	static ompt_start_tool_result_t result = {start, end, {0}};
	(void)version, (void)runtime;
	return &result;
}
