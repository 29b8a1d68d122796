# SPDX-License-Identifier: Apache-2.0
# Man pages of the verbs and the shells' completions, made by `steptrace` itself of its tables.
set(made ${CMAKE_BINARY_DIR}/docs)
list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
add_custom_command(OUTPUT ${made}/manuals.made
  COMMAND ${CMAKE_COMMAND} -E env "EMULATOR=${emulator}"
    ${CMAKE_SOURCE_DIR}/scripts/make-manuals.sh $<TARGET_FILE:steptrace>
    ${CMAKE_SOURCE_DIR}/docs/man/steptrace.1 ${made}
  COMMAND ${CMAKE_COMMAND} -E touch ${made}/manuals.made
  DEPENDS steptrace ${CMAKE_SOURCE_DIR}/scripts/make-manuals.sh
    ${CMAKE_SOURCE_DIR}/docs/man/steptrace.1 COMMENT "Man pages and completions" VERBATIM)
add_custom_target(manuals ALL DEPENDS ${made}/manuals.made)
install(DIRECTORY ${made}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
install(FILES ${made}/completion/steptrace COMPONENT runtime
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${made}/completion/_steptrace COMPONENT runtime
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${made}/completion/steptrace.fish COMPONENT runtime
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
