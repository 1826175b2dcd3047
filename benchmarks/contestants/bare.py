"""The actors that an agent is compared with: one that imports nothing, and one that imports step by step."""

import gc
import importlib
import os
import time

import psutil


class Bare:
    """An actor that does nothing: what Ray itself costs."""

    def pid(self) -> int:
        """Its process."""
        return os.getpid()


class Importer:
    """An actor that imports what it is told to and says what that cost."""

    def memory(self) -> tuple[float, float]:
        """RSS and USS of its process now, in MB (10⁶ bytes)."""
        gc.collect()
        return memory(os.getpid())

    def after_import(self, module: str) -> tuple[float, float, float]:
        """Seconds to import a module, and the memory after it."""
        started = time.perf_counter()
        importlib.import_module(module)
        return time.perf_counter() - started, *self.memory()


def memory(pid: int) -> tuple[float, float]:
    """RSS and USS of a process in MB (10⁶ bytes). USS is what ending the process would free."""
    found = psutil.Process(pid).memory_full_info()
    return found.rss / 1e6, found.uss / 1e6
