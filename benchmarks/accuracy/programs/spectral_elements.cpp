/*
 * spectral_elements: a source moves through a cube of conducting material.
 *
 * Spectral elements of Patera (1984), order 7 at Gauss-Lobatto-Legendre points, without a
 * matrix, as in Deville, Fischer and Mund, High-Order Methods for Incompressible Fluid Flow
 * (2002). Each step, of backward Euler, is solved by conjugate gradients (Hestenes and
 * Stiefel 1952) with the diagonal. Its solution is known: a Gaussian on a path.
 *
 *     mpirun -n 2 spectral_elements [elements of an edge] [steps]
 */
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mpi.h>
#include <vector>

using Vector = std::vector<double>;

static const int order = 7, points = order + 1, volume = points * points * points;
static const double dt = 0.01, conductivity = 0.2, spread = 0.15;

static int ranks, me, edge, elements; // elements of this rank
static double node[points], weight[points], stiffness[points][points];
static std::vector<long> id;			   // of each node of this rank, ascending
static std::vector<size_t> slot;		   // of each point of each element
static std::map<int, std::vector<size_t>> sharers; // nodes that another rank has too
static Vector mine, inside, mass, diagonal, one;   // of nodes; 1 where true, 0 where not

static long share(int rank)
{
	return static_cast<long>(edge) * edge * edge * rank / ranks;
}

// Legendre's polynomials of the order and one less, at x.
static std::array<double, 2> legendre(double x)
{
	double last = 1.0, now = x;

	for (int n = 1; n < order; n++) {
		double next = ((2 * n + 1) * x * now - n * last) / (n + 1);
		last = now;
		now = next;
	}
	return {now, last};
}

static void make_points()
{
	double slope[points][points], value[points];

	for (int i = 0; i <= order; i++) {
		double x = -std::cos(M_PI * i / order);
		for (int step = 0; step < 50; step++) {
			auto p = legendre(x);
			x -= (x * p[0] - p[1]) / (points * p[0]);
		}
		node[i] = x;
		value[i] = legendre(x)[0];
		weight[i] = 2.0 / (order * points * value[i] * value[i]);
	}
	for (int i = 0; i <= order; i++)
		for (int j = 0; j <= order; j++)
			slope[i][j] = i == j ? 0.0 : value[i] / value[j] / (node[i] - node[j]);
	slope[0][0] = -0.25 * order * points;
	slope[order][order] = 0.25 * order * points;
	for (int i = 0; i <= order; i++)
		for (int j = 0; j <= order; j++)
			for (int k = 0; k <= order; k++)
				stiffness[i][j] += slope[k][i] * weight[k] * slope[k][j];
}

static std::array<int, 3> split(long number, int base)
{
	return {static_cast<int>(number % base), static_cast<int>(number / base % base),
		static_cast<int>(number / base / base)};
}

// Number the nodes of this rank's elements.
static void make_nodes()
{
	std::vector<long> global;
	long line = edge * order + 1;

	for (long e = share(me); e < share(me + 1); e++) {
		auto at = split(e, edge);
		for (int i = 0; i < volume; i++) {
			auto in = split(i, points);
			long x = at[0] * order + in[0], y = at[1] * order + in[1];
			global.push_back(x + line * (y + line * (at[2] * order + in[2])));
		}
	}
	id = global;
	std::sort(id.begin(), id.end());
	id.erase(std::unique(id.begin(), id.end()), id.end());
	for (long g : global)
		slot.push_back(static_cast<size_t>(std::lower_bound(id.begin(), id.end(), g) -
						   id.begin()));
}

// Find the ranks that have a node too: those of the elements around it.
static void find_sharers()
{
	mine.resize(id.size());
	one.assign(id.size(), 1.0);
	inside = one;
	for (size_t s = 0; s < id.size(); s++) {
		auto at = split(id[s], edge * order + 1);
		std::vector<int> owners;
		for (int corner = 0; corner < 8; corner++) {
			int e[3];
			bool valid = true;
			for (int axis = 0; axis < 3; axis++) {
				e[axis] = (at[axis] + order - (corner >> axis & 1)) / order - 1;
				valid = valid && e[axis] >= 0 && e[axis] < edge;
			}
			long number = e[0] + edge * (e[1] + edge * static_cast<long>(e[2]));
			for (int r = 0; valid && r < ranks; r++)
				if (number >= share(r) && number < share(r + 1))
					owners.push_back(r);
		}
		std::sort(owners.begin(), owners.end());
		owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
		for (int r : owners)
			if (r != me)
				sharers[r].push_back(s);
		mine[s] = owners[0] == me;
		for (int axis = 0; axis < 3; axis++)
			if (at[axis] == 0 || at[axis] == edge * order)
				inside[s] = 0.0;
	}
}

// Add up the parts that ranks have of the nodes they share.
static void assemble(Vector &u)
{
	static std::map<int, Vector> out, in;
	std::vector<MPI_Request> requests;
	MPI_Request request;

	for (auto &[rank, nodes] : sharers) {
		in[rank].resize(nodes.size());
		MPI_Irecv(in[rank].data(), static_cast<int>(nodes.size()), MPI_DOUBLE, rank, 0,
			  MPI_COMM_WORLD, &request);
		requests.push_back(request);
	}
	for (auto &[rank, nodes] : sharers) {
		out[rank].resize(nodes.size());
		for (size_t i = 0; i < nodes.size(); i++)
			out[rank][i] = u[nodes[i]];
		MPI_Isend(out[rank].data(), static_cast<int>(nodes.size()), MPI_DOUBLE, rank, 0,
			  MPI_COMM_WORLD, &request);
		requests.push_back(request);
	}
	MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
	for (auto &[rank, nodes] : sharers)
		for (size_t i = 0; i < nodes.size(); i++)
			u[nodes[i]] += in[rank][i];
}

static void make_diagonals()
{
	double jacobian = std::pow(0.5 / edge, 3), stretch = conductivity * 4.0 * edge * edge;

	mass.resize(id.size());
	diagonal.resize(id.size());
	for (size_t p = 0; p < slot.size(); p++) {
		auto [i, j, k] = split(static_cast<long>(p % volume), points);
		double here = jacobian * weight[i] * weight[j] * weight[k];
		double stiff = stiffness[i][i] / weight[i] + stiffness[j][j] / weight[j] +
			       stiffness[k][k] / weight[k];
		mass[slot[p]] += here;
		diagonal[slot[p]] += here * (1.0 / dt + stretch * stiff);
	}
	assemble(mass);
	assemble(diagonal);
}

// One element of conductivity times the stiffness.
static void apply_element(const double *u, double *image)
{
	double scale = conductivity * 0.5 / edge;

	for (int k = 0; k < points; k++) {
		for (int j = 0; j < points; j++) {
			for (int i = 0; i < points; i++) {
				double x = 0.0, y = 0.0, z = 0.0;
				for (int a = 0; a < points; a++) {
					x += stiffness[i][a] * u[a + points * (j + points * k)];
					y += stiffness[j][a] * u[i + points * (a + points * k)];
					z += stiffness[k][a] * u[i + points * (j + points * a)];
				}
				image[i + points * (j + points * k)] =
					scale * (x * weight[j] * weight[k] +
						 y * weight[i] * weight[k] +
						 z * weight[i] * weight[j]);
			}
		}
	}
}

static void multiply(const Vector &u, Vector &image)
{
	double in[volume], out[volume];

	std::fill(image.begin(), image.end(), 0.0);
	for (int e = 0; e < elements; e++) {
		const size_t *at = &slot[static_cast<size_t>(e * volume)];
		for (int i = 0; i < volume; i++)
			in[i] = u[at[i]];
		apply_element(in, out);
		for (int i = 0; i < volume; i++)
			image[at[i]] += out[i];
	}
	assemble(image);
	for (size_t s = 0; s < id.size(); s++)
		image[s] = inside[s] * (image[s] + mass[s] / dt * u[s]);
}

static double dot(const Vector &a, const Vector &b, const Vector &scale = one)
{
	double sum = 0.0, whole;

	for (size_t s = 0; s < id.size(); s++)
		sum += mine[s] * a[s] * b[s] / scale[s];
	MPI_Allreduce(&sum, &whole, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return whole;
}

// Improve u until (K + M / dt) u = b within; return the number of iterations.
static int solve(Vector &u, const Vector &b)
{
	static Vector residual(id.size()), direction(id.size()), image(id.size());
	double enough = 1e-16 * dot(b, b, diagonal);
	int iteration = 0;

	multiply(u, image);
	for (size_t s = 0; s < id.size(); s++) {
		residual[s] = inside[s] * b[s] - image[s];
		direction[s] = residual[s] / diagonal[s];
	}
	double square = dot(residual, residual, diagonal);
	for (; square > enough; iteration++) {
		multiply(direction, image);
		double length = square / dot(direction, image), last = square;
		for (size_t s = 0; s < id.size(); s++) {
			u[s] += length * direction[s];
			residual[s] -= length * image[s];
		}
		square = dot(residual, residual, diagonal);
		for (size_t s = 0; s < id.size(); s++)
			direction[s] = residual[s] / diagonal[s] + square / last * direction[s];
	}
	return iteration;
}

// The known solution at a node, and its Laplacian.
static std::array<double, 2> known(size_t s, double time)
{
	const double phase = time + 0.5 * std::sin(3.0 * time), narrow = 1.0 / (spread * spread);
	const double centre[3] = {0.5 + 0.2 * std::cos(phase), 0.5 + 0.2 * std::sin(phase), 0.5};
	double square = 0.0;
	auto at = split(id[s], edge * order + 1);

	for (int axis = 0; axis < 3; axis++) {
		int e = std::min(at[axis] / order, edge - 1);
		double x = (e + 0.5 * (1.0 + node[at[axis] - e * order])) / edge - centre[axis];
		square += x * x;
	}
	double value = std::exp(-0.5 * square * narrow);
	return {value, value * narrow * (square * narrow - 3.0)};
}

int main(int argc, char **argv)
{
	double worst = 0.0, largest;
	long iterations = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	edge = argc > 1 ? std::atoi(argv[1]) : 6;
	int steps = argc > 2 ? std::atoi(argv[2]) : 10;
	elements = static_cast<int>(share(me + 1) - share(me));
	make_points();
	make_nodes();
	find_sharers();
	make_diagonals();
	Vector u(id.size()), b(id.size()), old(id.size());
	for (size_t s = 0; s < id.size(); s++)
		u[s] = old[s] = known(s, 0.0)[0];
	for (int step = 1; step <= steps; step++) {
		for (size_t s = 0; s < id.size(); s++) {
			auto [now, bend] = known(s, step * dt);
			b[s] = mass[s] * ((u[s] + now - old[s]) / dt - conductivity * bend);
			old[s] = now;
			if (inside[s] == 0.0)
				u[s] = now;
		}
		iterations += solve(u, b);
		for (size_t s = 0; s < id.size(); s++)
			worst = std::max(worst, std::fabs(u[s] - old[s]));
	}
	double square = dot(u, u);
	MPI_Reduce(&worst, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (me == 0)
		std::printf("spectral_elements: %d steps, %ld iterations, squares %.9g, "
			    "error %.2g\n",
			    steps, iterations, square, largest);
	MPI_Finalize();
	return 0;
}
