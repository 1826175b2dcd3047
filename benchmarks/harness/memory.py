"""Memory of processes: PSS, in which what several share is counted once."""

from collections.abc import Mapping

import psutil


def pss_of(groups: Mapping[str, str]) -> dict[str, float]:
    """MB of the process trees whose roots have a text in their command lines, by the group's name.

    Args:
        groups: the text by the name of its group. Of a tree, the processes below are its root's.
    """
    found: dict[str, float] = dict.fromkeys(groups, 0.0)
    for process in psutil.Process().children(recursive=True):
        try:
            command = " ".join(process.cmdline())
            for name, text in groups.items():
                if text in command:
                    found[name] += sum(_pss_mb(each) for each in (process, *process.children(recursive=True)))
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue  # ended meanwhile
    return found


def _pss_mb(process: psutil.Process) -> float:
    try:
        return float(process.memory_full_info().pss) / 1024**2
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return 0.0
