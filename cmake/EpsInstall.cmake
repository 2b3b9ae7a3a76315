# make install, and the package that lets another project say find_package(eps).
include(CMakePackageConfigHelpers)

install(TARGETS eps eps_torch EXPORT eps_targets)
install(TARGETS eps_cli)
install(DIRECTORY eps DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT eps_targets NAMESPACE eps:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/eps)
configure_package_config_file(cmake/epsConfig.cmake.in epsConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/eps)
write_basic_package_version_file(epsConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/epsConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/epsConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/eps)
