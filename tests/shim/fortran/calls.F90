! Fortran's calls, on two ranks; the first argument chooses the part. Compiled three times:
! with -DF08 (use mpi_f08), with -DUSE_MPI (use mpi), with neither (mpif.h). What MPI changes
! after a call returned is volatile, for the compiler does not know of it.
#ifdef F08
#define BINDING use mpi_f08
#define HEADER
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define GROUP type(MPI_Group)
#define INFO type(MPI_Info)
#define MESSAGE type(MPI_Message)
#define OP type(MPI_Op)
#define REQUEST type(MPI_Request)
#define STATUS type(MPI_Status)
#define STATUSES(n) type(MPI_Status), dimension(n)
#define SOURCE(status) status%MPI_SOURCE
#define TAG(status) status%MPI_TAG
#else
#ifdef USE_MPI
#define BINDING use mpi
#define HEADER
#else
#define BINDING
#define HEADER include 'mpif.h'
#endif
#define COMM integer
#define DATATYPE integer
#define GROUP integer
#define INFO integer
#define MESSAGE integer
#define OP integer
#define REQUEST integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define STATUSES(n) integer, dimension(MPI_STATUS_SIZE, n)
#define SOURCE(status) status(MPI_SOURCE)
#define TAG(status) status(MPI_TAG)
#endif

! MPI_IN_PLACE wherever it can stand, and vectors of counts.
subroutine in_place(rank)
   BINDING
   implicit none
   HEADER
   integer :: rank, ierr, all(2), one, counts(2), starts(2), bytes(2)
   double precision :: sums(3), parts(4)
   DATATYPE :: types(2)

   counts = (/1, 2/)
   starts = (/0, 1/)
   sums = (/1, 2, 3/) * (rank + 1)
   call MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
   print '(a,i2,3f6.1)', 'allreduce', rank, sums
   all = rank + 5
   one = rank + 5
   if (rank == 0) then
      call MPI_Gather(MPI_IN_PLACE, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
   else
      call MPI_Gather(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
   end if
   print '(a,3i4)', 'gather', rank, all
   if (rank == 0) then
      call MPI_Scatter(all, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
   else
      call MPI_Scatter(all, 1, MPI_INTEGER, one, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
   end if
   print '(a,2i4)', 'scatter', rank, one
   if (rank == 1) then
      call MPI_Reduce(MPI_IN_PLACE, one, 1, MPI_INTEGER, MPI_MAX, 1, MPI_COMM_WORLD, ierr)
   else
      call MPI_Reduce(one, all, 1, MPI_INTEGER, MPI_MAX, 1, MPI_COMM_WORLD, ierr)
   end if
   print '(a,2i4)', 'reduce', rank, one
   all(rank + 1) = 10 + rank
   call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, &
                      MPI_COMM_WORLD, ierr)
   print '(a,3i4)', 'allgather', rank, all
   call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, &
                     MPI_COMM_WORLD, ierr)
   print '(a,3i4)', 'alltoall', rank, all
   parts = rank
   call MPI_Alltoallv(MPI_IN_PLACE, counts, starts, MPI_DOUBLE_PRECISION, parts, &
                      (/1, 1/), starts, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
   sums = rank + 1
   if (rank == 0) then
      call MPI_Alltoallv(sums, counts, starts, MPI_DOUBLE_PRECISION, parts, &
                         (/1, 2/), (/0, 1/), MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
   else
      call MPI_Alltoallv(sums, (/2, 1/), (/0, 2/), MPI_DOUBLE_PRECISION, parts, &
                         (/2, 1/), (/0, 2/), MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
   end if
   print '(a,i2,4f6.1)', 'alltoallv', rank, parts
   types(1) = MPI_INTEGER
   types(2) = MPI_DOUBLE_PRECISION
   bytes = (/0, 8/)
   parts = 0
   if (rank == 0) then
      call MPI_Alltoallw(sums, (/1, 1/), bytes, types, parts, (/1, 3/), bytes, &
                         (/MPI_INTEGER, MPI_INTEGER/), MPI_COMM_WORLD, ierr)
   else
      call MPI_Alltoallw(sums, (/3, 1/), bytes, (/MPI_INTEGER, MPI_INTEGER/), parts, (/1, 1/), &
                         (/0, 16/), (/MPI_DOUBLE_PRECISION, MPI_INTEGER/), MPI_COMM_WORLD, ierr)
   end if
   print '(a,i2,4f6.1)', 'alltoallw', rank, parts(2:2)
   one = rank + 1
   call MPI_Scan(MPI_IN_PLACE, one, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
   print '(a,2i4)', 'scan', rank, one
   parts = 1
   call MPI_Reduce_scatter(MPI_IN_PLACE, parts, counts, MPI_DOUBLE_PRECISION, MPI_SUM, &
                           MPI_COMM_WORLD, ierr)
   print '(a,i2,4f6.1)', 'reduce_scatter', rank, parts(1:1)
   call MPI_Gatherv(one, 1, MPI_INTEGER, all, (/1, 1/), starts, MPI_INTEGER, 0, &
                    MPI_COMM_WORLD, ierr)
   call MPI_Bcast(all, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
   print '(a,3i4,i2)', 'bcast', rank, all, ierr
end subroutine in_place

! Receives whose source or tag the program leaves open, with and without a status.
subroutine wildcards(rank)
   BINDING
   implicit none
   HEADER
   integer :: rank, ierr, i
   integer, volatile :: number, numbers(2)
   logical :: found
   REQUEST :: requests(2)
   STATUS :: got
   STATUSES(2) :: each
   MESSAGE :: matched

   if (rank == 1) then
      do i = 1, 9
         call MPI_Ssend(100 + i, 1, MPI_INTEGER, 0, 10 + i, MPI_COMM_WORLD, ierr)
      end do
      call MPI_Sendrecv(1, 1, MPI_INTEGER, 0, 30, number, 1, MPI_INTEGER, MPI_ANY_SOURCE, &
                        MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      print '(a,i4)', 'exchanged', number
      return
   end if
   call MPI_Recv(number, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &
                 MPI_STATUS_IGNORE, ierr)
   print '(a,2i4)', 'ignored', number, ierr
   call MPI_Recv(number, 1, MPI_INTEGER, MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, got, ierr)
   print '(a,3i4)', 'received', number, SOURCE(got), TAG(got)
   call MPI_Recv(number, 1, MPI_INTEGER, 1, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
   call MPI_Irecv(number, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &
                  requests(1), ierr)
   call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
   print '(a,i4,l2)', 'waited', number, requests(1) == MPI_REQUEST_NULL
   do i = 1, 2
      call MPI_Irecv(numbers(i), 1, MPI_INTEGER, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &
                     requests(i), ierr)
   end do
   call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
   print '(a,2i4)', 'all', numbers
   call MPI_Irecv(number, 1, MPI_INTEGER, MPI_ANY_SOURCE, 17, MPI_COMM_WORLD, requests(1), ierr)
   requests(2) = MPI_REQUEST_NULL
   call MPI_Waitall(2, requests, each, ierr)
#ifdef F08
   print '(a,2i4)', 'with statuses', number, each(1)%MPI_SOURCE
#else
   print '(a,2i4)', 'with statuses', number, each(MPI_SOURCE, 1)
#endif
   call MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, matched, MPI_STATUS_IGNORE, ierr)
   call MPI_Mrecv(number, 1, MPI_INTEGER, matched, MPI_STATUS_IGNORE, ierr)
   print '(a,i4)', 'matched', number
   found = .false.
   do while (.not. found)
      call MPI_Iprobe(MPI_ANY_SOURCE, 19, MPI_COMM_WORLD, found, got, ierr)
   end do
   print '(a,2i4)', 'probed', SOURCE(got), TAG(got)
   call MPI_Recv(number, 1, MPI_INTEGER, SOURCE(got), TAG(got), MPI_COMM_WORLD, got, ierr)
   call MPI_Sendrecv(2, 1, MPI_INTEGER, 1, 31, number, 1, MPI_INTEGER, MPI_ANY_SOURCE, 30, &
                     MPI_COMM_WORLD, got, ierr)
   print '(a,2i4)', 'exchanged', number, SOURCE(got)
end subroutine wildcards

! Receives that complete in the order the sender chooses: indices count from one.
subroutine some(rank)
   BINDING
   implicit none
   HEADER
   integer :: rank, ierr, number, i, index, n, indices(4)
   integer, volatile :: numbers(4)
   logical :: flag
   REQUEST :: requests(4)
   STATUSES(4) :: each

   if (rank == 1) then
      do i = 3, 0, -1
         call MPI_Recv(number, 1, MPI_INTEGER, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
         call MPI_Send(i, 1, MPI_INTEGER, 0, i, MPI_COMM_WORLD, ierr)
      end do
      return
   end if
   do i = 1, 4
      call MPI_Irecv(numbers(i), 1, MPI_INTEGER, 1, i - 1, MPI_COMM_WORLD, requests(i), ierr)
   end do
   call MPI_Testsome(4, requests, n, indices, each, ierr)
   print '(a,i4)', 'none yet', n
   call MPI_Send(rank, 1, MPI_INTEGER, 1, 9, MPI_COMM_WORLD, ierr)
   call MPI_Waitany(4, requests, index, MPI_STATUS_IGNORE, ierr)
   print '(a,i4)', 'any', index
   call MPI_Send(rank, 1, MPI_INTEGER, 1, 9, MPI_COMM_WORLD, ierr)
   call MPI_Waitsome(4, requests, n, indices, MPI_STATUSES_IGNORE, ierr)
   print '(a,2i4)', 'some', n, indices(1)
   call MPI_Send(rank, 1, MPI_INTEGER, 1, 9, MPI_COMM_WORLD, ierr)
   n = 0
   do while (n == 0)
      call MPI_Testsome(4, requests, n, indices, each, ierr)
   end do
   print '(a,2i4)', 'tested', n, indices(1)
   call MPI_Send(rank, 1, MPI_INTEGER, 1, 9, MPI_COMM_WORLD, ierr)
   flag = .false.
   do while (.not. flag)
      call MPI_Testany(4, requests, index, flag, MPI_STATUS_IGNORE, ierr)
   end do
   print '(a,i4)', 'tested any', index
   call MPI_Waitany(4, requests, index, MPI_STATUS_IGNORE, ierr)
   call MPI_Testall(4, requests, flag, MPI_STATUSES_IGNORE, ierr)
   print '(a,2l2)', 'undefined', index == MPI_UNDEFINED, flag
end subroutine some

subroutine persistent(rank)
   BINDING
   implicit none
   HEADER
   integer :: rank, ierr, i
   double precision, volatile :: sent, got
   logical :: flag
   REQUEST :: requests(2), single

   call MPI_Send_init(sent, 1, MPI_DOUBLE_PRECISION, 1 - rank, 5, MPI_COMM_WORLD, &
                      requests(1), ierr)
   call MPI_Recv_init(got, 1, MPI_DOUBLE_PRECISION, 1 - rank, 5, MPI_COMM_WORLD, &
                      requests(2), ierr)
   do i = 1, 3
      sent = i
      call MPI_Startall(2, requests, ierr)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
   end do
   call MPI_Start(requests(2), ierr)
   call MPI_Start(requests(1), ierr)
   call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
   call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)
   call MPI_Request_free(requests(1), ierr)
   call MPI_Request_free(requests(2), ierr)
   call MPI_Irecv(got, 1, MPI_DOUBLE_PRECISION, rank, 6, MPI_COMM_WORLD, single, ierr)
   call MPI_Cancel(single, ierr)
   call MPI_Wait(single, MPI_STATUS_IGNORE, ierr)
   call MPI_Ibarrier(MPI_COMM_WORLD, single, ierr)
   call MPI_Test(single, flag, MPI_STATUS_IGNORE, ierr)
   do while (.not. flag)
      call MPI_Test(single, flag, MPI_STATUS_IGNORE, ierr)
   end do
   print '(a,i2,f5.1,l2)', 'got', rank, got, single == MPI_REQUEST_NULL
end subroutine persistent

! Communicators, datatypes with MPI_BOTTOM, operations, strings, errors.
subroutine objects(rank)
   BINDING
   implicit none
   HEADER
   integer :: rank, ierr, number, length, class, coordinates(2), dims(2)
   integer, volatile :: first, second
   integer(MPI_ADDRESS_KIND) :: places(2)
   logical :: periods(2), flag, remain(2)
   character(len=MPI_MAX_OBJECT_NAME) :: name
   character(len=MPI_MAX_ERROR_STRING) :: text
   character(len=20) :: value
   COMM :: duplicate, half, grid, row, later
   DATATYPE :: pair
   GROUP :: everyone
   INFO :: hints
   OP :: smaller
   REQUEST :: single
   external :: take_smaller

   call MPI_Comm_dup(MPI_COMM_WORLD, duplicate, ierr)
   call MPI_Comm_split(duplicate, rank, 0, half, ierr)
   call MPI_Allreduce(MPI_IN_PLACE, rank, 1, MPI_INTEGER, MPI_SUM, half, ierr)
   dims = (/2, 1/)
   periods = (/.true., .false./)
   call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., grid, ierr)
   remain = (/.true., .false./)
   call MPI_Cart_sub(grid, remain, row, ierr)
   call MPI_Cart_get(grid, 2, dims, periods, coordinates, ierr)
   print '(a,5i3,2l2)', 'grid', rank, dims, coordinates, periods
   call MPI_Barrier(row, ierr)
   call MPI_Comm_idup(MPI_COMM_WORLD, later, single, ierr)
   call MPI_Wait(single, MPI_STATUS_IGNORE, ierr)
   call MPI_Barrier(later, ierr)
   first = 10 * rank + 1
   second = 10 * rank + 2
   call MPI_Get_address(first, places(1), ierr)
   call MPI_Get_address(second, places(2), ierr)
   call MPI_Type_create_hindexed(2, (/1, 1/), places, MPI_INTEGER, pair, ierr)
   call MPI_Type_commit(pair, ierr)
   call MPI_Sendrecv_replace(MPI_BOTTOM, 1, pair, 1 - rank, 3, 1 - rank, 3, MPI_COMM_WORLD, &
                             MPI_STATUS_IGNORE, ierr)
   call MPI_Bcast(MPI_BOTTOM, 1, pair, 1, MPI_COMM_WORLD, ierr)
   print '(a,3i4)', 'bottom', rank, first, second
   call MPI_Type_free(pair, ierr)
   call MPI_Op_create(take_smaller, .true., smaller, ierr)
   number = 7 - rank
   call MPI_Allreduce(MPI_IN_PLACE, number, 1, MPI_INTEGER, smaller, duplicate, ierr)
   print '(a,2i4)', 'smaller', rank, number
   call MPI_Op_free(smaller, ierr)
   call MPI_Comm_set_name(duplicate, 'a name with blanks', ierr)
   call MPI_Comm_get_name(duplicate, name, length, ierr)
   print '(a,i3,3a)', 'name', length, ' [', trim(name), ']'
   call MPI_Info_create(hints, ierr)
   call MPI_Info_set(hints, 'a key', ' its value ', ierr)
   call MPI_Info_get(hints, 'a key', 20, value, flag, ierr)
   print '(a,l2,3a)', 'info', flag, ' [', value, ']'
   call MPI_Info_free(hints, ierr)
   call MPI_Comm_set_errhandler(duplicate, MPI_ERRORS_RETURN, ierr)
   call MPI_Send(number, 1, MPI_INTEGER, 99, 0, duplicate, ierr)
   call MPI_Error_class(ierr, class, ierr)
   call MPI_Error_string(class, text, length, ierr)
   print '(a,l2,i4,1x,a)', 'error', class == MPI_ERR_RANK, length, text(:length)
   call MPI_Comm_group(MPI_COMM_WORLD, everyone, ierr)
   call MPI_Comm_create(MPI_COMM_WORLD, everyone, later, ierr)
   call MPI_Group_free(everyone, ierr)
   call MPI_Pcontrol(0)
   call MPI_Barrier(later, ierr)
   call MPI_Pcontrol(1)
   call MPI_Comm_free(later, ierr)
   call MPI_Comm_free(half, ierr)
   call MPI_Comm_free(row, ierr)
   call MPI_Comm_free(grid, ierr)
   call MPI_Comm_free(duplicate, ierr)
   print '(a,2l2)', 'free', duplicate == MPI_COMM_NULL, MPI_Wtime() > 0
end subroutine objects

subroutine take_smaller(in, inout, n, type)
   BINDING
   implicit none
   HEADER
   integer :: n
   integer :: in(n), inout(n)
   DATATYPE :: type

   inout = min(in, inout)
end subroutine take_smaller

program calls
   BINDING
   implicit none
   HEADER
   integer :: rank, ierr, provided
   character(len=20) :: part

   call get_command_argument(1, part)
   if (part == 'objects') then
      call MPI_Init_thread(MPI_THREAD_SINGLE, provided, ierr)
   else
      call MPI_Init(ierr)
   end if
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
   select case (part)
   case ('in_place')
      call in_place(rank)
   case ('wildcards')
      call wildcards(rank)
   case ('some')
      call some(rank)
   case ('persistent')
      call persistent(rank)
   case ('objects')
      call objects(rank)
#ifdef F08
   case ('optional')
      call MPI_Barrier(MPI_COMM_WORLD)
      call MPI_Comm_size(MPI_COMM_WORLD, provided)
      print '(a,i3)', 'size', provided
#endif
   case ('abort')
      call MPI_Barrier(MPI_COMM_WORLD, ierr) ! all have files before the first one aborts
      call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
   end select
   call MPI_Finalize(ierr)
end program calls
