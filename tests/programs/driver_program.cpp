// A program that loads the CUDA driver itself, as PyCUDA and others do, and needs no nvcc. It
// prints what each step gives. NVIDIA's documentation has the types; CUresult is an int, handles
// are pointers.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr const char* ptx = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry add_one(.param .u64 data, .param .u32 count)
{
    .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<3>;
    ld.param.u64 %d1, [data];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p, %r2, %r1;
    @%p bra END;
    mul.wide.u32 %d2, %r2, 4;
    add.u64 %d1, %d1, %d2;
    ld.global.u32 %r3, [%d1];
    add.u32 %r3, %r3, 1;
    st.global.u32 [%d1], %r3;
END:
    ret;
}
.visible .entry not_known()
{
    wgmma.fence.sync.aligned;
    ret;
}
)";

void* library = nullptr;

template <class... Arguments>
int call(const char* name, Arguments... arguments) {
    auto* const function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name));
    return function ? function(arguments...) : -1;
}

}  // namespace

int main() {
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return std::printf("no libcuda.so.1\n"), 2;
    int count = 0;
    void *context = nullptr, *module = nullptr, *function = nullptr, *unknown = nullptr;
    std::printf("init %d, ", call("cuInit", 0u));
    const int counted = call("cuDeviceGetCount", &count);
    std::printf("count %d: %d, ", counted, count);
    std::printf("context %d\n", call("cuDevicePrimaryCtxRetain", &context, 0));
    std::printf("module %d, ", call("cuModuleLoadData", &module, static_cast<const void*>(ptx)));
    std::printf("kernel %d, ", call("cuModuleGetFunction", &function, module, "add_one"));
    std::printf("missing %d, ", call("cuModuleGetFunction", &unknown, module, "nothing"));
    std::printf("unknown %d\n", call("cuModuleGetFunction", &unknown, module, "not_known"));
    std::vector<unsigned> values{1, 2, 3, 4};
    std::uint64_t memory = 0;
    std::printf("memory %d, ", call("cuMemAlloc_v2", &memory, std::size_t(16)));
    std::printf("copy %d, ", call("cuMemcpyHtoD_v2", memory,
                                  static_cast<const void*>(values.data()), std::size_t(16)));
    std::printf("too long %d\n", call("cuMemcpyHtoD_v2", memory,
                                      static_cast<const void*>(values.data()), std::size_t(17)));
    unsigned elements = 3;
    void* arguments[] = {&memory, &elements};
    const auto launch = [&](void* kernel, unsigned threads) {
        return call("cuLaunchKernel", kernel, 1u, 1u, 1u, threads, 1u, 1u, 0u,
                    static_cast<void*>(nullptr), static_cast<void**>(arguments),
                    static_cast<void**>(nullptr));
    };
    std::printf("launch %d, ", launch(function, 32));
    std::printf("too large %d, ", launch(function, 1025));
    std::printf("unknown %d\n", launch(unknown, 32));
    std::printf("copy back %d: ", call("cuMemcpyDtoH_v2", static_cast<void*>(values.data()), memory,
                                       std::size_t(16)));
    for (const unsigned value : values) std::printf("%u ", value);
    std::printf("\nfree %d, ", call("cuMemFree_v2", memory));
    std::printf("again %d\n", call("cuMemFree_v2", memory));
    void* missing = nullptr;
    call("cuGetProcAddress_v2", "cuThisIsNoFunction", &missing, 13000, std::uint64_t(0),
         static_cast<int*>(nullptr));
    std::printf("a function that is missing: %d\n", reinterpret_cast<int (*)()>(missing)());
}
