# Everything eps builds on: Debian packages, or what a CUDA machine with PyTorch carries.

# libtorch: Debian's libtorch-dev, a libtorch on CMAKE_PREFIX_PATH, or the one inside python3's torch.
# The Python package takes the torch that its Python imports.
if(EPS_PYTHON)
  include(EpsPythonTorch)
else()
  find_package(Torch CONFIG QUIET)
endif()
if(NOT Torch_FOUND)
  execute_process(
    COMMAND python3 -c "import torch; print(torch.utils.cmake_prefix_path)"
    OUTPUT_VARIABLE torch_prefix
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET)
  find_package(Torch CONFIG QUIET PATHS ${torch_prefix})
endif()
if(NOT Torch_FOUND)
  message(FATAL_ERROR "eps needs libtorch 1.13 or newer. Install Debian's libtorch-dev, "
                      "or name a libtorch with -DCMAKE_PREFIX_PATH=...")
endif()

# libtorch's headers are not warning-free: make them system headers. Those of an installed eps come
# with the Torch that it finds; CMake would refuse to export the path of an environment in the clone.
add_library(eps_torch INTERFACE)
add_library(eps::torch ALIAS eps_torch)
set_target_properties(eps_torch PROPERTIES EXPORT_NAME torch)
target_link_libraries(eps_torch INTERFACE ${TORCH_LIBRARIES})
target_include_directories(eps_torch SYSTEM INTERFACE "$<BUILD_INTERFACE:${TORCH_INCLUDE_DIRS}>")
if(TARGET torch_cuda)
  # PyPI's libtorch finds NCCL and others beside it when it is loaded; the linker looks first among those
  # of the system, which may be older.
  target_link_options(eps_torch INTERFACE LINKER:--allow-shlib-undefined)
endif()

# c10d, for runs of several processes: Gloo between CPUs, NCCL between GPUs. Its headers take in those
# of Gloo or NCCL and must get the ones libtorch was built with: Gloo's lie beside libtorch's own.
include(CheckCXXSourceCompiles)
function(eps_check_c10d backend header use)
  set(CMAKE_REQUIRED_QUIET ON)
  set(CMAKE_REQUIRED_FLAGS ${TORCH_CXX_FLAGS})
  set(CMAKE_REQUIRED_DEFINITIONS -DUSE_C10D_${backend})
  set(CMAKE_REQUIRED_INCLUDES ${EPS_${backend}_INCLUDE_DIR} ${TORCH_INCLUDE_DIRS} ${CUDAToolkit_INCLUDE_DIRS})
  # By name: Torch's targets bring the CUDA language with them, which this check does not speak.
  set(CMAKE_REQUIRED_LIBRARIES -L${TORCH_INSTALL_PREFIX}/lib ${ARGN} -Wl,--allow-shlib-undefined)
  check_cxx_source_compiles("#include <torch/csrc/distributed/c10d/${header}>
                             int main() { return ${use} == 0; }" EPS_HAS_${backend})
endfunction()
find_path(EPS_GLOO_INCLUDE_DIR gloo/context.h PATHS ${TORCH_INCLUDE_DIRS} NO_DEFAULT_PATH)
if(EPS_GLOO_INCLUDE_DIR)
  eps_check_c10d(GLOO ProcessGroupGloo.hpp "c10d::ProcessGroupGloo::createDefaultDevice()"
                 -ltorch_cpu -lc10)
endif()
if(NOT EPS_HAS_GLOO)
  message(STATUS "Gloo's headers not found beside libtorch's: no runs of several CPU processes (Debian: libgloo-dev)")
endif()
if(TARGET torch_cuda)
  find_path(EPS_NCCL_INCLUDE_DIR nccl.h HINTS ${TORCH_INSTALL_PREFIX}/../nvidia/nccl/include
                                              ${CUDAToolkit_INCLUDE_DIRS} ${CUDA_INCLUDE_DIRS})
  if(EPS_NCCL_INCLUDE_DIR)
    eps_check_c10d(NCCL ProcessGroupNCCL.hpp "torch::cuda::nccl::version()"
                   -ltorch_cuda -ltorch_cpu -lc10_cuda -lc10)
  endif()
  if(NOT EPS_HAS_NCCL)
    message(STATUS "nccl.h not found, or libtorch has no NCCL: no runs of several GPUs")
  endif()
endif()

# The CUDA kernels: for a libtorch with CUDA, where there is a CUDA compiler. libtorch asks nvcc for
# architectures of its own; ours are named beside the kernels.
set(EPS_CUDA OFF)
if(TARGET torch_cuda OR TORCH_CUDA_LIBRARIES)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    string(REGEX REPLACE "-gencode[ =][^ ]+" "" CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS}")
    set(EPS_CUDA ON)
  endif()
  message(STATUS "CUDA kernels: ${EPS_CUDA}")
endif()

# at::parallel_for is a header that runs on one thread unless it is compiled for OpenMP.
find_package(OpenMP COMPONENTS CXX)

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
find_package(ZLIB REQUIRED)
# cpp-httplib, for eps serve: Debian's is a library, others are a header. The server overrides what
# later versions declare in another way.
find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)
set(EPS_HTTPLIB "")
# Its libraries and options apart, for a target of which few files see it.
set(EPS_HTTPLIB_LINKED "")
set(EPS_HTTPLIB_OPTIONS "")
if(PkgConfig_FOUND)
  pkg_check_modules(EPS_CPP_HTTPLIB QUIET IMPORTED_TARGET cpp-httplib)
  if(TARGET PkgConfig::EPS_CPP_HTTPLIB)
    set(EPS_HTTPLIB PkgConfig::EPS_CPP_HTTPLIB Threads::Threads)
    set(EPS_HTTPLIB_OPTIONS ${EPS_CPP_HTTPLIB_CFLAGS})
    set(EPS_HTTPLIB_LINKED ${EPS_CPP_HTTPLIB_LINK_LIBRARIES})
  endif()
endif()
function(eps_check_httplib)
  set(CMAKE_REQUIRED_QUIET ON)
  set(CMAKE_REQUIRED_FLAGS ${TORCH_CXX_FLAGS})
  set(CMAKE_REQUIRED_LIBRARIES ${EPS_HTTPLIB} Threads::Threads)
  check_cxx_source_compiles("#include <httplib.h>
                             struct Own : httplib::Server {
                               bool ask(httplib::Stream& stream, bool& closed) {
                                 return process_request(stream, true, closed, nullptr);
                               }
                             };
                             int main() { return Own().is_running(); }" EPS_HAS_HTTPLIB)
endfunction()
eps_check_httplib()
if(NOT EPS_HAS_HTTPLIB)
  message(STATUS "cpp-httplib 0.11 to 0.14 not found: no eps serve (Debian: libcpp-httplib-dev)")
endif()
if(EPS_TESTS)
  find_package(GTest REQUIRED)
endif()
if(EPS_BENCHMARKS)
  find_package(benchmark QUIET)
  if(NOT benchmark_FOUND)
    message(STATUS "Google Benchmark not found: some benchmarks are left out (Debian: libbenchmark-dev)")
  endif()
endif()
