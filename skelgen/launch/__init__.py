"""Run MPI programs: find the MPI, write the launch command, record a run.

In: a command or a program with its ranks and hosts. Out: argument lists, and what
a process that ended left behind. Knows nothing of traces or skeletons.
Paper: Sodhi and Subhlok 2005, section III-A (recording) and IV (runs on node sets).
"""
