# Warnings, sanitizers, and a compiler cache if one is installed.
find_program(CCACHE ccache)
if(CCACHE)
  # ccache's manual, "Precompiled headers" and "The depend mode": ccache does not preprocess each file. With a base
  # folder another clone of the project finds what was compiled in the first.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_DEPEND=1 CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()

add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>)
# GCC warns of each member that a designated initializer leaves to its default.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-field-initializers>)
# GCC 12 warns of overlaps and sizes in std::string that do not exist (GCC bug 105329), and of an optional's value
# that is read where there is one.
foreach(warning restrict stringop-overflow array-bounds maybe-uninitialized)
  add_compile_options($<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>,$<COMPILE_LANGUAGE:CXX>>:-Wno-${warning}>)
endforeach()
# GCC frees no memory below 1 GB, which takes 100 MB more and a twentieth less time.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1000000>)
# The arithmetic of the emulator is bit-exact, and so are the references that tests compare it with:
# the compiler must not fuse a multiplication and an addition.
add_compile_options(-ffp-contract=off)

if(WARPSCOPE_SANITIZE)
  add_compile_options(-O1 -fsanitize=${WARPSCOPE_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${WARPSCOPE_SANITIZE})
  if(WARPSCOPE_SANITIZE MATCHES undefined)
    # AddressSanitizer finds null pointers, objects that are gone and accesses beyond an object, too, and
    # these checks take a third of the compiler's time. So does the check of alignment, which only the
    # emulator's memory needs.
    add_compile_options(-fno-sanitize-recover=undefined
                        -fno-sanitize=null,vptr,object-size,alignment,pointer-overflow)
  endif()
endif()
