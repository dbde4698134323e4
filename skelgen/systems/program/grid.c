/*
 * The platform contribution: a serial program that moves and spreads heat over a grid.
 *
 *	dT/dt = -v . grad T + k lap T
 *
 * in three dimensions, by differences against the wind and a step of Euler's, as weather models
 * have it: seven points are read for each that is written, from more memory than inner caches hold.
 */
#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64, POINTS = N * N * N, MOST_STEPS = 1 << 20 };

/* Heat that may be lost by rounding, of all [1]. */
static const double TOLERANCE = 1e-9;

/* Shares of a point that move and spread in a step: 3 wind + 6 spread < 1, or it would swing up. */
static volatile double wind = 0.1, spread = 0.08;

static int at(int x, int y, int z)
{
	return (x * N + y) * N + z;
}

/* One step of time on a grid without ends. */
static void step(const double *old, double *new, double v, double k)
{
	for (int x = 0; x < N; x++) {
		int west = (x + N - 1) % N, east = (x + 1) % N;

		for (int y = 0; y < N; y++) {
			int south = (y + N - 1) % N, north = (y + 1) % N;

			for (int z = 0; z < N; z++) {
				int below = z ? z - 1 : N - 1, above = z < N - 1 ? z + 1 : 0;
				double here = old[at(x, y, z)], w = old[at(west, y, z)],
				       s = old[at(x, south, z)], b = old[at(x, y, below)];
				double moved = v * (3 * here - w - s - b);
				double around = w + old[at(east, y, z)] + s + old[at(x, north, z)] +
						b + old[at(x, y, above)];

				new[at(x, y, z)] = here - moved + k * (around - 6 * here);
			}
		}
	}
}

/* Time of so many steps [s]; the grids change places. */
static double time_of(double **grid, double **other, long steps)
{
	double begin_s = now_s(), v = wind, k = spread;

	for (long i = 0; i < steps; i++) {
		double *last = *grid;

		step(*grid, *other, v, k);
		*grid = *other;
		*other = last;
	}
	return now_s() - begin_s;
}

static double heat(const double *grid)
{
	double sum = 0;

	for (int i = 0; i < POINTS; i++)
		sum += grid[i];
	return sum;
}

void measure_grid(const char *host, double budget_s, struct text *text)
{
	double *grid = calloc(POINTS, sizeof(*grid)), *other = calloc(POINTS, sizeof(*other));
	struct waiting since = waiting_begins();
	double rates[REPEATS], before, once_s;
	long steps;

	if (grid == NULL || other == NULL)
		fail("no memory for the grid: expected 4 MiB");
	for (int i = 0; i < POINTS; i++)
		grid[i] = 280 + (double)(i * 37 % 101) / 5;
	before = heat(grid);
	once_s = time_of(&grid, &other, 4) / 4;
	steps = clamped(budget_s / (REPEATS + 1) / once_s, 1, MOST_STEPS);
	for (int repeat = 0; repeat < REPEATS; repeat++)
		rates[repeat] = (double)POINTS * (double)steps / time_of(&grid, &other, steps);
	/* What moves and spreads is not lost: a program that is wrong measures nothing. */
	if (!(fabs(heat(grid) - before) <= TOLERANCE * before))
		fail("the grid lost heat: this compiler's arithmetic is wrong");
	add(text, "{\"system\": \"rate\", ");
	add_word(text, "host", host);
	add(text, ", \"name\": \"platform_contribution\", \"cores\": 1, ");
	add_values(text, rates, REPEATS);
	add(text, ", \"queued\": %.6g}\n", waiting_share(since));
	free(grid);
	free(other);
}
