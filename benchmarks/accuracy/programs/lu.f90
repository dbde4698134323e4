! lu: systems of linear equations, one after the other, with ScaLAPACK.
!
!     mpirun -n 2 lu [equations] [steps]
program lu
    implicit none
    integer, parameter :: block = 32
    integer :: n, steps, step, ranks, me, context, rows, columns, row, column
    integer :: high, wide, i, j, info, described(9), right(9)
    double precision, allocatable :: matrix(:, :), work(:, :), solution(:)
    integer, allocatable :: pivots(:)
    integer, external :: numroc, indxl2g

    n = argument(1, 400)
    steps = argument(2, 10)
    call blacs_pinfo(me, ranks)
    rows = int(sqrt(dble(ranks)))
    do while (mod(ranks, rows) /= 0)
        rows = rows - 1
    end do
    columns = ranks / rows
    call blacs_get(-1, 0, context)
    call blacs_gridinit(context, 'R', rows, columns)
    call blacs_gridinfo(context, rows, columns, row, column)
    high = numroc(n, block, row, 0, rows)
    wide = numroc(n, block, column, 0, columns)
    call descinit(described, n, n, block, block, 0, 0, context, max(1, high), info)
    call descinit(right, n, 1, block, block, 0, 0, context, max(1, high), info)
    allocate (matrix(high, wide), work(high, wide), solution(high), pivots(high + block))
    do j = 1, wide
        do i = 1, high
            matrix(i, j) = entry(indxl2g(i, block, row, 0, rows), &
                                 indxl2g(j, block, column, 0, columns))
        end do
    end do
    do step = 1, steps
        work = matrix
        solution = 1.0d0
        call pdgetrf(n, n, work, 1, 1, described, pivots, info)
        call pdgetrs('N', n, 1, work, 1, 1, described, pivots, solution, 1, 1, right, info)
        if (info /= 0) call blacs_abort(context, 1)
    end do
    if (me == 0) print '(a, es16.8)', 'first unknown', solution(1)
    call blacs_gridexit(context)
    call blacs_exit(0)

contains

    integer function argument(number, default)
        integer, intent(in) :: number, default
        character(32) :: text

        argument = default
        if (command_argument_count() < number) return
        call get_command_argument(number, text)
        read (text, *) argument
    end function argument

    double precision function entry(i, j)
        integer, intent(in) :: i, j

        entry = 1.0d0 / dble(1 + abs(i - j))
        if (i == j) entry = entry + 4.0d0
    end function entry
end program lu
