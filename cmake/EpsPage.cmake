# The page of eps serve: the files of web/, as a source file.
#
#   cmake -DFOLDER=web -DOUT=page_files.cc -P cmake/EpsPage.cmake
file(GLOB files ${FOLDER}/*.html ${FOLDER}/*.css ${FOLDER}/*.js ${FOLDER}/*.svg)
list(SORT files)
set(arrays "")
set(table "")
set(number 0)
foreach(file ${files})
  get_filename_component(name ${file} NAME)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(................................................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND arrays "const unsigned char kFile${number}[] = {\n${bytes}0};\n")
  string(APPEND table "    {\"${name}\", text(kFile${number}, sizeof(kFile${number}) - 1)},\n")
  math(EXPR number "${number} + 1")
endforeach()
set(source
    "// The page of eps serve, made by cmake/EpsPage.cmake from the files of web/.
#include \"eps/serve/page.h\"

namespace eps::serve {
namespace {

std::string_view text(const unsigned char* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

${arrays}
}  // namespace

const std::vector<PageFile>& page_files() {
  static const std::vector<PageFile> all = {
${table}  };
  return all;
}

}  // namespace eps::serve
")
file(WRITE ${OUT} "${source}")
