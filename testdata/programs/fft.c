// fft.c N: N forward and backward transforms by FFTW with two threads of OpenMP. Each direction has
// a plan. Every tenth time, a new plan makes one transform in place. It checks its result.
#include <fftw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 1 << 15 };

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;
	fftw_init_threads();
	fftw_plan_with_nthreads(2);
	fftw_complex *in = fftw_alloc_complex(SIZE), *out = fftw_alloc_complex(SIZE);
	fftw_plan there = fftw_plan_dft_1d(SIZE, in, out, FFTW_FORWARD, FFTW_ESTIMATE);
	fftw_plan back = fftw_plan_dft_1d(SIZE, out, in, FFTW_BACKWARD, FFTW_ESTIMATE);
	double wrong = 0;
	for (int i = 0; i < SIZE; i++) {
		in[i][0] = i % 17;
		in[i][1] = 0;
	}
	for (int k = 0; k < n; k++) {
		fftw_execute(there);
		fftw_execute_dft(back, out, in);
		for (int i = 0; i < SIZE; i++) {
			in[i][0] /= SIZE;
			in[i][1] /= SIZE;
		}
		if (k % 10 == 0) {
			fftw_plan place = fftw_plan_dft_2d(128, SIZE / 128, out, out, FFTW_FORWARD, FFTW_ESTIMATE);
			fftw_execute(place);
			fftw_destroy_plan(place);
		}
	}
	for (int i = 0; i < SIZE; i++)
		wrong = fmax(wrong, fabs(in[i][0] - i % 17));
	fftw_destroy_plan(there);
	fftw_destroy_plan(back);
	fftw_free(in);
	fftw_free(out);
	fftw_cleanup_threads();
	printf("%s\n", wrong < 1e-6 ? "right" : "wrong");
	return wrong >= 1e-6;
}
