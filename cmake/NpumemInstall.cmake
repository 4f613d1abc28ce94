# What `cmake --install` puts in place beside the programs (npumem_add_program does those, and their completion): the
# libraries that are loaded into a recorded program, the headers, the pkg-config file, npumem.py, the man pages, the
# queries, the skill for assistants, the examples and the documents.

# In a package of the system all is where the system looks, and its man pages are compressed.
set(NPUMEM_IS_OF_SYSTEM OFF)
if(NPUMEM_PORTABLE AND NPUMEM_PACKAGE MATCHES "DEB|RPM")
  set(NPUMEM_IS_OF_SYSTEM ON)
endif()

# The hook library, under either name, needs the recorder library beside it, wherever both were put.
foreach(library npumem npumem_hook npumem_hook_pool)
  if(TARGET ${library})
    set_target_properties(${library} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}
      INSTALL_RPATH "$ORIGIN")
    install(TARGETS ${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()

# Relative to the file itself, so that an installed tree may be moved.
file(RELATIVE_PATH NPUMEM_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" NPUMEM_PREFIX_FROM_PC ${NPUMEM_PREFIX_FROM_PC})
set(NPUMEM_RUN_PATH " -Wl,-rpath,\${libdir}")
if(NPUMEM_IS_OF_SYSTEM)
  set(NPUMEM_RUN_PATH "")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/npumem.pc.in ${PROJECT_BINARY_DIR}/npumem.pc @ONLY)

# What an unpacked tarball has at its top lies deeper in a prefix that others share.
set(NPUMEM_ENV_FOLDER ${CMAKE_INSTALL_DATADIR}/npumem)
if(NPUMEM_PORTABLE)
  set(NPUMEM_ENV_FOLDER .)
endif()
file(RELATIVE_PATH NPUMEM_PREFIX_FROM_ENV /${NPUMEM_ENV_FOLDER} /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/env.sh.in ${PROJECT_BINARY_DIR}/env.sh @ONLY)

if(NOT NPUMEM_IS_OF_SYSTEM)
  install(FILES ${PROJECT_BINARY_DIR}/env.sh DESTINATION ${NPUMEM_ENV_FOLDER})
endif()
install(FILES ${PROJECT_BINARY_DIR}/npumem.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES src/npumem.h src/npumem.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
if(NPUMEM_IS_OF_SYSTEM)
  find_program(GZIP gzip REQUIRED)
  install(CODE "file(GLOB pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1/*.1\")
                execute_process(COMMAND ${GZIP} -9nf \${pages} COMMAND_ERROR_IS_FATAL ANY)")
endif()
install(DIRECTORY queries/ DESTINATION ${CMAKE_INSTALL_DATADIR}/npumem/queries FILES_MATCHING PATTERN "*.sql"
        PATTERN blocks EXCLUDE)
install(FILES python/npumem.py DESTINATION ${CMAKE_INSTALL_DATADIR}/npumem/python) # three below the prefix: see _own_prefixes there
install(FILES docs/skill/SKILL.md DESTINATION ${CMAKE_INSTALL_DATADIR}/npumem/skill)
install(FILES examples/README.md examples/own_pool.c examples/own_pool.cpp examples/own_pool.py examples/pool.rules
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(DIRECTORY examples/fleet DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples USE_SOURCE_PERMISSIONS)
install(FILES README.md README.zh-CN.md CHANGELOG.md CONTRIBUTING.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
set(NPUMEM_LICENSE_NAME LICENSE)
if(NPUMEM_PORTABLE AND NPUMEM_PACKAGE STREQUAL DEB)
  set(NPUMEM_LICENSE_NAME copyright)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME ${NPUMEM_LICENSE_NAME})
install(FILES third_party/uplot/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}/third_party/uplot)
if(NPUMEM_REPORT_SQL)
  install(FILES third_party/sqljs/LICENSE third_party/sqljs/AUTHORS DESTINATION ${CMAKE_INSTALL_DOCDIR}/third_party/sqljs)
endif()
install(FILES docs/npumem.findings.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/npumem)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md") # where README's links lead
