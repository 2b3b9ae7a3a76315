# make install, and the package that lets another project say find_package(eps).
include(CMakePackageConfigHelpers)

install(TARGETS eps eps_torch EXPORT eps_targets)
install(TARGETS eps_cli)
include(EpsPublicHeaders)
foreach(header ${EPS_PUBLIC_HEADERS})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()
# The networks that come with eps, where eps/model/bundled.h looks for them.
if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/models)
  install(DIRECTORY models DESTINATION ${CMAKE_INSTALL_DATADIR}/eps)
endif()
install(EXPORT eps_targets NAMESPACE eps:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/eps)
configure_package_config_file(cmake/epsConfig.cmake.in epsConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/eps)
write_basic_package_version_file(epsConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/epsConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/epsConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/eps)
