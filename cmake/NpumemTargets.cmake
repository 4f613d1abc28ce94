# The flags that every target gets, and one function for each kind of target.

# Programs that get recorded, and the stand-in that they run on: never instrumented, since a sanitizer's runtime wants to
# be the first library of a program, and under npumem-record that is the hook.
add_library(npumem_plain_flags INTERFACE)
target_compile_features(npumem_plain_flags INTERFACE c_std_17)
target_compile_definitions(npumem_plain_flags INTERFACE _GNU_SOURCE NPUMEM_PROJECT_VERSION="${PROJECT_VERSION}")
target_include_directories(npumem_plain_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(npumem_plain_flags INTERFACE
                       -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -fno-omit-frame-pointer
                       # Of clang its fuzzer is wanted: what it warns of beside gcc, of tests alone, is not.
                       $<$<C_COMPILER_ID:Clang>:-Wno-string-concatenation -Wno-string-plus-int -Wno-missing-field-initializers
                       -Wno-unknown-attributes -Wno-unused-function>
                       $<$<BOOL:${NPUMEM_WERROR}>:-Werror>)

# Everything else.
add_library(npumem_flags INTERFACE)
target_link_libraries(npumem_flags INTERFACE npumem_plain_flags)
if(NPUMEM_SANITIZE)
  target_compile_options(npumem_flags INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:NPUMEM_HAS_NO_THREADS>>>:-fsanitize=${NPUMEM_SANITIZE}>
                                                -fno-sanitize-recover=all)
  target_link_options(npumem_flags INTERFACE -fsanitize=${NPUMEM_SANITIZE})
endif()
if(NPUMEM_BUILD_FUZZ)
  target_compile_options(npumem_flags INTERFACE -O1 -fsanitize=fuzzer-no-link)
endif()
if(NPUMEM_COVERAGE)
  target_compile_options(npumem_flags INTERFACE --coverage)
  # A process that ends by _exit is counted, too.
  add_library(npumem_count_at_exit STATIC ${PROJECT_SOURCE_DIR}/tests/support/count_at_exit.c)
  target_link_libraries(npumem_flags INTERFACE npumem_count_at_exit)
  target_link_options(npumem_flags INTERFACE --coverage -Wl,--wrap=_exit,--undefined=__wrap__exit)
endif()
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_EXTENSIONS ON)

# What each byte and each event goes through is optimized in a debug build, too: the sweeps of the tests read millions of traces, and
# take half the time. For the rest compiling would take longer than the tests gain, with the address sanitizer for all.
function(npumem_optimize_anyway)
  if(NOT NPUMEM_SANITIZE MATCHES "address" AND NOT NPUMEM_COVERAGE)
    foreach(name ${ARGN})
      target_compile_options(${name} PRIVATE $<$<CONFIG:Debug>:-O1>)
    endforeach()
  endif()
endfunction()

# npumem_without_threads(nm_rows ...): libraries that know of no thread. The thread sanitizer has nothing to find in them, and would
# make what npumem-ingest does for its tests take ten times as long. One that comes to know of threads must leave the list.
function(npumem_without_threads)
  if(NOT NPUMEM_SANITIZE STREQUAL "thread")
    return()
  endif()
  foreach(name ${ARGN})
    get_target_property(folder ${name} SOURCE_DIR)
    get_target_property(files ${name} SOURCES)
    foreach(file ${files})
      cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${folder})
      if(EXISTS ${file})
        file(STRINGS ${file} found REGEX "pthread_|stdatomic|_Atomic|__atomic_|threads[.]h")
        if(found)
          message(FATAL_ERROR "${file} knows of threads: ${name} is not one for npumem_without_threads")
        endif()
      endif()
    endforeach()
    set_target_properties(${name} PROPERTIES NPUMEM_HAS_NO_THREADS ON)
  endforeach()
endfunction()

# npumem_add_library(NAME SOURCES a.c ... LINKS nm_base ...): the static library of one folder of src/.
function(npumem_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC npumem_flags ${ARG_LINKS})
endfunction()

# npumem_embed(NAME.c SYMBOL HEADER FILE...): makes NAME.c, which has the files built in (cmake/EmbedText.cmake).
function(npumem_embed output symbol header)
  list(JOIN ARGN "," files)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DSYMBOL=${symbol} -DHEADER=${header} -DFILES=${files} -P
            ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
    VERBATIM)
endfunction()

# npumem_add_questions(TARGET [FOLDER...]): what the C of this folder and of some below it asks, NAME.sql with NAME.sql.h beside it.
function(npumem_add_questions target)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/questions.c)
  set(files "")
  foreach(folder . ${ARGN})
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.sql.h)
    list(APPEND files ${found})
  endforeach()
  file(GLOB parts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.part.sql ${PROJECT_SOURCE_DIR}/src/export/*.part.sql)
  list(TRANSFORM files REPLACE "[.]h$" "")
  list(JOIN files "," joined)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFILES=${joined} -P ${PROJECT_SOURCE_DIR}/cmake/Questions.cmake
    DEPENDS ${files} ${parts} ${PROJECT_SOURCE_DIR}/cmake/Questions.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()

# Where each shell looks for the completion of a program, and by what name.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/completions)
set(NPUMEM_COMPLETION_bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
set(NPUMEM_COMPLETION_zsh ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
set(NPUMEM_COMPLETION_fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# The program prints the completion of its own options: in a cross-build, under the emulator.
function(npumem_add_completion target program)
  set(name_bash ${program})
  set(name_zsh _${program})
  set(name_fish ${program}.fish)
  set(files "")
  foreach(shell bash zsh fish)
    set(file ${PROJECT_BINARY_DIR}/completions/${program}.${shell})
    add_custom_command(OUTPUT ${file} COMMAND ${target} --describe ${shell} > ${file} DEPENDS ${target} VERBATIM)
    install(FILES ${file} DESTINATION ${NPUMEM_COMPLETION_${shell}} RENAME ${name_${shell}})
    list(APPEND files ${file})
  endforeach()
  add_custom_target(${target}_completion ALL DEPENDS ${files})
endfunction()

# npumem_add_program(NAME [OUTPUT_NAME PROGRAM] SOURCES a.c ... LINKS nm_store ...): an installed program. In the build folder
# it lies as it will lie when installed, and so do the libraries: npumem-record finds them by the same relative path in both.
function(npumem_add_program name)
  cmake_parse_arguments(ARG "" "OUTPUT_NAME" "SOURCES;LINKS" ${ARGN})
  if(NOT ARG_OUTPUT_NAME)
    set(ARG_OUTPUT_NAME ${name})
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE npumem_flags ${ARG_LINKS})
  set_target_properties(${name} PROPERTIES OUTPUT_NAME ${ARG_OUTPUT_NAME}
                                           RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_BINDIR})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
    npumem_add_completion(${name} ${ARG_OUTPUT_NAME})
  endif()
endfunction()
