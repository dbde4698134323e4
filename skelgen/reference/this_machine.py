"""What is known of this machine without measuring it."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def cpu_model() -> str:
    """Return the name of this machine's processor."""
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        text = ""
    for line in text.splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def at_a_time(processes: int) -> int:
    """Return how many of these processes this machine runs at a time, at least 1."""
    return max(1, min(processes, os.cpu_count() or 1))
