-- packages/g/gpuscan/xmake.lua of an xmake repository
package("gpuscan")
    set_kind("library", {headeronly = true})
    set_description("Scan, uniform add, reduce, histogram, select, runs, sort, quantile, integral on any OpenCL device, in one C header")
    set_license("MIT-0")

    add_urls("https://example.org/gpuscan.git")
    add_versions("0.2.0", "v0.2.0")

    add_deps("opencl-headers")
    if is_plat("linux") then
        add_syslinks("dl")
    end

    on_install(function (package)
        os.cp("gpuscan.h", package:installdir("include"))
    end)

    on_test(function (package)
        assert(package:has_cfuncs("gpuscan_create", {includes = "gpuscan.h", configs = {defines = "GPUSCAN_IMPLEMENTATION"}}))
    end)
