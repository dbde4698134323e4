! hydro: the blast wave of Sedov (1959) in a closed box, Euler's equations in two dimensions.
!
! Second-order Godunov scheme of van Leer (1979) with Hancock's predictor and the HLL
! Riemann solver of Harten, Lax and van Leer (1983), sweeps in turn along x and y as Strang
! (1968) orders them. Text: Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics
! (2009). The box is cut into blocks; mass and energy are conserved.
!
!     mpirun -n 2 hydro [cells of an edge] [steps]
program hydro
    use mpi
    implicit none
    integer, parameter :: dp = kind(1.0d0), ghosts = 2, mass = 1, energy = 4
    real(dp), parameter :: heats = 1.4_dp, courant = 0.4_dp, ambient = 1.0e-5_dp
    integer :: cells, steps, step, ranks, me, grid, ierror, nx, ny, first(2), dims(2), place(2)
    integer :: low(2), high(2)
    logical, parameter :: periods(2) = .false.
    real(dp), allocatable :: u(:, :, :)
    real(dp) :: width, dt, time, start(3), now(3), drift

    call MPI_Init(ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    cells = argument(1, 400)
    steps = argument(2, 100)
    dims = 0
    call MPI_Dims_create(ranks, 2, dims, ierror)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .true., grid, ierror)
    call MPI_Comm_rank(grid, me, ierror)
    call MPI_Cart_coords(grid, me, 2, place, ierror)
    call MPI_Cart_shift(grid, 0, 1, low(1), high(1), ierror)
    call MPI_Cart_shift(grid, 1, 1, low(2), high(2), ierror)
    width = 1.0_dp / cells
    call blast()

    time = 0.0_dp
    drift = 0.0_dp
    start = summary()
    do step = 1, steps
        dt = time_step()
        call sweep(1 + mod(step, 2), dt)
        call sweep(2 - mod(step, 2), dt)
        time = time + dt
        if (mod(step, 10) == 0 .or. step == steps) then
            now = summary()
            drift = max(drift, maxval(abs(now(1:2) / start(1:2) - 1.0_dp)))
        end if
    end do
    if (me == 0) print '(a, i0, a, f9.6, 2(a, es19.12), a, es8.1)', 'hydro: ', steps, &
        ' steps to time ', time, ', energy ', now(2), ', entropy ', now(3), ', drift ', drift
    call MPI_Comm_free(grid, ierror)
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

    ! Cut the box, and put the energy 1 into a disc at its corner.
    subroutine blast()
        integer :: i, j
        real(dp) :: away
        real(dp), parameter :: radius = 0.04_dp, area = 0.25_dp * 3.14159265358979_dp * radius**2

        first = place * cells / dims
        nx = (place(1) + 1) * cells / dims(1) - first(1)
        ny = (place(2) + 1) * cells / dims(2) - first(2)
        allocate (u(4, 1 - ghosts:nx + ghosts, 1 - ghosts:ny + ghosts))
        u = 0.0_dp
        u(mass, :, :) = 1.0_dp
        do j = 1, ny
            do i = 1, nx
                away = hypot(first(1) + i - 0.5_dp, first(2) + j - 0.5_dp) * width
                u(energy, i, j) = merge(1.0_dp / area, ambient / (heats - 1.0_dp), away < radius)
            end do
        end do
    end subroutine blast

    ! Mass, energy and entropy of the whole box, at rank 0.
    function summary() result(whole)
        real(dp) :: whole(3), part(3)
        integer :: i, j

        part = 0.0_dp
        whole = 1.0_dp
        do j = 1, ny
            do i = 1, nx
                part(1:2) = part(1:2) + u([mass, energy], i, j)
                part(3) = part(3) + u(mass, i, j) * log(pressure(u(:, i, j)) / u(mass, i, j)**heats)
            end do
        end do
        part = part * width**2
        call MPI_Reduce(part, whole, 3, MPI_DOUBLE_PRECISION, MPI_SUM, 0, grid, ierror)
    end function summary

    pure real(dp) function pressure(q)
        real(dp), intent(in) :: q(4)

        pressure = (heats - 1.0_dp) * (q(4) - 0.5_dp * (q(2)**2 + q(3)**2) / q(1))
        pressure = max(pressure, 1.0e-12_dp)
    end function pressure

    real(dp) function time_step()
        integer :: i, j
        real(dp) :: fastest, sound, mine

        fastest = 0.0_dp
        do j = 1, ny
            do i = 1, nx
                sound = sqrt(heats * pressure(u(:, i, j)) / u(mass, i, j))
                fastest = max(fastest, maxval(abs(u(2:3, i, j))) / u(mass, i, j) + sound)
            end do
        end do
        mine = courant * width / fastest
        call MPI_Allreduce(mine, time_step, 1, MPI_DOUBLE_PRECISION, MPI_MIN, grid, ierror)
    end function time_step

    ! Fill the ghost cells of one axis, except at walls.
    subroutine exchange(axis)
        integer, intent(in) :: axis
        integer :: below, above

        below = low(axis)
        above = high(axis)
        if (axis == 1) then
            call pass(2 * 4 * ny, u(:, nx - 1:nx, 1:ny), above, u(:, -1:0, 1:ny), below)
            call pass(2 * 4 * ny, u(:, 1:2, 1:ny), below, u(:, nx + 1:nx + 2, 1:ny), above)
        else
            call pass(2 * 4 * nx, u(:, 1:nx, ny - 1:ny), above, u(:, 1:nx, -1:0), below)
            call pass(2 * 4 * nx, u(:, 1:nx, 1:2), below, u(:, 1:nx, ny + 1:ny + 2), above)
        end if
    end subroutine exchange

    subroutine pass(count, leaving, to, coming, from)
        integer, intent(in) :: count, to, from
        real(dp), intent(in) :: leaving(count)
        real(dp), intent(inout) :: coming(count)

        call MPI_Sendrecv(leaving, count, MPI_DOUBLE_PRECISION, to, 0, coming, count, &
                          MPI_DOUBLE_PRECISION, from, 0, grid, MPI_STATUS_IGNORE, ierror)
    end subroutine pass

    ! Advance all lines along an axis; in a line, velocity 1 is the one along it.
    subroutine sweep(axis, dt)
        integer, intent(in) :: axis
        real(dp), intent(in) :: dt
        real(dp) :: line(4, 1 - ghosts:max(nx, ny) + ghosts)
        integer, parameter :: turned(4) = [1, 3, 2, 4]
        integer :: k

        call exchange(axis)
        if (axis == 1) then
            do k = 1, ny
                line(:, :nx + ghosts) = u(:, :, k)
                call advance(nx, line, axis, dt / width)
                u(:, 1:nx, k) = line(:, 1:nx)
            end do
        else
            do k = 1, nx
                line(:, :ny + ghosts) = u(turned, k, :)
                call advance(ny, line, axis, dt / width)
                u(:, k, 1:ny) = line(turned, 1:ny)
            end do
        end if
    end subroutine sweep

    ! One line: walls reflect, then slopes, half a step, fluxes, a whole step.
    subroutine advance(n, line, axis, ratio)
        integer, intent(in) :: n, axis
        real(dp), intent(inout) :: line(4, 1 - ghosts:n + ghosts)
        real(dp), intent(in) :: ratio
        real(dp), parameter :: mirror(4) = [1.0_dp, -1.0_dp, 1.0_dp, 1.0_dp]
        real(dp) :: left(4, 0:n + 1), right(4, 0:n + 1), flow(4, 0:n), slope(4), change(4)
        integer :: i

        do i = 1, ghosts
            if (low(axis) == MPI_PROC_NULL) line(:, 1 - i) = mirror * line(:, i)
            if (high(axis) == MPI_PROC_NULL) line(:, n + i) = mirror * line(:, n + 1 - i)
        end do
        do i = 0, n + 1
            slope = 0.5_dp * minmod(line(:, i) - line(:, i - 1), line(:, i + 1) - line(:, i))
            left(:, i) = line(:, i) - slope
            right(:, i) = line(:, i) + slope
            change = 0.5_dp * ratio * (flux(left(:, i)) - flux(right(:, i)))
            left(:, i) = left(:, i) + change
            right(:, i) = right(:, i) + change
        end do
        do i = 0, n
            flow(:, i) = riemann(right(:, i), left(:, i + 1))
        end do
        line(:, 1:n) = line(:, 1:n) + ratio * (flow(:, :n - 1) - flow(:, 1:))
    end subroutine advance

    elemental real(dp) function minmod(a, b)
        real(dp), intent(in) :: a, b

        minmod = 0.0_dp
        if (a * b > 0.0_dp) minmod = sign(min(abs(a), abs(b)), a)
    end function minmod

    pure function flux(q) result(f)
        real(dp), intent(in) :: q(4)
        real(dp) :: f(4), speed, p

        speed = q(2) / q(1)
        p = pressure(q)
        f = [q(2), q(2) * speed + p, q(3) * speed, (q(4) + p) * speed]
    end function flux

    ! The flux of Harten, Lax and van Leer between two states.
    pure function riemann(a, b) result(f)
        real(dp), intent(in) :: a(4), b(4)
        real(dp) :: f(4), slow, fast, sound_a, sound_b

        sound_a = sqrt(heats * pressure(a) / a(1))
        sound_b = sqrt(heats * pressure(b) / b(1))
        slow = min(a(2) / a(1) - sound_a, b(2) / b(1) - sound_b, 0.0_dp)
        fast = max(a(2) / a(1) + sound_a, b(2) / b(1) + sound_b, 0.0_dp)
        f = (fast * flux(a) - slow * flux(b) + fast * slow * (b - a)) / (fast - slow)
    end function riemann
end program hydro
