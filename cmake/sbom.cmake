# SPDX-License-Identifier: Apache-2.0
# steptrace.spdx.json, what a build is made of (SPDX 2.3): itself, and the libraries that are
# linked or compiled in, in the versions that were found.
string(TIMESTAMP created "%Y-%m-%dT%H:%M:%SZ" UTC) # SOURCE_DATE_EPOCH, where it is set
set(packages "")
set(relations "")
# sbom_part(NAME VERSION LICENCE RELATION)
function(sbom_part name version licence relation)
  set(packages "${packages},
    {\"SPDXID\": \"SPDXRef-${name}\", \"name\": \"${name}\",
      \"versionInfo\": \"${version}\", \"downloadLocation\": \"NOASSERTION\",
      \"filesAnalyzed\": false, \"licenseDeclared\": \"${licence}\"}" PARENT_SCOPE)
  set(relations "${relations},
    {\"spdxElementId\": \"SPDXRef-steptrace\", \"relationshipType\": \"${relation}\",
      \"relatedSpdxElement\": \"SPDXRef-${name}\"}" PARENT_SCOPE)
endfunction()
set(linked DYNAMIC_LINK)
if(STEPTRACE_STATIC)
  set(linked STATIC_LINK)
endif()
sbom_part(zlib "${ZLIB_VERSION}" Zlib ${linked})
sbom_part(minizip "${MINIZIP_VERSION}" Zlib ${linked})
if(STEPTRACE_ZSTD)
  sbom_part(zstd "${ZSTD_VERSION}" BSD-3-Clause ${linked})
endif()
if(STEPTRACE_XZ)
  sbom_part(liblzma "${LZMA_VERSION}" 0BSD ${linked})
endif()
sbom_part(xxhash "${XXHASH_VERSION}" BSD-2-Clause STATIC_LINK)
if(SQLITE_FOUND)
  sbom_part(sqlite3 "${SQLITE_VERSION}" blessing ${linked})
endif()
if(CURSES_FOUND) # one package, two libraries
  sbom_part(ncursesw "${CURSES_VERSION}" X11-distribute-modifications-variant ${linked})
  sbom_part(tinfo "${CURSES_VERSION}" X11-distribute-modifications-variant ${linked})
endif()
if(LIBDW_FOUND) # of steptrace-drain
  sbom_part(libdw "${LIBDW_VERSION}" "GPL-2.0-or-later OR LGPL-3.0-or-later" ${linked})
endif()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/steptrace.spdx.json @ONLY CONTENT [[{
  "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
  "name": "steptrace-@PROJECT_VERSION@",
  "documentNamespace": "urn:steptrace:@PROJECT_VERSION@:@CMAKE_SYSTEM_PROCESSOR@",
  "creationInfo": {"created": "@created@", "creators": ["Tool: cmake-@CMAKE_VERSION@"]},
  "packages": [
    {"SPDXID": "SPDXRef-steptrace", "name": "steptrace", "versionInfo": "@PROJECT_VERSION@",
      "downloadLocation": "NOASSERTION", "filesAnalyzed": false,
      "licenseDeclared": "Apache-2.0"}@packages@
  ],
  "relationships": [
    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
      "relatedSpdxElement": "SPDXRef-steptrace"}@relations@
  ]
}
]])
install(FILES ${CMAKE_BINARY_DIR}/steptrace.spdx.json DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT doc)
