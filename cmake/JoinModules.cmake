# cmake -DOUTPUT=page.js -DFILES=a.mjs,b.mjs -P JoinModules.cmake: the modules of a page one behind the other, as one script. An
# import is a line of its own, and what it names is there; nothing is exported any more. Two modules may not give one name to two
# things: the script would not run, and a test of it says so.
string(REPLACE "," ";" FILES "${FILES}")
file(WRITE ${OUTPUT} "'use strict';\n")
foreach(file IN LISTS FILES)
  file(READ ${file} text)
  string(REGEX REPLACE "(^|\n)import [^\n]*" "\\1" text "${text}")
  string(REGEX REPLACE "\nexport " "\n" text "${text}")
  string(FIND "${text}" "</script" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "${file} would end the element that it stands in")
  endif()
  file(APPEND ${OUTPUT} "${text}")
endforeach()
