# CPack reads this file once for each package that it makes.
if(CPACK_GENERATOR STREQUAL DEB)
  set(CPACK_COMPONENTS_ALL warpscope program debian)
else()
  set(CPACK_COMPONENTS_ALL warpscope plain portable)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()
