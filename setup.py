"""Builds the compiled core: each cbpe/_core/*.pyx is one extension module of the same name.

Set CBPE_DEBUG=1 when building to check every index and to keep line tracing (for coverage and debuggers) in the Cython code.
CBPE_CFLAGS is added to the compiler's and the linker's arguments, for example "-fsanitize=address,undefined".
"""

import os
from glob import glob
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("CBPE_DEBUG", "0") not in ("", "0")
EXTRA = os.environ.get("CBPE_CFLAGS", "").split()

directives = {
    "language_level": 3,
    "embedsignature": True,
    "cdivision": True,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "linetrace": DEBUG,
    "freethreading_compatible": True,
}
sources = sorted(Path(path).as_posix() for path in glob("cbpe/_core/*.pyx"))
extensions = [
    Extension(
        source.removesuffix(".pyx").replace("/", "."),
        [source],
        include_dirs=["cbpe/_core", "cbpe/_unicode"],
        depends=sorted(glob("cbpe/_core/*.h") + glob("cbpe/_unicode/*.h")),
        extra_compile_args=["-O1" if DEBUG else "-O3", "-g" if DEBUG else "-g0", *EXTRA],
        extra_link_args=EXTRA,
        define_macros=[("CYTHON_TRACE_NOGIL", "1")] if DEBUG else [],
    )
    for source in sources
]

setup(ext_modules=cythonize(extensions, compiler_directives=directives, force=DEBUG))
