# `cmake --install build/default --prefix /usr/local` installs the program, its galaxy, its icon, its
# menu entry and the licences.
include(GNUInstallDirs)
install(TARGETS warpscope RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES assets/warpscope.svg
        DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
install(FILES assets/warpscope.png
        DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/256x256/apps)
install(FILES assets/galaxy_20k.tipsy DESTINATION ${CMAKE_INSTALL_DATADIR}/warpscope)
install(FILES LICENSE docs/licences.md assets/galaxy_20k.LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES assets/warpscope.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
