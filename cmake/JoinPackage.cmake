# cmake -DOUTPUT=uplot.js -DLICENSE=LICENSE -DSCRIPT=uPlot.iife.js -P JoinPackage.cmake: a script of others (third_party/) as it goes into a
# page: behind its licence, which wants to be in every copy.
file(READ ${LICENSE} licence)
file(READ ${SCRIPT} script)
string(FIND "${licence}" "*/" at)
if(NOT at EQUAL -1)
  message(FATAL_ERROR "${LICENSE} would end the comment that it stands in")
endif()
string(FIND "${licence}${script}" "</script" at)
if(NOT at EQUAL -1)
  message(FATAL_ERROR "${SCRIPT} would end the element that it stands in")
endif()
file(WRITE ${OUTPUT} "/*\n${licence}*/\n${script}")
