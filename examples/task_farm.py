"""task_farm: tasks of different length for whoever asks, in Python with mpi4py.

mpirun -n 4 python task_farm.py [TASKS] [MILLISECONDS OF A TASK]

Workers ask, compute, hand in what they found and ask again: two messages for a task.
The master takes them from any source and with any tag, as they come.
"""

import sys

from mpi4py import MPI

ASK, TASK, RESULT, STOP = range(4)
#: Additions that take about a millisecond.
STEPS = 20_000


def hand_out(world: MPI.Intracomm, tasks: int) -> int:
    status = MPI.Status()
    total, begun, working = 0, 0, world.Get_size() - 1
    while working:
        said = world.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        worker = status.Get_source()
        if status.Get_tag() == RESULT:
            total += said
        elif begun < tasks:
            world.send(begun, dest=worker, tag=TASK)
            begun += 1
        else:
            world.send(None, dest=worker, tag=STOP)
            working -= 1
    return total


def work(world: MPI.Intracomm, milliseconds: float) -> None:
    status = MPI.Status()
    while True:
        world.send(None, dest=0, tag=ASK)
        task = world.recv(source=0, tag=MPI.ANY_TAG, status=status)
        if status.Get_tag() == STOP:
            return
        found = 0
        for i in range(int(STEPS * milliseconds * (1 + task % 3) / 2)):
            found += i & task
        world.send(found, dest=0, tag=RESULT)


def main() -> None:
    world = MPI.COMM_WORLD
    tasks = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    milliseconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
    if world.Get_rank():
        work(world, milliseconds)
    else:
        print(f"task_farm: {tasks} tasks, sum {hand_out(world, tasks)}")


if __name__ == "__main__":
    main()
