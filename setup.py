"""Builds the compiled core: each .pyx below cbpe/_core is one extension module of the same name.

Three environment variables change the build. CBPE_DEBUG=1 checks every index in the Cython code; CBPE_TRACE=1 has it
tell coverage and debuggers of its lines; CBPE_CFLAGS is added to the compiler's and the linker's arguments, for example
"-fsanitize=address,undefined". Where CYTHON_CACHE_DIR names a folder, builds share there what Cython has translated.
"""

import multiprocessing
import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

DEBUG, TRACE = (os.environ.get(name, "0") not in ("", "0") for name in ("CBPE_DEBUG", "CBPE_TRACE"))
EXTRA_FLAGS = os.environ.get("CBPE_CFLAGS", "").split()

DIRECTIVES = {
    "language_level": 3,
    "embedsignature": True,
    "cdivision": True,
    "boundscheck": DEBUG,
    "wraparound": False,
    # What has no declared type is a Python object. An inferred C int overflows without a word.
    "infer_types": False,
    "initializedcheck": DEBUG,
    "linetrace": TRACE,
    "freethreading_compatible": True,
}

# Where the loops over text and tokens are, for which the compiler does all it can. Around them, where Python's objects
# are handled, that gains nothing, and is most of what there is to compile.
LOOPS = ("arrow.json_lines", "c", "calls.batch", "conversion.json_lists", "conversion.merge_lists", "counting.pieces",
         "decoding", "encoding", "merging", "splitting.blocks", "splitting.bonds", "splitting.split", "text.changes",
         "text.chunks", "text.json_text", "text.utf8", "training.candidates", "training.layout", "training.learn",
         "training.spelling", "vocabulary.buckets", "vocabulary.words")  # fmt: skip


class BuildCore(build_ext):
    """Translates to C in the build folder, not among the sources, and compiles with flags of the compiler at hand."""

    def finalize_options(self):
        super().finalize_options()
        if self.editable_mode:  # which setuptools builds in a new folder each time, where nothing is known from before
            usual = self.distribution.get_command_class("build")(self.distribution)
            usual.ensure_finalized()
            self.build_temp = usual.build_temp
        self.parallel = self.parallel or os.cpu_count()

    def build_extensions(self):
        self.rebuild_if_configured_otherwise()
        for extension in self.extensions:
            optimization = self.optimization_flags(has_loops(extension.name))
            extension.extra_compile_args = [*optimization, *self.first_included(), *EXTRA_FLAGS]
            extension.extra_link_args = EXTRA_FLAGS
        translated = cythonize(
            self.extensions,
            build_dir=self.build_temp,
            compiler_directives=DIRECTIVES,
            force=self.force,
            cache=os.environ.get("CYTHON_CACHE_DIR", False),
            nthreads=processes(),
        )
        # cythonize returns copies, and setuptools has hung names of its own on the originals.
        for extension, copy in zip(self.extensions, translated, strict=True):
            extension.sources = copy.sources
        super().build_extensions()

    def optimization_flags(self, most):
        if self.compiler.compiler_type == "msvc":
            return ["/Od", "/Zi"] if DEBUG else ["/O2"]
        return ["-O1", "-g"] if DEBUG else ["-O3" if most else "-O2", "-g0"]

    def first_included(self):
        # It puts other functions in the place of Python's: see there.
        return ["/FIgil.h"] if self.compiler.compiler_type == "msvc" else ["-include", "gil.h"]

    def rebuild_if_configured_otherwise(self):
        # Files are compared by their age alone, which does not tell a debug build from another.
        configuration = f"{DIRECTIVES} {LOOPS} {self.first_included()} {EXTRA_FLAGS}"
        record = Path(self.build_temp, "configuration")
        if record.exists() and record.read_text() != configuration:
            self.force = True
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(configuration)


def has_loops(module):
    """Whether a module, "cbpe._core.merging.walk" for example, is one of LOOPS."""
    place = module.removeprefix("cbpe._core.")
    return any(place == one or place.startswith(f"{one}.") for one in LOOPS)


def processes():
    """How many translate at once; 0 for this one alone. Where they are not forked they would run this file again."""
    return os.cpu_count() if multiprocessing.get_start_method() == "fork" else 0


def files(*patterns):
    return sorted(path.as_posix() for pattern in patterns for path in Path().glob(pattern))


setup(
    cmdclass={"build_ext": BuildCore},
    ext_modules=[
        Extension(
            source.removesuffix(".pyx").replace("/", "."),
            [source],
            include_dirs=["cbpe/_core/c", "cbpe/_unicode"],
            depends=files("cbpe/_core/**/*.pxd", "cbpe/_core/c/*.h", "cbpe/_unicode/*.h"),
            define_macros=[("CYTHON_TRACE_NOGIL", "1")] if TRACE else [],
        )
        for source in files("cbpe/_core/**/*.pyx")
    ],
)
