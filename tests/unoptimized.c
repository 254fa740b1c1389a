/* cc -shared -fPIC unoptimized.c -o driver.so -Wl,--no-as-needed,-rpath,'$ORIGIN' libpocl.so.2 -ldl
   PoCL 3.1 that takes -cl-opt-disable at its word, on x86-64. That PoCL marks the functions as not to be optimized, and
   still sends them through all of LLVM's optimizations, which compute what they need before they leave a function
   alone; and through the code generator's. This library, loaded as the driver, needs PoCL's. So the loader looks here
   first for the functions of LLVM that PoCL calls. A later PoCL does not call the first of them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define POPULATE _ZN4llvm18PassManagerBuilder25populateModulePassManagerERNS_6legacy15PassManagerBaseE
#define ANALYSIS _ZNK4llvm13TargetMachine19getTargetIRAnalysisEv

typedef void add_function(void *passes, void *pass);
typedef void level_function(void *machine, int level);
typedef void *make_function(void);
typedef void *next_function(void *first, void *second);

void *POPULATE(void *builder, void *passes);
void *ANALYSIS(void *result, void *machine);

static int is_unoptimized(void) {
    const char *flags = getenv("POCL_EXTRA_BUILD_FLAGS");
    return flags && strstr(flags, "-cl-opt-disable");
}

/* llvm::PassManagerBuilder::populateModulePassManager. Without optimization only removes functions that nobody calls:
   some name variables that PoCL has replaced. */
void *POPULATE(void *builder, void *passes) {
    next_function *next = (next_function *)dlsym(RTLD_NEXT, __func__);
    make_function *make = (make_function *)dlsym(RTLD_NEXT, "_ZN4llvm19createGlobalDCEPassEv");
    add_function *add = (add_function *)dlsym(RTLD_NEXT, "_ZN4llvm6legacy11PassManager3addEPNS_4PassE");
    if (!is_unoptimized() || !make || !add)
        return next(builder, passes);
    add(passes, make());
    return NULL;
}

/* llvm::TargetMachine::getTargetIRAnalysis, which PoCL calls once it has made a machine. Without optimization sets the
   machine's level of optimization to none. */
void *ANALYSIS(void *result, void *machine) {
    next_function *next = (next_function *)dlsym(RTLD_NEXT, __func__);
    level_function *set =
        (level_function *)dlsym(RTLD_NEXT, "_ZN4llvm13TargetMachine11setOptLevelENS_10CodeGenOpt5LevelE");
    if (is_unoptimized() && set)
        set(machine, 0);
    return next(result, machine);
}
