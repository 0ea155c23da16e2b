# warpscope_tests(NAME LIBRARIES... [SOURCES...] [LONG FILTER]): a GoogleTest binary of one room.
# Tests that need a GPU have "cuda" in their name (tests/support/devices.h) and the label `gpu`;
# CTest shows them as skipped if there is no GPU. Tests that match the filter LONG have the label
# `long`: only `./run test long` runs them. All other tests have the name of their room as label.
function(warpscope_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LONG" "SOURCES;LIBRARIES;PROPERTIES")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM test_headers)
  unity_by_folder(${name})
  string(REGEX REPLACE "_tests$" "" room ${name})
  gtest_discover_tests(${name} TEST_FILTER "-*cuda*:${arg_LONG}" DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS ${room} ${arg_PROPERTIES})
  gtest_discover_tests(${name} TEST_FILTER "*cuda*" TEST_LIST ${name}_gpu DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS gpu ${arg_PROPERTIES})
  if(arg_LONG)
    gtest_discover_tests(${name} TEST_FILTER "${arg_LONG}" TEST_LIST ${name}_long
                         DISCOVERY_TIMEOUT 60 PROPERTIES LABELS long ${arg_PROPERTIES})
  endif()
endfunction()
