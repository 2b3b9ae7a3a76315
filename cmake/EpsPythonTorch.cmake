# The torch that Python imports: the only one that the Python package may be linked to, since two
# libtorch in one process do not work.
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)

# pip builds in an environment of its own, which hides that of the user by PYTHONPATH.
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env --unset=PYTHONPATH --unset=PYTHONNOUSERSITE ${Python_EXECUTABLE} -c
          "import os, torch; print(torch.__version__, os.path.dirname(torch.__file__), sep=';')"
  OUTPUT_VARIABLE found
  OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE failed
  ERROR_QUIET)
if(failed)
  message(FATAL_ERROR "eps needs the torch of ${Python_EXECUTABLE}, which cannot import any. Install it first: Debian's "
                      "python3-torch, in an environment with --system-site-packages, or pip install torch")
endif()
list(GET found 0 EPS_TORCH_VERSION)
list(GET found 1 folder)

# PyPI's torch has libraries, headers and CMake files; Debian's are those of libtorch-dev.
if(EXISTS ${folder}/share/cmake/Torch)
  # All of them by name: torch's own files look for the others in the system first.
  list(PREPEND CMAKE_PREFIX_PATH ${folder})
  set(Torch_DIR ${folder}/share/cmake/Torch CACHE PATH "The torch of Python" FORCE)
  set(Caffe2_DIR ${folder}/share/cmake/Caffe2 CACHE PATH "The torch of Python" FORCE)
endif()
find_package(Torch CONFIG REQUIRED)
string(REGEX MATCH "^[0-9]+\\.[0-9]+\\.[0-9]+" EPS_TORCH_NUMBER ${EPS_TORCH_VERSION})
if(NOT Torch_VERSION VERSION_EQUAL EPS_TORCH_NUMBER)
  message(FATAL_ERROR "${Python_EXECUTABLE} imports torch ${EPS_TORCH_VERSION}, and the libtorch found, ${Torch_DIR}, is "
                      "${Torch_VERSION}: name the libtorch of that torch with -DTorch_DIR=...")
endif()
find_library(EPS_TORCH_PYTHON_LIBRARY torch_python REQUIRED HINTS ${folder}/lib ${TORCH_INSTALL_PREFIX}/lib)

# torch's own pybind11, if it brings one: its headers mix with those of torch.
find_path(EPS_PYBIND11_INCLUDE_DIR pybind11/pybind11.h PATHS ${TORCH_INCLUDE_DIRS} NO_DEFAULT_PATH)
if(NOT EPS_PYBIND11_INCLUDE_DIR)
  find_package(pybind11 CONFIG REQUIRED)
  set(EPS_PYBIND11_INCLUDE_DIR ${pybind11_INCLUDE_DIRS})
endif()
