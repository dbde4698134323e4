! A program that opens MPI by a session only, in the binding that a macro chooses.
program sessions
#ifdef F08
  use mpi_f08
  implicit none
  type(MPI_Session) :: session
  type(MPI_Group) :: group
  type(MPI_Comm) :: all
#else
#ifdef USE_MPI
  use mpi
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  integer :: session, group, all
#endif
  integer :: ierr, rank, i, total
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session, ierr)
  call MPI_Group_from_session_pset(session, "mpi://WORLD", group, ierr)
  call MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, all, ierr)
  call MPI_Group_free(group, ierr)
  call MPI_Comm_rank(all, rank, ierr)
  do i = 1, 10
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, all, ierr)
  end do
  if (rank == 0) print *, 'sum', total
  call MPI_Comm_free(all, ierr)
  call MPI_Session_finalize(session, ierr)
end program
