#!/bin/sh
# The recipes in tools/packages, for CMake and Meson in its README.md: each makes a program that runs, as far as its tool
# is here. Called by tests/run.sh. The last line is "N passed, N failed".

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
work=$root/build/test_packages
rm -rf "$work"
mkdir -p "$work" && cd "$work" || exit 1
passed=0
failed=0
cc=${CC:-cc}
packages=$root/tools/packages
version=$(sed -n '1s|.* - v\([0-9.]*\) - .*|\1|p' "$root/gpuscan.h")

have() {
  command -v "$1" > /dev/null 2>&1
}

left_out() {
  echo "left out: $1"
}

# check NAME COMMAND...
check() {
  name=$1
  shift
  if "$@" > out.txt 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name: $*"
    tail -20 out.txt
  fi
}

says_22() {
  [ "$("$@")" = 22 ]
}

# block LANGUAGE FILE: the code of that language in a document.
block() {
  awk -v begin="^\`\`\`$1\$" '$0 ~ begin { inside = 1; next } /^```/ { inside = 0 } inside' "$2"
}

# The README's first program, and the same with the header where a package puts it.
block c "$root/README.md" | awk '/^#define GPUSCAN_IMPLEMENTATION/ && count++ { exit } { print }' > sum.c
sed 's/"gpuscan.h"/<gpuscan.h>/' sum.c > installed.c

# ---- CMake and Meson

if have cmake && have make; then
  mkdir -p with_cmake && cp sum.c with_cmake
  { printf 'cmake_minimum_required(VERSION 3.14)\nproject(with_cmake C)\n'; block cmake "$packages/README.md"
    printf 'add_executable(sum sum.c)\ntarget_link_libraries(sum gpuscan)\n'; } > with_cmake/CMakeLists.txt
  check 'CMake: configure' cmake -S with_cmake -B with_cmake/build "-DFETCHCONTENT_SOURCE_DIR_GPUSCAN=$root" \
    -DCMAKE_BUILD_TYPE=Release
  check 'CMake: build' cmake --build with_cmake/build
  check 'CMake: run' says_22 with_cmake/build/sum
else
  left_out 'cmake or make is not installed'
fi
if have meson && have ninja; then
  mkdir -p with_meson/third_party/gpuscan && cp sum.c with_meson && cp "$root/gpuscan.h" with_meson/third_party/gpuscan
  { printf "project('with_meson', 'c')\n"; block meson "$packages/README.md"; } > with_meson/meson.build
  check 'Meson: configure' meson setup with_meson/build with_meson
  check 'Meson: build' ninja -C with_meson/build
  check 'Meson: run' says_22 with_meson/build/sum
else
  left_out 'meson or ninja is not installed'
fi

# ---- packages

# whole: 0.2.0 is not in 0.2.0.1
same_versions() {
  whole="(^|[^0-9.])$(echo "$version" | sed 's/\./\\./g')([^0-9.]|\$)"
  for file in gpuscan.pc vcpkg/vcpkg.json conan/conanfile.py xmake/xmake.lua debian/changelog; do
    grep -qE "$whole" "$packages/$file" || { echo "$file is not of version $version"; return 1; }
  done
  block cmake "$packages/README.md" | grep -qE "$whole" || { echo "the CMake recipe is not of version $version"; return 1; }
}
check 'all packages have the version' same_versions
for part in "${version%.*}" "${version#*.}" 9.9.9; do
  # shellcheck disable=SC2030
  check "no package has version $part" sh -c "exit $(version=$part; same_versions > /dev/null; echo $((!$?)))"
done

pkg_config() {
  mkdir -p prefix/include prefix/lib/pkgconfig
  cp "$root/gpuscan.h" prefix/include
  sed "s|^prefix=.*|prefix=$work/prefix|" "$packages/gpuscan.pc" > prefix/lib/pkgconfig/gpuscan.pc
  PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig
  export PKG_CONFIG_PATH
  # shellcheck disable=SC2046
  [ "$(pkg-config --modversion gpuscan)" = "$version" ] &&
    "$cc" -std=c99 $(pkg-config --cflags gpuscan) installed.c -o with_pc $(pkg-config --libs gpuscan) && says_22 ./with_pc
}
if have pkg-config; then check pkg-config pkg_config; else left_out 'pkg-config is not installed'; fi

debian() {
  mkdir -p deb/source/tools && cp "$root/gpuscan.h" "$root/LICENSE" deb/source && cp -r "$packages" deb/source/tools &&
    cp -r "$packages/debian" deb/source &&
    (cd deb/source && dpkg-buildpackage -us -uc -b -d) &&
    dpkg-deb -x deb/libgpuscan-dev_"$version"_all.deb deb/installed &&
    grep -q '^prefix=/usr$' deb/installed/usr/share/pkgconfig/gpuscan.pc &&
    [ "$(dpkg-deb -f deb/libgpuscan-dev_"$version"_all.deb Version)" = "$version" ] &&
    "$cc" -std=c99 -Ideb/installed/usr/include installed.c -o with_deb -ldl && says_22 ./with_deb
}
if have dpkg-buildpackage && have make; then check 'the Debian package' debian; else left_out 'dpkg-buildpackage is not installed'; fi

# vcpkg's functions are stood in for: what the port itself does is run.
vcpkg() {
  cat > vcpkg.cmake <<END
set(PORT gpuscan)
set(VERSION $version)
set(CURRENT_PACKAGES_DIR "$work/vcpkg")
function(vcpkg_from_git)
    cmake_parse_arguments(ARG "" "OUT_SOURCE_PATH;URL;REF" "" \${ARGN})
    if(NOT ARG_REF STREQUAL "v$version" OR ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "vcpkg_from_git: \${ARGN}")
    endif()
    set(\${ARG_OUT_SOURCE_PATH} "$root" PARENT_SCOPE)
endfunction()
function(vcpkg_install_copyright)
    cmake_parse_arguments(ARG "" "" "FILE_LIST" \${ARGN})
    file(INSTALL \${ARG_FILE_LIST} DESTINATION "\${CURRENT_PACKAGES_DIR}/share/\${PORT}")
endfunction()
include("$packages/vcpkg/portfile.cmake")
END
  cmake -P vcpkg.cmake && [ -s vcpkg/share/gpuscan/LICENSE ] && [ -s vcpkg/share/gpuscan/usage ] &&
    "$cc" -std=c99 -Ivcpkg/include installed.c -o with_vcpkg -ldl && says_22 ./with_vcpkg
}
have cmake && check "the vcpkg port, without vcpkg" vcpkg
if have python3; then
  check 'vcpkg.json' python3 -c "import json; assert json.load(open('$packages/vcpkg/vcpkg.json'))['version'] == '$version'"
fi

# Without Conan's server: OpenCL's headers are a package made of those that are here.
conan_package() {
  CONAN_HOME=$work/conan_home
  export CONAN_HOME
  headers=$(echo '#include <CL/cl.h>' | "$cc" -E -x c - | sed -n 's|^# [0-9]* "\(.*\)/CL/cl\.h".*|\1|p' | head -1)
  mkdir -p conan_headers conan_user
  cat > conan_headers/conanfile.py <<END
from conan import ConanFile
from conan.tools.files import copy
import os
class Headers(ConanFile):
    name, version, package_type = "opencl-headers", "2023.12.14", "header-library"
    def package(self):
        copy(self, "CL/*", src="$headers", dst=os.path.join(self.package_folder, "include"))
END
  printf '[requires]\ngpuscan/%s\n[generators]\nPkgConfigDeps\n' "$version" > conan_user/conanfile.txt
  conan profile detect && conan create conan_headers -nr && conan create "$packages/conan" -nr &&
    conan install conan_user -nr -of conan_user || return 1
  PKG_CONFIG_PATH=$work/conan_user
  export PKG_CONFIG_PATH
  # shellcheck disable=SC2046
  "$cc" -std=c99 $(pkg-config --cflags gpuscan) installed.c -o with_conan $(pkg-config --libs gpuscan) && says_22 ./with_conan
}
if have conan && have pkg-config; then check 'the Conan package' conan_package; else left_out 'conan is not installed'; fi

luac=$(command -v luac5.4 || command -v luac5.3 || command -v luac)
if have xmake; then
  left_out 'the xmake package: xmake would fetch it from its address'
elif [ -n "$luac" ]; then
  check 'the xmake package is Lua' "$luac" -p "$packages/xmake/xmake.lua"
else
  left_out 'neither xmake nor luac is installed'
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
