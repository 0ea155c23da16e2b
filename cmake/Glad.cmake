# The entry points of OpenGL 3.3 core, generated from the specification that python3-glad contains.
# --reproducible keeps glad from downloading a newer specification.
find_program(GLAD glad REQUIRED)
set(glad_folder ${CMAKE_BINARY_DIR}/glad)
add_custom_command(
  OUTPUT ${glad_folder}/src/gl.c ${glad_folder}/include/glad/gl.h
         ${glad_folder}/include/KHR/khrplatform.h
  COMMAND ${GLAD} --quiet --reproducible --api gl:core=3.3 --extensions "" --out-path ${glad_folder} c
  COMMENT "glad: OpenGL 3.3 core"
  VERBATIM)
file(MAKE_DIRECTORY ${glad_folder}/include)
add_library(glad_gl STATIC ${glad_folder}/src/gl.c ${glad_folder}/include/glad/gl.h)
target_include_directories(glad_gl SYSTEM PUBLIC ${glad_folder}/include)
