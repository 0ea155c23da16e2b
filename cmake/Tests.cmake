# What a sanitizer leaves out: tests that take long and execute no code that shorter ones do not execute.
set(left_out "")
if(WARPSCOPE_SANITIZE MATCHES address)
  set(left_out *FrameWork* *CommittedKernels* RandomPrograms.AreEqualWith* *FastIsRightForManyBodies*
      *TwoRunsAreEqualBitForBit* *TheToleranceNotices* *TheToleranceAllows* *ForcesAgreeWithTheReference*
      *TwoBodiesReturn* *FindsARaceAcrossAnEpoch* *Words/Order* *StoppedLaunches*nbody* *AllOrdersOfFencesAndAtomics*
      *AllOrdersOfThreeWarps* *IsThatOfANaiveTracer* *AFindingOfAnOrder* *NBodysTwinIsFound* *NBodyRaces*
      *Synchronized*nbody* *MayStoreElsewhereThanTheModel* *Synchronized*width_40_height_33* *EachStep*
      *AllOrdersOfTwoBlocksOfTwoWarps* *AllOrdersOfACluster* *BlockModelProperty*
      *AreTheSumsWithAllTheirBarriers* *Fitting.WordsOfTheBodies *Fitting.WordsOfTheDotProduct
      *Fitting.WordsOfTheReduction *Fitting.WordsOfThePipeline *Fitting.WordsOfAKernelOfOnesOwn)
elseif(WARPSCOPE_SANITIZE MATCHES thread)
  # The blocks of the launches with races run on several threads.
  set(left_out *HostileText* *ObservedAccesses* *RandomPrograms* *FindsARaceAcrossAnEpoch*
      SampledLaunch.HasTheRaces* SampledLaunch.CountsTheRaces*)
endif()

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
  unity_by_folder(${name} JOIN 100000)
  string(REGEX REPLACE "_tests$" "" room ${name})
  if(WARPSCOPE_SANITIZE)
    tests_in_parts(${name} FILTER -*cuda* ${arg_LONG} ${left_out} PROPERTIES LABELS ${room} ${arg_PROPERTIES})
    return()
  endif()
  gtest_discover_tests(${name} TEST_FILTER "-*cuda*:${arg_LONG}" DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS ${room} ${arg_PROPERTIES})
  gtest_discover_tests(${name} TEST_FILTER "*cuda*" TEST_LIST ${name}_gpu DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS gpu ${arg_PROPERTIES})
  if(arg_LONG)
    gtest_discover_tests(${name} TEST_FILTER "${arg_LONG}" TEST_LIST ${name}_long
                         DISCOVERY_TIMEOUT 60 PROPERTIES LABELS long ${arg_PROPERTIES})
  endif()
endfunction()

# tests_in_parts(NAME FILTER... PROPERTIES...): the tests of a binary in a few processes, since a sanitizer
# takes longer to start and end a process than most tests take.
function(tests_in_parts name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FILTER;PROPERTIES")
  list(JOIN arg_FILTER : filter)
  set(parts 8)
  foreach(part RANGE 1 ${parts})
    set(test ${name}.part_${part}_of_${parts})
    math(EXPR index "${part} - 1")
    add_test(NAME ${test} COMMAND ${name} --gtest_brief=1 "--gtest_filter=${filter}")
    set(environment GTEST_TOTAL_SHARDS=${parts} GTEST_SHARD_INDEX=${index}
        TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/tsan.supp)
    set_tests_properties(${test} PROPERTIES ENVIRONMENT "${environment}" ${arg_PROPERTIES})
  endforeach()
endfunction()
