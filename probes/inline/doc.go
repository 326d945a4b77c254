// Package inline finds the OpenMP constructs that GCC compiles without a call of the runtime. They
// are static loops, master, and the end of a single nowait. It reads files only.
//
// The package cuts a function's flow of control (graph.Graph) at the calls that all threads of a
// team make in the same order. These calls are barriers and the starts of worksharing constructs.
// In each segment it follows the values that `omp_get_thread_num` and `omp_get_num_threads` return
// (taint.Trace). A cycle that ends where such a value decides is a static loop. The test that
// decides whether the cycle is entered at all is where the loop begins, also for threads without a
// share.
//
// A loop with a barrier is executed as often as its barrier. Each way to the barrier's call, and to
// the copies that GCC made of the call, must have exactly one probe. A second one may be right at
// the call: the engine takes it for the same execution. A construct for which this cannot be proven
// is not probed but listed (Unseen). Source directives name what was found, and decide what would
// be ambiguous. The shape alone has to do in stripped programs. The events carry event.Inline and,
// as their value, how the construct ends (event.InlineEnd); attribution/inlined.go takes them.
package inline
