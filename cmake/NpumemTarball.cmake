# `cmake --build BUILD --target tarball`: BUILD/npumem-VERSION-linux-ARCH.tar.gz, which works from any folder and needs
# nothing but libc (NpumemPortable.cmake). Built apart, in BUILD/tarball, since its programs are linked in another way.
set(NPUMEM_TARBALL npumem-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(tarball_options -DNPUMEM_PORTABLE=ON -DNPUMEM_BUILD_TESTS=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo
                    -DCMAKE_INSTALL_PREFIX=/usr/local -DCMAKE_INSTALL_LIBDIR=lib)
if(CMAKE_TOOLCHAIN_FILE)
  list(APPEND tarball_options -DCMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE})
else()
  list(APPEND tarball_options -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER})
endif()

add_custom_target(tarball
  COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${PROJECT_BINARY_DIR}/tarball ${tarball_options}
  COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR}/tarball --parallel
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${PROJECT_BINARY_DIR}/tarball/${NPUMEM_TARBALL}
  COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR}/tarball --strip
          --prefix ${PROJECT_BINARY_DIR}/tarball/${NPUMEM_TARBALL}
  COMMAND ${CMAKE_COMMAND} -E chdir ${PROJECT_BINARY_DIR}/tarball ${CMAKE_COMMAND} -E tar czf
          ${PROJECT_BINARY_DIR}/${NPUMEM_TARBALL}.tar.gz ${NPUMEM_TARBALL}
  COMMENT "${NPUMEM_TARBALL}.tar.gz"
  VERBATIM USES_TERMINAL)
