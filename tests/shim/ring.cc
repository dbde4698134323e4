// A ring in C++: templates, exceptions and objects around the C interface.
#include <mpi.h>

#include <iostream>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace
{
class Session
{
      public:
	Session(int *argc, char ***argv)
	{
		if (MPI_Init(argc, argv) != MPI_SUCCESS)
			throw std::runtime_error("no MPI");
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Comm_size(MPI_COMM_WORLD, &size);
	}
	~Session()
	{
		MPI_Finalize();
	}
	int rank = 0, size = 0;
};

template <typename T> T pass_on(const Session &session, std::vector<T> &values)
{
	std::vector<T> got(values.size());
	const int next = (session.rank + 1) % session.size;
	const int previous = (session.rank + session.size - 1) % session.size;

	MPI_Sendrecv(values.data(), static_cast<int>(values.size()), MPI_INT, next, 1, got.data(),
		     static_cast<int>(got.size()), MPI_INT, previous, 1, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	values.swap(got);
	return std::accumulate(values.begin(), values.end(), T{});
}
} // namespace

int main(int argc, char **argv)
{
	Session session(&argc, &argv);
	std::vector<int> values(5, session.rank + 1);
	int mine = 0, sum = 0;

	for (int i = 0; i < 10; i++)
		mine = pass_on(session, values);
	MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (session.rank == 0)
		std::cout << "sum " << sum << std::endl;
	return 0;
}
