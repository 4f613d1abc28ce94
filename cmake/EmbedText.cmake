# cmake -DOUTPUT=x.c -DSYMBOL=nm_x -DHEADER=store/x.h -DFILES=a;b -P EmbedText.cmake: writes the text of each file into a C
# source as an array of nm_embedded_text, in the order given, ended by an entry of NULLs. Bytes rather than a string
# literal: compilers limit the length of those, and a file may hold zeros. Of SQL, the lines that say where a block begins and ends
# (tests/tool/meta/blocks.sh) stay behind: they are for who writes it.
string(REPLACE "," ";" FILES "${FILES}")
set(arrays "")
set(entries "")
set(index 0)
foreach(file IN LISTS FILES)
  if(file MATCHES "[.]sql$")
    file(READ ${file} text)
    string(REGEX REPLACE "\n *-- (begin|end) [^\n]*" "" text "${text}")
    string(HEX "${text}" hex)
  else()
    file(READ ${file} hex HEX)
  endif()
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(....................................................................................................)" "\\1\n" bytes "${bytes}")
  get_filename_component(name ${file} NAME)
  string(APPEND arrays "static const unsigned char text_${index}[] = {${bytes}0};\n")
  string(APPEND entries "    {\"${name}\", (const char *)text_${index}, sizeof text_${index} - 1},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT}
     "#include \"${HEADER}\"\n\n${arrays}\nconst nm_embedded_text ${SYMBOL}[] = {\n${entries}    {0, 0, 0},\n};\n")
