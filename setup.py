"""Compile the C kernels and put templates and shim sources into the wheel."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
MANUALS = sorted(str(page.relative_to(HERE)) for page in HERE.glob("docs/man/*.1"))
KERNELS = sorted(path.stem for path in (HERE / "skelgen/_kernels").glob("[!_]*.c"))


class BuildWithShare(build_py):
    """Copy the folders that are not Python below ``skelgen/_share``."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        for name in ("templates", "pmpi_shim"):
            target = Path(self.build_lib) / "skelgen/_share" / name
            shutil.copytree(
                HERE / name,
                target,
                dirs_exist_ok=True,
                ignore=shutil.ignore_patterns("build", "__pycache__"),
            )


setup(
    data_files=[("share/man/man1", MANUALS)],
    cffi_modules=[f"skelgen/_kernels/build.py:{name}" for name in KERNELS],
    cmdclass={"build_py": BuildWithShare},
    # Kernels use the limited API of Python only: one wheel is for all later versions.
    # As many are compiled at once as there are cores.
    options={
        "bdist_wheel": {"py_limited_api": "cp311"},
        "build_ext": {"parallel": True},
    },
)
