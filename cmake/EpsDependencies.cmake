# Everything eps builds on: Debian packages, or what a CUDA machine with PyTorch carries.

# libtorch: Debian's libtorch-dev, a libtorch on CMAKE_PREFIX_PATH, or the one inside python3's torch.
find_package(Torch CONFIG QUIET)
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

# libtorch's headers are not warning-free: make them system headers.
add_library(eps_torch INTERFACE)
add_library(eps::torch ALIAS eps_torch)
set_target_properties(eps_torch PROPERTIES EXPORT_NAME torch)
target_link_libraries(eps_torch INTERFACE ${TORCH_LIBRARIES})
target_include_directories(eps_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})

# at::parallel_for is a header that runs on one thread unless it is compiled for OpenMP.
find_package(OpenMP COMPONENTS CXX)

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
find_package(ZLIB REQUIRED)
if(EPS_TESTS)
  find_package(GTest REQUIRED)
endif()
if(EPS_BENCH)
  find_package(benchmark QUIET)
  if(NOT benchmark_FOUND)
    message(STATUS "Google Benchmark not found: make bench is left out (Debian: libbenchmark-dev)")
  endif()
endif()
