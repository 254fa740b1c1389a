#!/usr/bin/env python3
"""python3 scan.py        scans, reductions and histograms of numpy arrays on the best OpenCL device

The class Gpuscan below is all that a script needs, and numpy: copy it beside gpuscan.h. It loads gpuscan as a shared
library, which is compiled from gpuscan.h at the first start (cc must be there, or GPUSCAN_LIBRARY names one that is
built already), and writes down the library's structs again with ctypes; before anything is called, its version and the
sizes of its structs are compared with these.

    gs = Gpuscan()                                  # GPUSCAN_DEVICE=name picks a device
    gs.scan(x)                                      # exclusive prefix sum, as x's type
    gs.scan(x, "max", inclusive=True)               # running maximum
    gs.scan(flags, dtype=numpy.uint64, init=10)     # another type for the sums, and what precedes them
    gs.reduce(x, "min"), gs.reduce(x, "argmin")
    gs.histogram(x, bins=100, range=(0.0, 1.0))     # even bins, as numpy.histogram
"""
import ctypes
import os
import subprocess
import sys

try:
    import numpy
except ImportError:
    raise SystemExit("scan.py: needs numpy (Debian: python3-numpy)")

TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]  # gpuscan_type, from 1 on
OPERATORS = ["add", "min", "max", "mul", "and", "or", "xor", "custom", "argmin", "argmax"]  # gpuscan_op, from 0 on
VERSION = 200  # of the gpuscan.h that these structs are of


def struct(name, *fields):
    return type(name, (ctypes.Structure,), {"_fields_": list(fields)})


pointer, u64, u32, enum = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_int
Buffer = struct("gpuscan_buffer", ("mem", pointer), ("offset", u64))
Image = struct("gpuscan_image", ("mem", pointer), ("x", u64), ("y", u64))
Call = struct("gpuscan_call", ("queue", pointer), ("wait_count", u32), ("wait_list", pointer), ("event", pointer),
              ("scratch", Buffer), ("scratch_size", u64), ("strategy", enum), ("counts_from", u64),
              ("values", pointer), ("values_size", ctypes.c_size_t), ("sources", pointer), ("source_count", u32))
Functions = struct("functions", ("first", pointer), ("second", pointer), ("user", pointer))
Desc = struct("gpuscan_desc", ("context", pointer), ("device", pointer), ("queue", pointer),
              ("device_name", ctypes.c_char_p), ("opencl", pointer), ("allocator", Functions), ("log", pointer),
              ("log_user", pointer), ("work_group_size", ctypes.c_size_t), ("local_memory", u64), ("without", u32),
              ("lanes", u32), ("error", ctypes.c_char_p), ("error_size", ctypes.c_size_t),
              ("library", ctypes.c_char_p), ("trace", pointer), ("trace_user", pointer),
              ("cache", ctypes.c_char_p))
Segments = struct("gpuscan_segments", ("form", enum), ("data", Buffer), ("type", enum), ("count", u64),
                  ("host_data", pointer))
ScanDesc = struct("gpuscan_scan_desc", ("src", Buffer), ("dst", Buffer), ("count", u64), ("src_type", enum),
                  ("dst_type", enum), ("op", enum), ("kind", enum), ("custom", pointer), ("init", pointer),
                  ("init_buffer", Buffer), ("total", Buffer), ("rows", u64), ("src_pitch", u64), ("dst_pitch", u64),
                  ("count_buffer", Buffer), ("count_type", enum), ("call", Call), ("segments", Segments),
                  ("src_pitch_bytes", u64), ("dst_pitch_bytes", u64), ("reverse", u32), ("along", enum))
ReduceDesc = struct("gpuscan_reduce_desc", ("src", Buffer), ("dst", Buffer), ("result", pointer), ("count", u64),
                    ("src_type", enum), ("dst_type", enum), ("op", enum), ("custom", pointer), ("init", pointer),
                    ("init_buffer", Buffer), ("count_buffer", Buffer), ("count_type", enum), ("call", Call),
                    ("rows", u64), ("src_pitch", u64), ("segments", Segments), ("src_image", Image),
                    ("src_width", u64))


class Bound(ctypes.Union):
    _fields_ = [("i", ctypes.c_int64), ("u", u64), ("f", ctypes.c_double)]


HistogramDesc = struct("gpuscan_histogram_desc", ("samples", Buffer), ("counts", Buffer), ("count", u64),
                       ("sample_type", enum), ("counter_type", enum), ("bins", u32), ("form", enum), ("lower", Bound),
                       ("upper", Bound), ("closed", ctypes.c_int), ("outside", enum), ("accumulate", ctypes.c_int),
                       ("edges", Buffer), ("weights", Buffer), ("weight_type", enum), ("channels", u32),
                       ("channel_mask", u32), ("rows", u64), ("pitch", u64), ("weights_pitch", u64),
                       ("count_buffer", Buffer), ("count_type", enum), ("host_edges", pointer),
                       ("host_weights", pointer), ("call", Call), ("custom", pointer), ("value_type", enum),
                       ("weight", ctypes.c_char_p), ("tile_width", u64), ("tile_height", u64), ("pitch_bytes", u64),
                       ("channel_bounds", pointer), ("edges_pitch", u64), ("samples_image", Image),
                       ("counts_stride", u32))


def build_library():
    """Compiles gpuscan.h, which lies beside this file or a folder above, and gives the library's path."""
    here = os.path.dirname(os.path.abspath(__file__))
    header = next((p for p in (os.path.join(here, "gpuscan.h"), os.path.join(here, "..", "gpuscan.h"))
                   if os.path.exists(p)), None)
    if header is None:
        raise SystemExit("scan.py: gpuscan.h is neither beside this file nor a folder above; or set GPUSCAN_LIBRARY")
    library = os.path.join(here, "__pycache__", "libgpuscan.so")
    os.makedirs(os.path.dirname(library), exist_ok=True)
    if not os.path.exists(library) or os.path.getmtime(library) < os.path.getmtime(header):
        made = f"{library}.{os.getpid()}"  # renamed when it is whole: another process may be loading the old one
        compiler = os.environ.get("CC", "cc")
        command = [compiler, "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-DGPUSCAN_IMPLEMENTATION",
                   '-DGPUSCAN_API=__attribute__((visibility("default")))', "-x", "c", header, "-o", made, "-ldl"]
        try:
            subprocess.check_call(command)
        except OSError as error:
            raise SystemExit(f"scan.py: no C compiler {compiler} ({error.strerror}); set CC, or GPUSCAN_LIBRARY")
        except subprocess.CalledProcessError:
            raise SystemExit("scan.py: gpuscan.h does not compile, see above; are the OpenCL headers there?")
        os.replace(made, library)
    return library


class Gpuscan:
    """A device, for one thread at a time. Every call blocks until its result is there."""

    def __init__(self, device=None):
        self.gs = pointer()
        self.lib = ctypes.CDLL(os.environ.get("GPUSCAN_LIBRARY") or build_library())
        self.lib.gpuscan_error.restype = self.lib.gpuscan_result_string.restype = ctypes.c_char_p
        self.lib.gpuscan_struct_size.restype = ctypes.c_size_t
        versions = f"this is for gpuscan {VERSION}, the library is {self.lib.gpuscan_version()}"
        if self.lib.gpuscan_version() != VERSION:
            raise RuntimeError(versions)
        for s in (Buffer, Call, Desc, ScanDesc, ReduceDesc, HistogramDesc):
            if self.lib.gpuscan_struct_size(s.__name__.encode()) != ctypes.sizeof(s):
                raise RuntimeError(f"{s.__name__} differs: {versions}")
        error = ctypes.create_string_buffer(2000)
        desc = Desc(device_name=device.encode() if device else None, error_size=len(error))
        desc.error = ctypes.cast(error, ctypes.c_char_p)
        if self.lib.gpuscan_create(ctypes.byref(self.gs), ctypes.byref(desc)) != 0:
            raise RuntimeError(error.value.decode())

    def __del__(self):
        if self.gs:
            self.lib.gpuscan_destroy(self.gs)
            self.gs = pointer()

    def _call(self, function, *arguments):
        result = function(self.gs, *arguments)
        if result != 0:
            words = self.lib.gpuscan_error(self.gs) or self.lib.gpuscan_result_string(result)
            raise ValueError(words.decode())

    @staticmethod
    def _type(dtype):
        dtype = numpy.dtype(dtype)
        if not dtype.isnative or dtype.str[1:] not in TYPES:
            raise TypeError(f"gpuscan has no type {dtype}; it has {' '.join(TYPES)} in the machine's byte order")
        return TYPES.index(dtype.str[1:]) + 1

    @staticmethod
    def _operator(op):
        if op not in OPERATORS or op == "custom":
            raise ValueError(f"no operator {op!r}; there are {' '.join(o for o in OPERATORS if o != 'custom')}")
        return OPERATORS.index(op)

    @staticmethod
    def _init(value, dtype):
        first = numpy.array([value]).astype(dtype)
        if dtype.kind in "iu" and int(first[0]) != value:
            raise ValueError(f"init={value} is no {dtype}")
        return first

    def scan(self, x, op="add", inclusive=False, dtype=None, init=None):
        """A scan along the last axis, of every row by itself."""
        x = numpy.ascontiguousarray(x)
        out = numpy.empty(x.shape, dtype or x.dtype)
        first = None if init is None else self._init(init, out.dtype)
        count = x.shape[-1] if x.ndim else 1
        desc = ScanDesc(src_type=self._type(x.dtype), dst_type=self._type(out.dtype), op=self._operator(op),
                        kind=int(inclusive), rows=x.size // count if count else 0)
        if first is not None:
            desc.init = first.ctypes.data
        if x.size:
            self._call(self.lib.gpuscan_scan_host, pointer(x.ctypes.data), pointer(out.ctypes.data), u64(count),
                       ctypes.byref(desc))
        return out

    def reduce(self, x, op="add", dtype=None):
        """All elements combined; argmin and argmax give the index of the first in x.ravel()."""
        x = numpy.ascontiguousarray(x)
        if op.startswith("arg") and x.size == 0:
            raise ValueError(f"{op} of an empty array")
        result = numpy.zeros(1, numpy.uint64 if op.startswith("arg") else dtype or x.dtype)
        desc = ReduceDesc(src_type=self._type(x.dtype), dst_type=self._type(result.dtype), op=self._operator(op))
        self._call(self.lib.gpuscan_reduce_host, pointer(x.ctypes.data), pointer(result.ctypes.data), u64(x.size),
                   ctypes.byref(desc))
        return result[0]

    def histogram(self, x, bins=256, range=None):
        """Counts in even bins over range, which is the type's own if it is left out (floats: 0 to 1)."""
        x = numpy.ascontiguousarray(x)
        if not 0 < bins < 1 << 32:
            raise ValueError(f"bins={bins} is not between 1 and 2**32 - 1")
        counts = numpy.zeros(bins, numpy.uint64)
        desc = HistogramDesc(sample_type=self._type(x.dtype), counter_type=self._type(counts.dtype), bins=bins,
                             closed=int(x.dtype.kind == "f"))
        if range is not None:
            field = x.dtype.kind
            setattr(desc.lower, field, range[0])
            setattr(desc.upper, field, range[1])
        self._call(self.lib.gpuscan_histogram_host, pointer(x.ctypes.data), pointer(counts.ctypes.data), u64(x.size),
                   ctypes.byref(desc))
        return counts


def main():
    if len(sys.argv) > 1:
        print("usage: scan.py", file=sys.stderr)
        return 2
    gs = Gpuscan()
    random = numpy.random.default_rng(1)
    right = True

    def check(name, got, wanted):
        nonlocal right
        same = got.dtype == wanted.dtype and numpy.array_equal(got, wanted)
        right = right and same
        print(f"{name:44} {'as numpy has it' if same else 'WRONG'}")

    x = random.integers(0, 1 << 32, 1_000_003, numpy.uint32)
    wide = numpy.cumsum(x, dtype=numpy.uint64)
    check("inclusive sum, u32 to u64", gs.scan(x, inclusive=True, dtype=numpy.uint64), wide)
    check("exclusive sum from 10", gs.scan(x, dtype=numpy.uint64, init=10), wide - x + numpy.uint64(10))
    rows = random.integers(-99, 99, (200, 333), numpy.int64)
    check("running maximum of every row, i64", gs.scan(rows, "max", inclusive=True), numpy.maximum.accumulate(rows, 1))
    y = random.random(500_001, numpy.float32)
    check("minimum, f32", gs.reduce(y, "min"), y.min())
    check("the first minimum's index", gs.reduce(y, "argmin"), numpy.uint64(y.argmin()))
    z = random.integers(-1000, 1000, 700_001, numpy.int32)
    check("histogram of 40 bins, i32", gs.histogram(z, 40, (-1000, 1000)),
          numpy.histogram(z, 40, (-1000, 1000))[0].astype(numpy.uint64))
    check("histogram of 64 bins, f32", gs.histogram(y, 64, (0.0, 1.0)),
          numpy.histogram(y, 64, (0.0, 1.0))[0].astype(numpy.uint64))
    check("nothing", gs.scan(x[:0]), x[:0])
    for kind, name, refused in (
            (ValueError, "xor of floats", lambda: gs.scan(y, "xor")),
            (ValueError, "operator sum", lambda: gs.scan(x, "sum")),
            (ValueError, "no bins", lambda: gs.histogram(x, bins=0)),
            (ValueError, "2**32 bins", lambda: gs.histogram(x[:0], bins=1 << 32)),
            (ValueError, "argmin of nothing", lambda: gs.reduce(x[:0], "argmin")),
            (ValueError, "init -1 of u32", lambda: gs.scan(x, init=-1)),
            (ValueError, "init 2.5 of i64", lambda: gs.scan(rows, init=2.5)),
            (TypeError, "booleans", lambda: gs.scan(x > 9)),
            (TypeError, "sums in another byte order", lambda: gs.scan(x, dtype=x.dtype.newbyteorder()))):
        try:
            refused()
            print(f"{name}: taken, WRONG")
            right = False
        except kind as error:
            print(f"{name}: refused: {error}")
    print(f"scan.py: {'as numpy has it' if right else 'WRONG'}")
    return not right


if __name__ == "__main__":
    sys.exit(main())
