"""Several processes of the app, started by mpirun, on one machine."""
import os
from pathlib import Path

MPIRUN = ["mpirun", "--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]
# Only for tests: mpirun refuses root because a mistake in a user's environment could do harm.
# Open MPI unloads its components without freeing their memory, which LeakSanitizer would report.
# To find GPUs, its library hwloc would connect to every X server of the machine, and mpirun would
# end when another test stops its server meanwhile.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "HWLOC_COMPONENTS": "-gl",
               "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


def unlike_rank_0(shell):
    """Stands before a program of mpirun: all ranks but rank 0 first execute the shell command.
    (Where mpirun is given two programs, with a colon between them, that of Open MPI 5.0.7 crashes.)"""
    return ["sh", "-c", f'[ "$OMPI_COMM_WORLD_RANK" = 0 ] || {shell}; exec "$0" "$@"']


def children_of(pid):
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def ranks_of(mpirun):
    """The processes that this mpirun has started, by rank. Newer versions have one of their own
    between."""
    found = {}
    for child in children_of(mpirun):
        rank = rank_of(child)
        found |= ranks_of(child) if rank is None else {rank: child}
    return found


def rank_of(pid):
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    for variable in variables:
        if variable.startswith(b"OMPI_COMM_WORLD_RANK="):
            return int(variable.partition(b"=")[2])
    return None


def runs(pid):
    """Not of a process that has ended and whose parent has not noticed."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def seconds_of(pid):
    """CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
