/*
 * adaptive_mesh: a ring is carried through a periodic square, on a mesh refined around it.
 *
 * Blocks of 16 by 16 cells in a quadtree, as in PARAMESH (MacNeice, Olson, Mobarry, de Fainchtein
 * and Packer 2000), along Morton's curve (Warren and Salmon 1993), refined by a gradient as
 * Berger and Colella (1989) do; second-order upwind (van Leer 1979), Heun's two stages. All
 * ranks know all leaves; a rank has equally many blocks, which move when the mesh changes.
 *
 *     mpirun -n 2 adaptive_mesh [finest level] [steps]
 */
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mpi.h>
#include <vector>

static const int cells = 16, ghosts = 2, width = cells + 2 * ghosts, half = cells / 2;
static const int coarsest = 2, interval = 8; // steps between changes of the mesh
static const double speed[2] = {1.0, 0.5};
static int ranks, me, finest;

using Block = std::array<double, width * width>;
using Leaf = std::array<int, 3>; // level, and place among the blocks of that level

static int at(int i, int j)
{
	return (j + ghosts) * width + i + ghosts;
}

struct Mesh {
	std::vector<Leaf> leaves; // of all ranks, along the curve
	std::map<Leaf, int> number;
	std::vector<Block> blocks; // of this rank

	int first(int rank) const
	{
		return static_cast<int>(leaves.size() * rank / ranks);
	}
	int owner(int leaf) const
	{
		int rank = static_cast<int>(static_cast<size_t>(leaf) * ranks / leaves.size());
		return leaf < first(rank + 1) ? rank : rank + 1;
	}
	Block &block(int leaf)
	{
		return blocks[leaf - first(me)];
	}
	// The leaf that has a cell, given by its level and place; it is of this level or the next.
	int find(int level, int x, int y) const
	{
		for (int other : {level, level - 1, level + 1}) {
			int up = std::max(other - level, 0), down = std::max(level - other, 0);
			int block_x = (x << up >> down) / cells;
			int block_y = (y << up >> down) / cells;
			auto here = number.find({other, block_x, block_y});
			if (here != number.end())
				return here->second;
		}
		std::abort();
	}
	void arrange() // leaves along the curve, their numbers, room for blocks
	{
		auto key = [](const Leaf &leaf) {
			long code = 0;
			for (int bit = leaf[0] - 1; bit >= 0; bit--)
				code = 4 * code + (leaf[1] >> bit & 1) + 2 * (leaf[2] >> bit & 1);
			return code << 2 * (finest - leaf[0]);
		};
		std::sort(leaves.begin(), leaves.end(),
			  [&](const Leaf &a, const Leaf &b) { return key(a) < key(b); });
		for (size_t i = 0; i < leaves.size(); i++)
			number[leaves[i]] = static_cast<int>(i);
		blocks.resize(first(me + 1) - first(me));
	}
};

struct Area { // of the cells of a block, ghosts too
	int x, y, wide, high;
};

struct Copy { // fill an area of a block of one mesh with what another mesh has there
	int from, to, sender, receiver;
	Leaf source, target;
	Area area;
	int x, y; // of the area's first cell, in all cells of the target's level
};

static Copy connect(const Mesh &old, const Mesh &mesh, int to, const Area &area)
{
	const Leaf &target = mesh.leaves[to];
	int around = cells << target[0];
	int x = (target[1] * cells + area.x + around) % around;
	int y = (target[2] * cells + area.y + around) % around;
	int from = old.find(target[0], x, y);

	return {from, to, old.owner(from), mesh.owner(to), old.leaves[from], target, area, x, y};
}

// Half of each side's ghosts: the neighbour may be finer.
static Area border(int side)
{
	int low = side & 1 ? half : 0, place = side & 2 ? cells : -ghosts;

	return side & 4 ? Area{low, place, half, ghosts} : Area{place, low, ghosts, half};
}

static double slope(double left, double middle, double right) // van Leer's limiter
{
	double a = middle - left, b = right - middle;

	return a * b > 0.0 ? 2.0 * a * b / (a + b) : 0.0;
}

// What the source has in cell (x, y) of all cells of the level: its own, a mean, or between.
static double sample(const Leaf &source, const Block &u, int level, int x, int y)
{
	int up = std::max(source[0] - level, 0), down = std::max(level - source[0], 0);
	int i = (x << up >> down) - source[1] * cells, j = (y << up >> down) - source[2] * cells;
	int c = at(i, j);
	double value = u[c];

	if (up)
		return 0.25 * (u[c] + u[c + 1] + u[c + width] + u[c + width + 1]);
	if (down && i > 0 && i < cells - 1)
		value += (x % 2 ? 0.25 : -0.25) * slope(u[c - 1], u[c], u[c + 1]);
	if (down && j > 0 && j < cells - 1)
		value += (y % 2 ? 0.25 : -0.25) * slope(u[c - width], u[c], u[c + width]);
	return value;
}

static void pack(const Copy &c, const Block &u, std::vector<double> &out)
{
	for (int j = 0; j < c.area.high; j++)
		for (int i = 0; i < c.area.wide; i++)
			out.push_back(sample(c.source, u, c.target[0], c.x + i, c.y + j));
}

static void unpack(const Area &area, Block &u, const double *in)
{
	for (int j = 0; j < area.high; j++)
		for (int i = 0; i < area.wide; i++)
			u[at(area.x + i, area.y + j)] = *in++;
}

// Do all copies, with one message between each pair of ranks.
static void run(const std::vector<Copy> &plan, Mesh &old, Mesh &mesh)
{
	std::vector<std::vector<double>> out(ranks), in(ranks);
	std::vector<size_t> used(ranks);
	std::vector<MPI_Request> requests;
	MPI_Request request;

	for (const Copy &c : plan)
		if (c.receiver == me)
			used[c.sender] += c.area.wide * c.area.high;
	for (int r = 0; r < ranks; r++) {
		in[r].resize(used[r]);
		if (r == me || !used[r])
			continue;
		MPI_Irecv(in[r].data(), static_cast<int>(used[r]), MPI_DOUBLE, r, 0, MPI_COMM_WORLD,
			  &request);
		requests.push_back(request);
	}
	for (const Copy &c : plan)
		if (c.sender == me)
			pack(c, old.block(c.from), out[c.receiver]);
	for (int r = 0; r < ranks; r++) {
		if (r == me || out[r].empty())
			continue;
		MPI_Isend(out[r].data(), static_cast<int>(out[r].size()), MPI_DOUBLE, r, 0,
			  MPI_COMM_WORLD, &request);
		requests.push_back(request);
	}
	MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
	in[me].swap(out[me]);
	std::fill(used.begin(), used.end(), 0);
	for (const Copy &c : plan) {
		if (c.receiver != me)
			continue;
		unpack(c.area, mesh.block(c.to), &in[c.sender][used[c.sender]]);
		used[c.sender] += c.area.wide * c.area.high;
	}
}

static std::vector<Copy> plan_ghosts(const Mesh &mesh)
{
	std::vector<Copy> plan;

	for (int leaf = 0; leaf < static_cast<int>(mesh.leaves.size()); leaf++) {
		for (int side = 0; side < 8; side++) {
			Copy copy = connect(mesh, mesh, leaf, border(side));
			if (copy.sender == me || copy.receiver == me)
				plan.push_back(copy);
		}
	}
	return plan;
}

static double exact(double x, double y, double time)
{
	x -= speed[0] * time + 0.5;
	y -= speed[1] * time + 0.5;
	double away = std::hypot(x - std::round(x), y - std::round(y));
	return std::exp(-std::pow((away - 0.2) / 0.04, 2));
}

static double centre(int block, int cell, double wide) // of a cell
{
	return (block * cells + cell + 0.5) * wide;
}

static void initialise(Mesh &mesh)
{
	for (int leaf = mesh.first(me); leaf < mesh.first(me + 1); leaf++) {
		auto [level, x, y] = mesh.leaves[leaf];
		double wide = 1.0 / (cells << level);
		for (int j = 0; j < cells; j++)
			for (int i = 0; i < cells; i++)
				mesh.block(leaf)[at(i, j)] =
					exact(centre(x, i, wide), centre(y, j, wide), 0.0);
	}
}

// u = part * old + (1 - part) * (u + dt * rate of change of u)
static void advance(Block &u, const Block &old, double ratio, double part)
{
	Block flux_x, flux_y;

	for (int j = -1; j < cells; j++) {
		for (int i = -1; i < cells; i++) {
			int c = at(i, j), up = c + width, down = c - width;
			flux_x[c] = speed[0] * (u[c] + 0.5 * slope(u[c - 1], u[c], u[c + 1]));
			flux_y[c] = speed[1] * (u[c] + 0.5 * slope(u[down], u[c], u[up]));
		}
	}
	for (int j = 0; j < cells; j++) {
		for (int i = 0; i < cells; i++) {
			int c = at(i, j);
			double change = flux_x[c - 1] - flux_x[c] + flux_y[c - width] - flux_y[c];
			u[c] = part * old[c] + (1.0 - part) * (u[c] + ratio * change);
		}
	}
}

static void step(Mesh &mesh, const std::vector<Copy> &plan, double dt)
{
	std::vector<Block> old = mesh.blocks;

	for (double part : {0.0, 0.5}) {
		run(plan, mesh, mesh);
		for (int leaf = mesh.first(me), b = 0; leaf < mesh.first(me + 1); leaf++, b++)
			advance(mesh.blocks[b], old[b], dt * (cells << mesh.leaves[leaf][0]), part);
	}
}

// The level that each leaf should have by its largest jump, known to all ranks.
static std::vector<int> wanted_levels(const Mesh &mesh)
{
	std::vector<int> mine, want(mesh.leaves.size()), counts, places;

	for (int leaf = mesh.first(me), b = 0; leaf < mesh.first(me + 1); leaf++, b++) {
		const Block &u = mesh.blocks[b];
		double jump = 0.0;
		for (int j = 0; j < cells; j++)
			for (int i = 0; i < cells; i++)
				jump = std::max({jump, std::fabs(u[at(i + 2, j)] - u[at(i + 1, j)]),
						 std::fabs(u[at(i, j)] - u[at(i - 1, j)]),
						 std::fabs(u[at(i, j + 2)] - u[at(i, j + 1)]),
						 std::fabs(u[at(i, j)] - u[at(i, j - 1)])});
		int change = jump > 0.02 ? 1 : jump < 0.004 ? -1 : 0;
		mine.push_back(std::clamp(mesh.leaves[leaf][0] + change, coarsest, finest));
	}
	for (int r = 0; r < ranks; r++) {
		places.push_back(mesh.first(r));
		counts.push_back(mesh.first(r + 1) - mesh.first(r));
	}
	MPI_Allgatherv(mine.data(), counts[me], MPI_INT, want.data(), counts.data(), places.data(),
		       MPI_INT, MPI_COMM_WORLD);
	return want;
}

// Keep a leaf unless its three siblings are leaves that want to be coarser too.
static bool keep_family(const Mesh &mesh, std::vector<int> &want, int leaf)
{
	auto [level, x, y] = mesh.leaves[leaf];

	if (want[leaf] >= level)
		return false;
	for (int child = 0; child < 4; child++) {
		int other_x = x / 2 * 2 + child % 2, other_y = y / 2 * 2 + child / 2;
		auto other = mesh.number.find({level, other_x, other_y});
		if (other == mesh.number.end() || want[other->second] >= level) {
			want[leaf] = level;
			return true;
		}
	}
	return false;
}

// Raise levels until neighbours differ by one at most.
static void balance(const Mesh &mesh, std::vector<int> &want)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (int leaf = 0; leaf < static_cast<int>(want.size()); leaf++) {
			changed |= keep_family(mesh, want, leaf);
			for (int side = 0; side < 8; side++) {
				int &other = want[connect(mesh, mesh, leaf, border(side)).from];
				changed |= other < want[leaf] - 1;
				other = std::max(other, want[leaf] - 1);
			}
		}
	}
}

static Mesh adapt(Mesh &old)
{
	std::vector<int> want = wanted_levels(old);
	std::vector<Copy> plan;
	Mesh mesh;

	balance(old, want);
	for (size_t leaf = 0; leaf < want.size(); leaf++) {
		auto [level, x, y] = old.leaves[leaf];
		if (want[leaf] == level)
			mesh.leaves.push_back({level, x, y});
		if (want[leaf] < level && x % 2 == 0 && y % 2 == 0)
			mesh.leaves.push_back({level - 1, x / 2, y / 2});
		for (int child = 0; want[leaf] > level && child < 4; child++)
			mesh.leaves.push_back({level + 1, 2 * x + child % 2, 2 * y + child / 2});
	}
	mesh.arrange();
	for (int leaf = 0; leaf < static_cast<int>(mesh.leaves.size()); leaf++)
		for (int x : {0, half})
			for (int y : {0, half})
				plan.push_back(connect(old, mesh, leaf, {x, y, half, half}));
	run(plan, old, mesh);
	return mesh;
}

// The integral and the integral of the error, of all ranks.
static std::array<double, 2> measure(const Mesh &mesh, double time)
{
	std::array<double, 2> mine = {0.0, 0.0}, whole;

	for (int leaf = mesh.first(me), b = 0; leaf < mesh.first(me + 1); leaf++, b++) {
		auto [level, x, y] = mesh.leaves[leaf];
		double wide = 1.0 / (cells << level);
		for (int j = 0; j < cells; j++) {
			for (int i = 0; i < cells; i++) {
				double u = mesh.blocks[b][at(i, j)];
				double right = exact(centre(x, i, wide), centre(y, j, wide), time);
				mine[0] += wide * wide * u;
				mine[1] += wide * wide * std::fabs(u - right);
			}
		}
	}
	MPI_Allreduce(mine.data(), whole.data(), 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return whole;
}

int main(int argc, char **argv)
{
	Mesh mesh;
	long blocks = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	finest = argc > 1 ? std::atoi(argv[1]) : 5;
	int steps = argc > 2 ? std::atoi(argv[2]) : 100;
	for (int place = 0; place < 1 << 2 * coarsest; place++)
		mesh.leaves.push_back({coarsest, place % (1 << coarsest), place >> coarsest});
	mesh.arrange();
	std::vector<Copy> plan = plan_ghosts(mesh);
	double dt = 0.5 / (speed[0] + speed[1]) / (cells << finest), start = 0.0;
	for (int now = -finest; now < steps; now++) {
		if (now <= 0)
			initialise(mesh);
		if (now == 0)
			start = measure(mesh, 0.0)[0];
		if (now < 0 || now % interval == 0) {
			run(plan, mesh, mesh);
			mesh = adapt(mesh);
			plan = plan_ghosts(mesh);
		}
		if (now >= 0)
			step(mesh, plan, dt);
		blocks += static_cast<long>(mesh.leaves.size());
	}
	auto [mass, error] = measure(mesh, steps * dt);
	if (me == 0)
		std::printf("adaptive_mesh: %zu leaves, %ld block steps, mass %.12g, gained %.2g, "
			    "error %.9g\n",
			    mesh.leaves.size(), blocks, mass, mass / start - 1.0, error);
	MPI_Finalize();
	return 0;
}
