/*
 * fft2d: transforms of a square of complex numbers, forward and back, with FFTW.
 *
 * Each transform sends the whole square from all ranks to all.
 *
 *     mpirun -n 2 fft2d [points of an edge] [steps]
 */
#include <fftw3-mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	fftw_mpi_init();
	ptrdiff_t edge = argc > 1 ? atol(argv[1]) : 512;
	long steps = argc > 2 ? atol(argv[2]) : 100;
	ptrdiff_t rows, first;
	ptrdiff_t size = fftw_mpi_local_size_2d(edge, edge, MPI_COMM_WORLD, &rows, &first);
	fftw_complex *data = fftw_alloc_complex((size_t)size);
	unsigned how = FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_OUT;
	fftw_plan there =
		fftw_mpi_plan_dft_2d(edge, edge, data, data, MPI_COMM_WORLD, FFTW_FORWARD, how);
	how = FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_IN;
	fftw_plan back =
		fftw_mpi_plan_dft_2d(edge, edge, data, data, MPI_COMM_WORLD, FFTW_BACKWARD, how);
	double points = (double)edge * (double)edge;

	for (ptrdiff_t i = 0; i < rows * edge; i++) {
		data[i][0] = (double)(first * edge + i) / points;
		data[i][1] = 0.0;
	}
	for (long step = 0; step < steps; step++) {
		fftw_execute(there);
		fftw_execute(back);
		for (ptrdiff_t i = 0; i < rows * edge; i++) {
			data[i][0] /= points;
			data[i][1] /= points;
		}
	}
	double sum = 0.0, whole = 0.0;
	for (ptrdiff_t i = 0; i < rows * edge; i++)
		sum += data[i][0] / points;
	MPI_Reduce(&sum, &whole, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!first)
		printf("mean %.9f\n", whole);
	fftw_destroy_plan(there);
	fftw_destroy_plan(back);
	fftw_free(data);
	MPI_Finalize();
	return 0;
}
