# Optimizes each program of src/ over the borders of its files and folders: the floors keep their headers small, and the
# compiler sees through them. Only where code is optimized at all, and only in src/: the programs of fixtures/ are there to
# have the stacks that they were written with. A cross-build is left alone: its compiler's plug-in for archives is seldom
# installed.
include(CheckIPOSupported)

option(NPUMEM_WHOLE_PROGRAM "Optimize over all files of a program (Release, RelWithDebInfo)" ON)

set(CMAKE_POLICY_DEFAULT_CMP0069 NEW)
if(NPUMEM_WHOLE_PROGRAM AND CMAKE_BUILD_TYPE MATCHES "^Rel" AND NOT CMAKE_CROSSCOMPILING)
  check_ipo_supported(RESULT npumem_is_whole OUTPUT npumem_why_not LANGUAGES C)
  if(NOT npumem_is_whole)
    message(STATUS "Programs are optimized file by file: ${npumem_why_not}")
  endif()
else()
  set(npumem_is_whole OFF)
endif()
