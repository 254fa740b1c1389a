# Header-only, as stb's port. REF: the release that is packaged (vcpkg wants its commit).
vcpkg_from_git(
    OUT_SOURCE_PATH SOURCE_PATH
    URL https://example.org/gpuscan.git
    REF "v${VERSION}"
)
file(INSTALL "${SOURCE_PATH}/gpuscan.h" DESTINATION "${CURRENT_PACKAGES_DIR}/include")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
