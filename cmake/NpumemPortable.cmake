# -DNPUMEM_PORTABLE=ON: programs that run on hosts which lack our libraries and have an older libc, for packages
# (NpumemPackages.cmake configures a build of its own with it). npumem-ingest is linked statically as a whole.
# npumem-record opens the driver's libdcmi.so at run time, so it needs libc as a library: it is bound to versions that old
# ones have (src/tool/record/portable.c), and everything else goes into it.

# Takes the place of find_package and pkg-config: the static library of each name, in linking order.
function(npumem_portable_library target)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  foreach(name IN LISTS ARGN)
    find_library(NPUMEM_STATIC_${name} lib${name}.a)
    if(NOT NPUMEM_STATIC_${name})
      message(FATAL_ERROR "lib${name}.a is not there: install the package that has it (cmake/setup.sh lists them)")
    endif()
    target_link_libraries(${target} INTERFACE ${NPUMEM_STATIC_${name}})
  endforeach()
endfunction()

npumem_portable_library(PkgConfig::SQLITE sqlite3)
target_link_libraries(PkgConfig::SQLITE INTERFACE m) # of libc, as each program takes it
npumem_portable_library(PkgConfig::ZSTD zstd)
npumem_portable_library(PkgConfig::ZLIB z)
npumem_portable_library(PkgConfig::LIBDW dw elf z lzma bz2)
find_library(LIBCSV_LIBRARY libcsv.a REQUIRED)

# The functions that src/tool/record/portable.c binds.
set(npumem_bound_functions
    __libc_start_main closefrom dlclose dlopen dlsym fstat fstatat lstat pthread_condattr_setclock pthread_create pthread_join
    pthread_once pthread_rwlock_destroy pthread_rwlock_init pthread_rwlock_rdlock pthread_rwlock_tryrdlock pthread_rwlock_unlock
    pthread_rwlock_wrlock pthread_sigmask renameat2 stat)

# The compiler's file of that name: as libpthread.so.0, where older versions have functions that libc has since 2.34.
function(npumem_compiler_file out name)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${name} OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(${out} ${path} PARENT_SCOPE)
endfunction()

# Once the programs are there.
function(npumem_make_portable)
  npumem_compiler_file(threads libpthread.so.0)
  npumem_compiler_file(loader libdl.so.2)
  target_link_options(npumem-ingest PRIVATE -static)
  target_link_options(npumem-check PRIVATE -static)
  target_link_options(npumem-whatif PRIVATE -static)
  target_link_options(npumem-diff PRIVATE -static)
  target_link_options(npumem-stack PRIVATE -static)
  target_link_options(npumem-export PRIVATE -static)
  target_link_options(npumem-report PRIVATE -static)
  target_link_options(npumem-bundle PRIVATE -static)
  target_link_options(npumem-top PRIVATE -static)
  target_link_options(npumem-mcp PRIVATE -static)
  target_link_options(npumem-front PRIVATE -static)
  npumem_compiler_file(demangler libsupc++.a) # the C++ runtime's static part: names of C++ are shown as written
  if(EXISTS ${demangler})
    target_link_options(npumem-ingest PRIVATE -Wl,-u,__cxa_demangle)
    target_link_libraries(npumem-ingest PRIVATE ${demangler})
  else()
    message(STATUS "libsupc++.a is not there: names of C++ stay mangled")
    target_compile_definitions(nm_symbol PRIVATE NM_SYMBOL_PLAIN_NAMES)
  endif()
  list(TRANSFORM npumem_bound_functions PREPEND "-Wl,--wrap=" OUTPUT_VARIABLE wraps)
  target_link_options(npumem-record PRIVATE ${wraps} -Wl,--as-needed)
  target_link_libraries(npumem-record PRIVATE -Wl,--push-state,--no-as-needed ${threads} ${loader} -Wl,--pop-state)
endfunction()
