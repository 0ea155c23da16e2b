# `./run package` runs CPack, which makes two packages of what Install.cmake installs:
#   .deb       for the release of Debian or Ubuntu that builds it, because the names of the libraries'
#              packages differ between releases. dpkg-shlibdeps writes the dependencies.
#   .tar.gz    a folder with the libraries whose versions differ between distributions. It runs with
#              the C library of the system that builds it, or a newer one.
set(package_files ${CMAKE_CURRENT_LIST_DIR}/package)
cmake_host_system_information(RESULT system QUERY DISTRIB_ID)
cmake_host_system_information(RESULT system_version QUERY DISTRIB_VERSION_ID)

# Licences of what is compiled into the program.
foreach(package libimgui-dev libcli11-dev nlohmann-json3-dev python3-glad libzstd-dev liblz4-dev)
  foreach(component debian portable)
    install(FILES /usr/share/doc/${package}/copyright RENAME ${package}
            DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences COMPONENT ${component} EXCLUDE_FROM_ALL)
  endforeach()
endforeach()

# The .deb
set(CPACK_DEBIAN_PACKAGE_RELEASE 1~${system}${system_version})
# The project has no address, and the domain .invalid says so (RFC 2606). A person who gives packages to
# others sets these variables, which Debian's tools read too.
set(CPACK_PACKAGE_CONTACT "The Warpscope authors <no-address@warpscope.invalid>")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
string(TIMESTAMP package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(CONFIGURE OUTPUT ${manual}/changelog.Debian @ONLY CONTENT
"warpscope (${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=low

  * See changelog.gz.

 -- ${CPACK_PACKAGE_CONTACT}  ${package_date}
")
# In the format of copyright files, lines of a text start with a space, and no line is empty.
function(read_licence variable path)
  file(READ ${path} text)
  string(STRIP "${text}" text)
  string(REPLACE "\n" "\n " text " ${text}")
  string(REPLACE "\n \n" "\n .\n" text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()
read_licence(mit LICENSE)
read_licence(bsd assets/galaxy_20k.LICENSE)
configure_file(${package_files}/copyright.in ${manual}/copyright @ONLY)
file(COPY_FILE CHANGELOG.md ${manual}/changelog)
execute_process(COMMAND gzip -9nf ${manual}/changelog.Debian ${manual}/changelog
                COMMAND_ERROR_IS_FATAL ANY)
install(FILES ${manual}/copyright ${manual}/changelog.gz ${manual}/changelog.Debian.gz
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT debian EXCLUDE_FROM_ALL)
# CPack calls ldconfig for each library one folder below /usr/lib, also where only the program loads it.
file(WRITE ${manual}/lintian-overrides "warpscope: maintscript-calls-ldconfig\n")
install(FILES ${manual}/lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME warpscope
        COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${manual}/_warpscope DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
        COMPONENT debian EXCLUDE_FROM_ALL)

# The tarball. Its program searches libraries in the folder beside its own.
add_executable(warpscope_portable EXCLUDE_FROM_ALL $<TARGET_OBJECTS:warpscope>)
target_link_libraries(warpscope_portable PRIVATE $<TARGET_PROPERTY:warpscope,LINK_LIBRARIES>)
target_link_options(warpscope_portable PRIVATE -Wl,--enable-new-dtags)
set_target_properties(warpscope_portable PROPERTIES
  LINKER_LANGUAGE CXX OUTPUT_NAME warpscope RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/portable
  INSTALL_RPATH "$ORIGIN/../lib")
install(TARGETS warpscope_portable
        RUNTIME_DEPENDENCIES PRE_INCLUDE_REGEXES "^lib(fmt|hwy|tbb|glfw|png16|stb|minizip)\\.so"
                             PRE_EXCLUDE_REGEXES ".*"
        RUNTIME DESTINATION bin COMPONENT portable EXCLUDE_FROM_ALL
        LIBRARY DESTINATION lib COMPONENT portable EXCLUDE_FROM_ALL)
# The libX11 of systems without a desktop: the script `start` uses it there.
foreach(library libX11.so.6 libxcb.so.1 libXau.so.6 libXdmcp.so.6 libbsd.so.0 libmd.so.0)
  set(path /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/${library})
  if(EXISTS ${path})
    file(REAL_PATH ${path} file)
    install(FILES ${file} RENAME ${library} DESTINATION lib/bare COMPONENT portable EXCLUDE_FROM_ALL)
  endif()
endforeach()
install(PROGRAMS ${package_files}/start DESTINATION . COMPONENT portable EXCLUDE_FROM_ALL)
foreach(package libfmt-dev libhwy-dev libtbb-dev libglfw3-dev libpng-dev libstb-dev libminizip-dev
                libx11-6 libxcb1 libxau6 libxdmcp6 libbsd0 libmd0)
  install(FILES /usr/share/doc/${package}/copyright RENAME ${package}
          DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences COMPONENT portable EXCLUDE_FROM_ALL OPTIONAL)
endforeach()
# Its fonts, which a system without a desktop lacks.
set(inter /usr/share/fonts/opentype/inter)
install(FILES ${inter}/Inter-Regular.otf ${inter}/Inter-SemiBold.otf
              /usr/share/fonts/truetype/jetbrains-mono/JetBrainsMono-Regular.ttf
              /usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf
        DESTINATION ${CMAKE_INSTALL_DATADIR}/warpscope/fonts
        COMPONENT portable EXCLUDE_FROM_ALL OPTIONAL)
foreach(package fonts-inter fonts-jetbrains-mono fonts-droid-fallback)
  install(FILES /usr/share/doc/${package}/copyright RENAME ${package}
          DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences COMPONENT portable EXCLUDE_FROM_ALL OPTIONAL)
endforeach()
install(FILES /usr/share/common-licenses/Apache-2.0 DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences
        COMPONENT portable EXCLUDE_FROM_ALL)
install(FILES CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT portable EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PROJECT_CONFIG_FILE ${package_files}/components.cmake)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_SOURCE_DIR}/build/packages)
set(CPACK_PACKAGE_NAME warpscope)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "microscope for CUDA shared memory")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Warpscope shows what __syncthreads() and tiles in shared memory do: it runs
CUDA kernels, draws their results, and lets you remove a barrier or edit the
source while they run. Kernels run on an NVIDIA GPU, or on a machine without
one in an emulator of PTX, which also finds races and steps through a block.")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Dear ImGui loads libGL.so.1 at run time, and the app libEGL.so.1.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libgl1, libegl1, fonts-inter, fonts-jetbrains-mono")
# They copy pictures and make MP4 recordings.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "xclip | wl-clipboard, ffmpeg")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "binutils, fonts-droid-fallback, libegl-mesa0, libglx-mesa0, \
libgl1-mesa-dri, libllvm15 | libllvm19 | libllvm18 | libllvm17 | libllvm16, cuda-nvrtc-13-0 | libnvrtc12 | python3-pip")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_ARCHIVE_FILE_NAME warpscope-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_FILE_NAME ${CPACK_ARCHIVE_FILE_NAME})
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
    GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
include(CPack)
