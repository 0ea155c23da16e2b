# The tests of the instructions, compiled as for the page, for node. CMakeLists.txt of web/ includes this.
set(googletest /usr/src/googletest/googletest)
file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/instructions/*.cpp)
add_executable(web_instructions_tests EXCLUDE_FROM_ALL ${tests} ${googletest}/src/gtest-all.cc ${googletest}/src/gtest_main.cc)
set_source_files_properties(${googletest}/src/gtest-all.cc ${googletest}/src/gtest_main.cc PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
target_include_directories(web_instructions_tests PRIVATE ${CMAKE_SOURCE_DIR}/tests ${googletest} ${googletest}/include)
target_precompile_headers(web_instructions_tests PRIVATE ${CMAKE_SOURCE_DIR}/tests/precompiled.h)
target_compile_options(web_instructions_tests PRIVATE -O0)
file(GLOB ptx CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/instructions/ptx/*.ptx)
list(TRANSFORM ptx REPLACE "^.*/([^/]+)$" "\\1=\\0")
embed_files(web_instructions_tests warpscope::tests::ptx_file ${ptx})
target_link_libraries(web_instructions_tests PRIVATE ${rooms} zip)
target_link_options(web_instructions_tests PRIVATE -O1 -pthread -fwasm-exceptions -sENVIRONMENT=node -sPROXY_TO_PTHREAD -sEXIT_RUNTIME=1
  -sINITIAL_MEMORY=96MB -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=1GB -sDEFAULT_PTHREAD_STACK_SIZE=2MB -sPTHREAD_POOL_SIZE=8
  -Wno-pthreads-mem-growth)
