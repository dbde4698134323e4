/*
 * particles: two streams of electrons, a particle-in-cell code in two dimensions.
 *
 * Electrostatic, with linear weighting and the leapfrog, as in Birdsall and Langdon, Plasma
 * Physics via Computer Simulation (1985); the field by conjugate gradients (Hestenes and
 * Stiefel 1952). The periodic square is cut into slabs; particles move between them.
 *
 *     mpirun -n 2 particles [points of an edge] [steps] [particles of a cell]
 */
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <vector>

struct Particle {
	double x, y, u, v; // place in cells, velocity
};

static int edge, rows, bottom, ranks, me, above, below;
static double cell;                       // its width
static const double dt = 0.05, beam = 1.0; // in units of the plasma frequency
static std::vector<Particle> particles;

struct Field { // own rows, and a row of ghosts below and one above
	std::vector<double> values = std::vector<double>(edge * (rows + 2));
	double *row(int j)
	{
		return &values[(j + 1) * edge];
	}
	void fill_ghosts()
	{
		pass(row(rows - 1), above, row(-1), below);
		pass(row(0), below, row(rows), above);
	}
	static void pass(const double *out, int to, double *in, int from)
	{
		MPI_Sendrecv(out, edge, MPI_DOUBLE, to, 1, in, edge, MPI_DOUBLE, from, 1,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
};

static int left(int i)
{
	return i > 0 ? i - 1 : edge - 1;
}

static int right(int i)
{
	return i + 1 < edge ? i + 1 : 0;
}

static double uniform(uint64_t x) // splitmix64
{
	x = (x + 1) * 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return static_cast<double>((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}

static void load(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		Particle p = {edge * uniform(4 * i), edge * uniform(4 * i + 1), 0.0, 0.0};
		if (p.y < bottom || p.y >= bottom + rows)
			continue;
		double size = 0.1 * std::sqrt(-2.0 * std::log(1.0 - uniform(4 * i + 2)));
		double angle = 2.0 * M_PI * uniform(4 * i + 3);
		p.u = size * std::cos(angle);
		p.v = size * std::sin(angle) + (i % 2 ? beam : -beam);
		particles.push_back(p);
	}
}

static double sum(double mine)
{
	double whole;

	MPI_Allreduce(&mine, &whole, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return whole;
}

// Weights of the four points around a particle, whose lower left is (i, j) of this slab.
static std::array<double, 4> weights(const Particle &p, int &i, int &j)
{
	i = std::min(static_cast<int>(p.x), edge - 1);
	j = std::min(static_cast<int>(p.y - bottom), rows - 1);
	double a = p.x - i, b = p.y - bottom - j;
	return {(1 - a) * (1 - b), a * (1 - b), (1 - a) * b, a * b};
}

static void deposit(Field &charge, double each)
{
	std::vector<double> from_below(edge);
	int i, j;

	std::fill(charge.values.begin(), charge.values.end(), 0.0);
	for (const Particle &p : particles) {
		auto w = weights(p, i, j);
		charge.row(j)[i] -= each * w[0];
		charge.row(j)[right(i)] -= each * w[1];
		charge.row(j + 1)[i] -= each * w[2];
		charge.row(j + 1)[right(i)] -= each * w[3];
	}
	Field::pass(charge.row(rows), above, from_below.data(), below);
	for (i = 0; i < edge; i++)
		charge.row(0)[i] += from_below[i];
	for (double &value : charge.values)
		value += 1.0; // the ions
}

// out = -(Laplacian of in); return the inner product of both.
static double apply(Field &in, Field &out)
{
	double product = 0.0;

	in.fill_ghosts();
	for (int j = 0; j < rows; j++) {
		const double *u = in.row(j), *up = in.row(j + 1), *down = in.row(j - 1);
		for (int i = 0; i < edge; i++) {
			double around = u[left(i)] + u[right(i)] + up[i] + down[i];
			out.row(j)[i] = (4.0 * u[i] - around) / (cell * cell);
			product += u[i] * out.row(j)[i];
		}
	}
	return sum(product);
}

static double add(Field &y, double a, Field &x, double b) // y = a x + b y; return y y
{
	double square = 0.0, *u = y.row(0);
	const double *v = x.row(0);

	for (int i = 0; i < edge * rows; i++) {
		u[i] = a * v[i] + b * u[i];
		square += u[i] * u[i];
	}
	return square;
}

static int solve(Field &potential, Field &charge) // return the number of iterations
{
	static Field residual, direction, image;
	int iteration = 0;

	apply(potential, residual);
	double square = sum(add(residual, 1.0, charge, -1.0));
	double enough = 1e-12 * edge * edge;
	add(direction, 1.0, residual, 0.0);
	for (; square > enough; iteration++) {
		double length = square / apply(direction, image);
		add(potential, length, direction, 1.0);
		double last = square;
		square = sum(add(residual, -length, image, 1.0));
		add(direction, 1.0, residual, square / last);
	}
	return iteration;
}

static double gradient(Field &potential, Field &ex, Field &ey) // return the field's energy
{
	double energy = 0.0;

	potential.fill_ghosts();
	for (int j = 0; j < rows; j++) {
		const double *u = potential.row(j);
		for (int i = 0; i < edge; i++) {
			double x = (u[left(i)] - u[right(i)]) / (2.0 * cell);
			double y = (u[i - edge] - u[i + edge]) / (2.0 * cell);
			ex.row(j)[i] = x;
			ey.row(j)[i] = y;
			energy += x * x + y * y;
		}
	}
	ex.fill_ghosts();
	ey.fill_ghosts();
	return 0.5 * cell * cell * energy;
}

static double push(Field &ex, Field &ey) // return the sum of the squares of the velocities
{
	double squares = 0.0;
	int i, j;
	auto gather = [&](Field &e, const std::array<double, 4> &w) {
		return w[0] * e.row(j)[i] + w[1] * e.row(j)[right(i)] + w[2] * e.row(j + 1)[i] +
		       w[3] * e.row(j + 1)[right(i)];
	};

	for (Particle &p : particles) {
		auto w = weights(p, i, j);
		double fast_x = p.u - dt * gather(ex, w), fast_y = p.v - dt * gather(ey, w);
		squares += p.u * fast_x + p.v * fast_y; // at the time of the field
		p.u = fast_x;
		p.v = fast_y;
		p.x += dt * p.u / cell;
		p.x -= edge * std::floor(p.x / edge);
		p.y += dt * p.v / cell;
	}
	return squares;
}

static int migrate() // return how many left
{
	std::vector<Particle> leaving[2];
	MPI_Request request[2];
	const int to[2] = {below, above};
	size_t kept = 0;

	for (Particle p : particles) {
		int side = p.y < bottom ? 0 : p.y >= bottom + rows ? 1 : -1;
		p.y += p.y < 0 ? edge : p.y >= edge ? -edge : 0;
		if (side < 0)
			particles[kept++] = p;
		else
			leaving[side].push_back(p);
	}
	particles.resize(kept);
	for (int side = 0; side < 2; side++)
		MPI_Isend(leaving[side].data(), static_cast<int>(4 * leaving[side].size()),
			  MPI_DOUBLE, to[side], side, MPI_COMM_WORLD, &request[side]);
	for (int side = 0; side < 2; side++) {
		MPI_Status status;
		int count;
		MPI_Probe(to[1 - side], side, MPI_COMM_WORLD, &status);
		MPI_Get_count(&status, MPI_DOUBLE, &count);
		particles.resize(kept + count / 4);
		MPI_Recv(particles.data() + kept, count, MPI_DOUBLE, status.MPI_SOURCE, side,
			 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		kept = particles.size();
	}
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	return static_cast<int>(leaving[0].size() + leaving[1].size());
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	edge = argc > 1 ? std::atoi(argv[1]) : 128;
	int steps = argc > 2 ? std::atoi(argv[2]) : 100;
	int count = edge * edge * (argc > 3 ? std::atoi(argv[3]) : 20);
	bottom = edge * me / ranks;
	rows = edge * (me + 1) / ranks - bottom;
	above = (me + 1) % ranks;
	below = (me + ranks - 1) % ranks;
	cell = 4.0 * M_PI / edge;

	Field charge, potential, ex, ey;
	double first = 0.0, energy[2], whole[2], last = 0.0, drift = 0.0, moved = 0.0;
	const double each = static_cast<double>(edge) * edge / count;
	long iterations = 0;
	load(count);
	for (int step = 0; step < steps; step++) {
		deposit(charge, each);
		iterations += solve(potential, charge);
		energy[0] = gradient(potential, ex, ey);
		energy[1] = 0.5 * each * cell * cell * push(ex, ey);
		moved += migrate();
		MPI_Reduce(energy, whole, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
		last = whole[0] + whole[1];
		first = step ? first : last;
		drift = std::max(drift, std::fabs(last / first - 1.0));
	}
	double here = sum(static_cast<double>(particles.size()));
	moved = sum(moved);
	if (me == 0)
		std::printf("particles: %.0f of %d, moved %.0f, field %.9g, energy %.9g, "
			    "drift %.2g, %ld iterations\n",
			    here, count, moved, whole[0], last, drift, iterations);
	MPI_Finalize();
	return 0;
}
