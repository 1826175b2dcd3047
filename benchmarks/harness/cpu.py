"""Processor seconds: what a figure costs where a busy machine blurs wall time."""

import psutil
import psycopg


def process_seconds(pid: int) -> float:
    """Processor seconds (user and system) that a process has used."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def postmaster_pid(url: str) -> int:
    """The process id of the server behind `url`, which must run on this machine."""
    with psycopg.connect(url) as connection:
        return int(psutil.Process(connection.info.backend_pid).ppid())


def server_seconds(postmaster: int) -> float:
    """Processor seconds that a Postgres has used, with those of connections that have ended."""
    server = psutil.Process(postmaster)
    ended = server.cpu_times()
    total = process_seconds(postmaster) + float(ended.children_user + ended.children_system)
    for child in server.children():
        try:
            total += process_seconds(child.pid)
        except psutil.NoSuchProcess:
            continue
    return total


def tree_seconds(pid: int) -> float:
    """Processor seconds of a process and of all that it started, with those that have ended."""
    total, root = 0.0, psutil.Process(pid)
    for each in (root, *root.children(recursive=True)):
        try:
            times = each.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += float(times.user + times.system + times.children_user + times.children_system)
    return total


def started_seconds(*, but: set[int]) -> float:
    """Processor seconds of all that this process has started, with those that have ended, but for some."""
    own = psutil.Process()
    ended = own.cpu_times()
    total = float(ended.children_user + ended.children_system)
    for child in own.children():
        if child.pid not in but:
            try:
                total += tree_seconds(child.pid)
            except psutil.NoSuchProcess:
                continue
    return total
