# Optimizes each program of src/ over the borders of its files and folders: the floors keep their headers small, and the
# compiler sees through them. Only where code is optimized at all, and only the programs: what is loaded into the recorded
# program stays as it is written (the hook's entries name functions in assembly), and the programs of fixtures/ are there
# to have the stacks that they were written with. A cross-build is left alone: its compiler's plug-in for archives is seldom
# installed.
include(CheckIPOSupported)

option(NPUMEM_WHOLE_PROGRAM "Optimize over all files of a program (Release, RelWithDebInfo)" ON)

set(CMAKE_POLICY_DEFAULT_CMP0069 NEW)
if(NPUMEM_WHOLE_PROGRAM AND CMAKE_BUILD_TYPE MATCHES "^Rel" AND CMAKE_C_COMPILER_ID STREQUAL GNU AND NOT CMAKE_CROSSCOMPILING)
  check_ipo_supported(RESULT npumem_is_whole OUTPUT npumem_why_not LANGUAGES C)
  if(NOT npumem_is_whole)
    message(STATUS "Programs are optimized file by file: ${npumem_why_not}")
  endif()
  # Objects hold both forms, so that hundreds of tests need not be optimized as programs are (npumem_optimize_by_file).
  # Without tests nobody wants the other one.
  set(CMAKE_C_COMPILE_OPTIONS_IPO -flto=auto)
  if(NPUMEM_BUILD_TESTS)
    list(APPEND CMAKE_C_COMPILE_OPTIONS_IPO -ffat-lto-objects)
  endif()
else()
  set(npumem_is_whole OFF)
endif()

# Says it for the targets of a folder of src/ that come next.
macro(npumem_optimize_together folder)
  if(npumem_is_whole AND NOT "${folder}" MATCHES "^(record|hook)$")
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  else()
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF)
  endif()
endmacro()

# What is added from here on takes the objects as they are.
macro(npumem_optimize_by_file)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF)
  if(npumem_is_whole)
    add_link_options(-fno-lto)
  endif()
endmacro()
