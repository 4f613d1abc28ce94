# cmake -DOUTPUT=page.js -DFILES=a.mjs,b.mjs -P JoinModules.cmake: the modules of a page one behind the other, as one script. An
# import is a line of its own, and what it names is there; nothing is exported any more. Two modules may not give one name to two
# things: the script would not run, and a test of it says so. Comments, which begin a line each, stay behind: every page has the script in it.
string(REPLACE "," ";" FILES "${FILES}")
file(WRITE ${OUTPUT} "/* SPDX-License-Identifier: Apache-2.0 */\n'use strict';\n")
foreach(file IN LISTS FILES)
  file(READ ${file} text)
  string(PREPEND text "\n")
  string(REGEX REPLACE "\n */\\*[^\n]*\\*/" "" text "${text}")
  string(REGEX REPLACE "\n */\\*[^\n]*(\n *\\*[^\n]*)*" "" text "${text}")
  string(REGEX REPLACE "(^|\n)import [^\n]*" "\\1" text "${text}")
  string(REGEX REPLACE "\nexport " "\n" text "${text}")
  string(FIND "${text}" "</script" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "${file} would end the element that it stands in")
  endif()
  file(APPEND ${OUTPUT} "${text}")
endforeach()
