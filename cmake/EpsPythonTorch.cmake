# The torch that Python imports: the only one that the Python package may be linked to, since two
# libtorch in one process do not work.
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)

# pip builds in an environment of its own, which hides that of the user by PYTHONPATH.
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env --unset=PYTHONPATH --unset=PYTHONNOUSERSITE ${Python_EXECUTABLE} -c
          "import os, torch; print(torch.__version__, os.path.dirname(torch.__file__), int(torch.compiled_with_cxx11_abi()), sep=';')"
  OUTPUT_VARIABLE found
  OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE failed
  ERROR_QUIET)
if(failed)
  message(FATAL_ERROR "eps needs the torch of ${Python_EXECUTABLE}, which cannot import any. Install it first: Debian's "
                      "python3-torch, in an environment with --system-site-packages, or pip install torch")
endif()
# A build folder serves one torch: CMake remembers where it found its libraries, and would mix those of two.
if(EPS_PYTHON_TORCH AND NOT EPS_PYTHON_TORCH STREQUAL found)
  message(FATAL_ERROR "${CMAKE_BINARY_DIR} was made for the torch ${EPS_PYTHON_TORCH}, and ${Python_EXECUTABLE} imports "
                      "${found}: take another folder, or remove this one")
endif()
set(EPS_PYTHON_TORCH "${found}" CACHE INTERNAL "The torch that this folder is for: version, folder, C++ ABI")
list(GET found 0 EPS_TORCH_VERSION)
string(REGEX MATCH "^[0-9]+\\.[0-9]+\\.[0-9]+" EPS_TORCH_NUMBER ${EPS_TORCH_VERSION})
list(GET found 1 folder)
list(GET found 2 cxx11_abi)

# The CMake files of a torch for CUDA fail where there is no CUDA toolkit, of which eps needs nothing without a CUDA
# compiler: then its libraries are named here.
include(CheckLanguage)
if(EXISTS ${folder}/lib/libtorch_cuda.so)
  check_language(CUDA)
endif()
if(EXISTS ${folder}/lib/libtorch_cuda.so AND NOT CMAKE_CUDA_COMPILER)
  message(STATUS "A torch for CUDA without a CUDA compiler: no CUDA kernels")
  set(Torch_FOUND ON)
  set(Torch_VERSION ${EPS_TORCH_NUMBER})
  set(TORCH_INSTALL_PREFIX ${folder})
  set(TORCH_INCLUDE_DIRS ${folder}/include ${folder}/include/torch/csrc/api/include)
  set(TORCH_CXX_FLAGS -D_GLIBCXX_USE_CXX11_ABI=${cxx11_abi})
  # libtorch.so is empty, and brings the libraries for CUDA.
  add_library(torch INTERFACE IMPORTED GLOBAL)
  set_target_properties(
    torch
    PROPERTIES INTERFACE_COMPILE_OPTIONS "${TORCH_CXX_FLAGS}"
               INTERFACE_LINK_OPTIONS LINKER:--allow-shlib-undefined
               INTERFACE_LINK_LIBRARIES
               "-Wl,--no-as-needed,${folder}/lib/libtorch.so,--as-needed;${folder}/lib/libtorch_cpu.so;${folder}/lib/libc10.so")
  set(TORCH_LIBRARIES torch)
  # PyPI's torch has libraries, headers and CMake files; Debian's are those of libtorch-dev.
elseif(EXISTS ${folder}/share/cmake/Torch)
  # All of them by name: torch's own files look for the others in the system first.
  list(PREPEND CMAKE_PREFIX_PATH ${folder})
  set(Torch_DIR ${folder}/share/cmake/Torch CACHE PATH "The torch of Python" FORCE)
  set(Caffe2_DIR ${folder}/share/cmake/Caffe2 CACHE PATH "The torch of Python" FORCE)
endif()
if(NOT Torch_FOUND)
  find_package(Torch CONFIG REQUIRED)
endif()
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
