# `cmake --build BUILD --target tarball`: BUILD/npumem-VERSION-linux-ARCH.tar.gz, which works from any folder.
# `cmake --build BUILD --target packages`: that, and a .deb and an .rpm of the same programs. All need nothing but libc
# (NpumemPortable.cmake). They are built apart, in BUILD/portable, since their programs are linked in another way; from one
# to the next little is built anew: what knows where libraries lie. CPack makes the files; .rpm wants rpmbuild.
# Targets `quick_tarball` and `quick_packages` are for tests, in BUILD/quick: no .rpm, programs optimized little and file by file, packed fast.

# Which one the build in BUILD/portable is for: TGZ, DEB or RPM. Those of a system lie where it looks.
set(NPUMEM_PACKAGE TGZ CACHE STRING "With NPUMEM_PORTABLE: TGZ, DEB or RPM")
# Who builds Debian's packages has both in the environment; nobody else is known here, and no address is made up.
set(contact "whoever built this package")
if(NOT "$ENV{DEBFULLNAME}" STREQUAL "" AND NOT "$ENV{DEBEMAIL}" STREQUAL "")
  set(contact "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(NPUMEM_PACKAGE_CONTACT "${contact}" CACHE STRING "Who answers for a package: NAME <ADDRESS>")

set(debian_folder lib)
if(CMAKE_LIBRARY_ARCHITECTURE)
  set(debian_folder lib/${CMAKE_LIBRARY_ARCHITECTURE})
endif()
set(place_TGZ -DCMAKE_INSTALL_PREFIX=/usr/local -DCMAKE_INSTALL_LIBDIR=lib)
set(place_DEB -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=${debian_folder})
set(place_RPM -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib64)

# As RelWithDebInfo, without what is stripped when it is packed.
set(portable_options -DNPUMEM_PORTABLE=ON -DNPUMEM_BUILD_TESTS=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo
                     "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -DNDEBUG"
                     "-DNPUMEM_PACKAGE_CONTACT=${NPUMEM_PACKAGE_CONTACT}")
if(CMAKE_TOOLCHAIN_FILE)
  list(APPEND portable_options -DCMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE})
else()
  list(APPEND portable_options -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER})
endif()

# Whoever builds them may run tests at the same time: not more at once than there are processors.
include(ProcessorCount)
ProcessorCount(processor_count)
if(processor_count EQUAL 0)
  set(processor_count 1)
endif()

# npumem_add_packages(TARGET FOLDER OPTIONS KIND...): builds and packs each kind, one after the other, in FOLDER.
function(npumem_add_packages target folder options)
  set(portable ${folder}/portable)
  set(commands "")
  foreach(kind IN LISTS ARGN)
    list(APPEND commands
      COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${portable} -G ${CMAKE_GENERATOR} ${portable_options} ${options}
              -DNPUMEM_PACKAGE=${kind} ${place_${kind}}
      COMMAND ${CMAKE_COMMAND} --build ${portable} --parallel ${processor_count}
      COMMAND ${CMAKE_CPACK_COMMAND} -G ${kind} --config ${portable}/CPackConfig.cmake -B ${folder})
  endforeach()
  add_custom_target(${target} ${commands} COMMENT "${target}: ${ARGN}" VERBATIM USES_TERMINAL)
endfunction()

if(NOT NPUMEM_PORTABLE)
  set(quick_options -DNPUMEM_WHOLE_PROGRAM=OFF "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -DNDEBUG" -DNPUMEM_DEBIAN_COMPRESSION=gzip)
  npumem_add_packages(tarball ${PROJECT_BINARY_DIR} "" TGZ)
  npumem_add_packages(packages ${PROJECT_BINARY_DIR} "" DEB RPM TGZ)
  npumem_add_packages(quick_tarball ${PROJECT_BINARY_DIR}/quick "${quick_options}" TGZ)
  npumem_add_packages(quick_packages ${PROJECT_BINARY_DIR}/quick "${quick_options}" DEB TGZ)
  return()
endif()

# ---- In BUILD/portable ----

set(CPACK_PACKAGE_NAME npumem)
set(CPACK_PACKAGE_VENDOR npumem)
set(CPACK_PACKAGE_CONTACT ${NPUMEM_PACKAGE_CONTACT})
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "records the memory of NPU programs and answers questions about it")
set(CPACK_PACKAGE_DESCRIPTION "A recorder writes what a program on an Ascend NPU does with memory into a
trace, without a change to the program. An ingest tool makes an SQLite
database of it, which says what leaks, what the peak is made of, how
fragmented memory is, and how often the pool served a request by itself.")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                                WORLD_EXECUTE)
set(CPACK_PACKAGE_FILE_NAME npumem-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
if(NPUMEM_PACKAGE STREQUAL TGZ)
  set(CPACK_PACKAGING_INSTALL_PREFIX /)
endif()

# The oldest libc that has all that npumem-record wants: a test looks.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.25)")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS sqlite3)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS python3)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(NPUMEM_DEBIAN_COMPRESSION xz CACHE STRING "How a .deb is packed")
set(CPACK_DEBIAN_COMPRESSION_TYPE ${NPUMEM_DEBIAN_COMPRESSION})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/triggers)

set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_ARCHITECTURE ${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_COMPRESSION_TYPE xz) # older ones than rpm 4.14 know no zstd
set(CPACK_RPM_PACKAGE_SUGGESTS sqlite)
# They are packed as CMake has installed and stripped them, on whichever system that is.
set(CPACK_RPM_SPEC_INSTALL_POST "/bin/true")
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _build_id_links none
%define debug_package %{nil}
%global __requires_exclude ^/usr/bin/pkg-config$")
file(WRITE ${PROJECT_BINARY_DIR}/ldconfig.sh "/sbin/ldconfig\n")
set(CPACK_RPM_POST_INSTALL_SCRIPT_FILE ${PROJECT_BINARY_DIR}/ldconfig.sh)
set(CPACK_RPM_POST_UNINSTALL_SCRIPT_FILE ${PROJECT_BINARY_DIR}/ldconfig.sh)
# Folders of others.
foreach(folder include lib64/pkgconfig share/man share/man/man1 share/doc share/bash-completion share/bash-completion/completions
               share/zsh share/zsh/site-functions share/fish share/fish/vendor_completions.d)
  list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/${folder})
endforeach()

include(CPack)
