! multigrid: Poisson's equation in a cube for many right-hand sides, by V-cycles.
!
! Geometric multigrid of Brandt (1977), as in Trottenberg, Oosterlee and Schueller, Multigrid
! (2001): red-black Gauss-Seidel, full weighting, trilinear interpolation. The grids are cut
! into slabs; rank 0 solves the coarsest by successive over-relaxation (Young 1954).
!
!     mpirun -n 2 multigrid [cells of an edge, 8 by a power of two] [right-hand sides]
program multigrid
    use mpi
    implicit none
    integer, parameter :: dp = kind(1.0d0), real8 = MPI_DOUBLE_PRECISION, world = MPI_COMM_WORLD
    type :: grid
        integer :: n, low, high ! cells of an edge, own planes
        real(dp), allocatable, dimension(:, :, :) :: u, f, r
    end type grid
    type(grid), allocatable :: level(:)
    integer :: edge, sides, side, ranks, me, ierror, below, above, finest, cycles
    integer, allocatable :: counts(:), places(:)
    real(dp) :: check(2), worst, enough

    call MPI_Init(ierror)
    call MPI_Comm_size(world, ranks, ierror)
    call MPI_Comm_rank(world, me, ierror)
    edge = argument(1, 64)
    sides = argument(2, 10)
    below = merge(me - 1, MPI_PROC_NULL, me > 0)
    above = merge(me + 1, MPI_PROC_NULL, me < ranks - 1)
    call make_levels()

    cycles = 0
    check = 0.0_dp
    do side = 1, sides
        associate (g => level(finest))
            call fill_known(g, real(side, dp))
            call minus_laplace(g%n, g%low, g%high, g%r, g%f)
        end associate
        enough = 1.0e-10_dp * norm(level(finest)%f)
        do
            call residual(level(finest))
            if (norm(level(finest)%r) <= enough) exit
            call cycle(finest)
            cycles = cycles + 1
        end do
        call compare(level(finest), real(side, dp))
    end do
    call MPI_Reduce(check(1), worst, 1, real8, MPI_MAX, 0, world, ierror)
    call MPI_Reduce(check(2), enough, 1, real8, MPI_SUM, 0, world, ierror)
    if (me == 0) print '(2(a, i0), a, es21.14, a, es8.1)', 'multigrid: ', sides, ' sides, ', &
        cycles, ' cycles, sum ', enough, ', error ', worst
    call MPI_Finalize(ierror)

contains

    integer function argument(number, default)
        integer, intent(in) :: number, default
        character(32) :: text

        argument = default
        if (command_argument_count() < number) return
        call get_command_argument(number, text)
        read (text, *) argument
    end function argument

    ! The coarsest has at least two planes for each rank; planes of the next lie among them.
    subroutine make_levels()
        integer :: coarsest, l, rank

        coarsest = 8
        do while (coarsest < 2 * ranks)
            coarsest = 2 * coarsest
        end do
        finest = 1
        do while (coarsest * 2**(finest - 1) < edge)
            finest = finest + 1
        end do
        allocate (level(finest))
        do l = 1, finest
            associate (g => level(l))
                g%n = coarsest * 2**(l - 1)
                g%low = me * coarsest / ranks * 2**(l - 1) + 1
                g%high = min((me + 1) * coarsest / ranks * 2**(l - 1), g%n - 1)
                allocate (g%u(0:g%n, 0:g%n, g%low - 1:g%high + 1))
                allocate (g%f, g%r, mold=g%u)
                g%u = 0.0_dp
                g%f = 0.0_dp
                g%r = 0.0_dp
            end associate
        end do
        places = [(rank * coarsest / ranks * (coarsest + 1)**2, rank=0, ranks)]
        places(ranks + 1) = (coarsest - 1) * (coarsest + 1)**2
        counts = places(2:) - places(:ranks)
    end subroutine make_levels

    ! The solution known for a right-hand side, zero at the boundary, is a product of three.
    elemental real(dp) function known(i, n, axis, number)
        integer, intent(in) :: i, n, axis
        real(dp), intent(in) :: number
        real(dp) :: x

        x = real(i, dp) / n
        known = cos(10.0_dp * (1.0_dp + sin(7.0_dp * number + axis)) * x)
        known = 4.0_dp * x * (1.0_dp - x) * known
    end function known

    subroutine fill_known(g, number)
        type(grid), intent(inout) :: g
        real(dp), intent(in) :: number
        integer :: i, j, k

        do k = g%low - 1, g%high + 1
            do j = 0, g%n
                g%r(:, j, k) = known([(i, i=0, g%n)], g%n, 1, number) &
                               * known(j, g%n, 2, number) * known(k, g%n, 3, number)
            end do
        end do
    end subroutine fill_known

    subroutine compare(g, number)
        type(grid), intent(inout) :: g
        real(dp), intent(in) :: number

        call fill_known(g, number)
        associate (own => g%u(:, :, g%low:g%high))
            check(1) = max(check(1), maxval(abs(g%r(:, :, g%low:g%high) - own)))
            check(2) = check(2) + sum(own)
        end associate
    end subroutine compare

    subroutine minus_laplace(n, low, high, u, image)
        integer, intent(in) :: n, low, high
        real(dp), intent(in) :: u(0:n, 0:n, low - 1:high + 1)
        real(dp), intent(inout) :: image(0:n, 0:n, low - 1:high + 1)
        integer :: i, j, k

        do k = low, high
            do j = 1, n - 1
                do i = 1, n - 1
                    image(i, j, k) = (6.0_dp * u(i, j, k) - u(i - 1, j, k) - u(i + 1, j, k) &
                                      - u(i, j - 1, k) - u(i, j + 1, k) &
                                      - u(i, j, k - 1) - u(i, j, k + 1)) * real(n, dp)**2
                end do
            end do
        end do
    end subroutine minus_laplace

    subroutine residual(g)
        type(grid), intent(inout) :: g

        call exchange(g%n, g%low, g%high, g%u)
        call minus_laplace(g%n, g%low, g%high, g%u, g%r)
        g%r = g%f - g%r
    end subroutine residual

    real(dp) function norm(v)
        real(dp), allocatable, intent(in) :: v(:, :, :)
        real(dp) :: mine

        mine = sum(v(:, :, lbound(v, 3) + 1:ubound(v, 3) - 1)**2)
        call MPI_Allreduce(mine, norm, 1, real8, MPI_SUM, world, ierror)
        norm = sqrt(norm)
    end function norm

    subroutine exchange(n, low, high, u)
        integer, intent(in) :: n, low, high
        real(dp), intent(inout), asynchronous :: u(0:n, 0:n, low - 1:high + 1)
        integer :: request(4), count

        count = (n + 1)**2
        call MPI_Irecv(u(0, 0, low - 1), count, real8, below, 1, world, request(1), ierror)
        call MPI_Irecv(u(0, 0, high + 1), count, real8, above, 2, world, request(2), ierror)
        call MPI_Isend(u(0, 0, high), count, real8, above, 1, world, request(3), ierror)
        call MPI_Isend(u(0, 0, low), count, real8, below, 2, world, request(4), ierror)
        call MPI_Waitall(4, request, MPI_STATUSES_IGNORE, ierror)
    end subroutine exchange

    ! One sweep over the points of a colour; factor 1 is Gauss-Seidel's, more over-relaxes.
    subroutine relax(n, low, high, u, f, colour, factor)
        integer, intent(in) :: n, low, high, colour
        real(dp), intent(inout) :: u(0:n, 0:n, low - 1:high + 1)
        real(dp), intent(in) :: f(0:n, 0:n, low - 1:high + 1), factor
        integer :: i, j, k
        real(dp) :: square

        square = 1.0_dp / real(n, dp)**2
        do k = low, high
            do j = 1, n - 1
                do i = 1 + mod(j + k + colour, 2), n - 1, 2
                    u(i, j, k) = u(i, j, k) + factor * ((u(i - 1, j, k) + u(i + 1, j, k) &
                        + u(i, j - 1, k) + u(i, j + 1, k) + u(i, j, k - 1) + u(i, j, k + 1) &
                        + square * f(i, j, k)) / 6.0_dp - u(i, j, k))
                end do
            end do
        end do
    end subroutine relax

    subroutine smooth(g)
        type(grid), intent(inout) :: g
        integer :: colour

        do colour = 0, 3
            call exchange(g%n, g%low, g%high, g%u)
            call relax(g%n, g%low, g%high, g%u, g%f, mod(colour, 2), 1.0_dp)
        end do
    end subroutine smooth

    recursive subroutine cycle(l)
        integer, intent(in) :: l

        if (l == 1) then
            call bottom(level(1))
            return
        end if
        call smooth(level(l))
        call residual(level(l))
        call exchange(level(l)%n, level(l)%low, level(l)%high, level(l)%r)
        call restrict(level(l), level(l - 1))
        call cycle(l - 1)
        call exchange(level(l - 1)%n, level(l - 1)%low, level(l - 1)%high, level(l - 1)%u)
        call prolong(level(l - 1), level(l))
        call smooth(level(l))
    end subroutine cycle

    subroutine restrict(fine, coarse)
        type(grid), intent(in) :: fine
        type(grid), intent(inout) :: coarse
        real(dp), parameter :: weight(-1:1) = [0.25_dp, 0.5_dp, 0.25_dp]
        integer :: i, j, k, b, c

        coarse%u = 0.0_dp
        coarse%f = 0.0_dp
        do k = coarse%low, coarse%high
            do c = -1, 1
                do j = 1, coarse%n - 1
                    do b = -1, 1
                        do i = 1, coarse%n - 1
                            coarse%f(i, j, k) = coarse%f(i, j, k) + weight(b) * weight(c) &
                                * sum(weight * fine%r(2 * i - 1:2 * i + 1, 2 * j + b, 2 * k + c))
                        end do
                    end do
                end do
            end do
        end do
    end subroutine restrict

    subroutine prolong(coarse, fine)
        type(grid), intent(in) :: coarse
        type(grid), intent(inout) :: fine
        real(dp) :: line(0:coarse%n)
        integer :: i, j, k

        do k = fine%low, fine%high
            do j = 1, fine%n - 1
                line = 0.25_dp * (coarse%u(:, j / 2, k / 2) + coarse%u(:, (j + 1) / 2, k / 2) &
                    + coarse%u(:, j / 2, (k + 1) / 2) + coarse%u(:, (j + 1) / 2, (k + 1) / 2))
                do i = 1, fine%n - 1
                    fine%u(i, j, k) = fine%u(i, j, k) + 0.5_dp * (line(i / 2) + line((i + 1) / 2))
                end do
            end do
        end do
    end subroutine prolong

    ! The coarsest grid goes to rank 0 and back.
    subroutine bottom(g)
        type(grid), intent(inout) :: g
        real(dp), dimension(0:g%n, 0:g%n, 0:g%n) :: u, f
        real(dp) :: factor
        integer :: sweep

        call MPI_Gatherv(g%f(0, 0, g%low), counts(me + 1), real8, f(0, 0, 1), counts, places, &
                         real8, 0, world, ierror)
        if (me == 0) then
            u = 0.0_dp
            factor = 2.0_dp / (1.0_dp + sin(acos(-1.0_dp) / g%n))
            do sweep = 0, 8 * g%n
                call relax(g%n, 1, g%n - 1, u, f, mod(sweep, 2), factor)
            end do
        end if
        call MPI_Scatterv(u(0, 0, 1), counts, places, real8, g%u(0, 0, g%low), counts(me + 1), &
                          real8, 0, world, ierror)
    end subroutine bottom
end program multigrid
