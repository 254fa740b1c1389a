"""Conan 2: conan create tools/packages/conan"""
import os

from conan import ConanFile
from conan.tools.files import copy


class Gpuscan(ConanFile):
    name = "gpuscan"
    version = "0.2.0"
    description = "Scan, uniform add, reduce, histogram, select, runs, sort, quantile, integral on any OpenCL device, in one C header"
    license = "MIT-0 OR Unlicense"
    package_type = "header-library"
    settings = "os"
    no_copy_source = True

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..", "..")
        for name in ("gpuscan.h", "LICENSE"):
            copy(self, name, src=root, dst=self.export_sources_folder)

    def requirements(self):
        self.requires("opencl-headers/2023.12.14", transitive_headers=True)

    def package(self):
        copy(self, "gpuscan.h", src=self.source_folder, dst=os.path.join(self.package_folder, "include"))
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        if self.settings.os != "Windows":
            self.cpp_info.system_libs = ["dl"]

    def package_id(self):
        self.info.clear()
