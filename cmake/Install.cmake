# `cmake --install build/default --prefix /usr/local` installs the program, its galaxy, its book, its lessons, the script that
# downloads NVRTC and nvcc, its icon, its menu entry, its man page, its completions and the licences. Packages
# leave out the component "plain" or add components of their own: see Package.cmake.
include(GNUInstallDirs)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME warpscope)
install(TARGETS warpscope RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
if(TARGET warpscope_mpi)
  install(TARGETS warpscope_mpi LIBRARY DESTINATION lib/warpscope COMPONENT plain)
endif()
if(TARGET warpscope_cuda)
  install(TARGETS warpscope_cuda warpscope_recorder LIBRARY DESTINATION lib/warpscope)
endif()
if(TARGET warpscope_embedded)
  install(TARGETS warpscope_embedded LIBRARY DESTINATION lib PUBLIC_HEADER DESTINATION include)
  install(DIRECTORY docs/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()
install(FILES assets/warpscope.svg
        DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
install(FILES assets/warpscope.png
        DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/256x256/apps)
install(PROGRAMS assets/fetch_compiler DESTINATION ${CMAKE_INSTALL_DATADIR}/warpscope)
install(FILES assets/galaxy_20k.tipsy assets/launch.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/warpscope)
install(DIRECTORY docs/book DESTINATION ${CMAKE_INSTALL_DATADIR}/warpscope)
install(DIRECTORY lessons DESTINATION ${CMAKE_INSTALL_DATADIR}/warpscope)
install(FILES docs/licences.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE assets/galaxy_20k.LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT plain)
install(FILES assets/warpscope.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)

# The options in the man page and in the completions are those that the program prints.
set(manual ${CMAKE_BINARY_DIR}/manual)
install(CODE "execute_process(COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/package/manual.py
                                      $<TARGET_FILE:warpscope> ${manual} COMMAND_ERROR_IS_FATAL ANY)"
        ALL_COMPONENTS)
install(FILES ${manual}/warpscope.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${manual}/warpscope DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${manual}/_warpscope DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
        COMPONENT plain)
