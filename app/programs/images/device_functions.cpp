#include "programs/images/device_functions.h"

#include <string_view>

namespace warpscope::programs {

namespace {

struct DeviceFunction {
    std::string_view name;
    bool uses_heap;
    std::string_view text;
};

// Source: CUDA C++ Programming Guide, "Dynamic Global Memory Allocation"; CUDA Runtime API,
// "cudaGraphSetConditional". A piece of the heap begins with 16 bytes that hold its size.
constexpr DeviceFunction functions[] = {
    {"malloc", true, R"(
.func (.param .b64 result) malloc(.param .b64 bytes)
{
    .reg .pred %p<2>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [bytes];
    ld.global.u64 %rd2, [$warpscope_heap];
    add.s64 %rd3, %rd1, 31;
    and.b64 %rd3, %rd3, -16;
    mov.u64 %rd8, 0;
    atom.global.add.u64 %rd4, [%rd2+8], %rd3;
    add.s64 %rd4, %rd4, %rd3;
    ld.global.u64 %rd5, [%rd2+16];
    setp.gt.u64 %p1, %rd4, %rd5;
    @%p1 bra full;
    atom.global.add.u64 %rd6, [%rd2], %rd3;
    st.global.u64 [%rd6], %rd3;
    add.s64 %rd8, %rd6, 16;
    bra done;
full:
    neg.s64 %rd7, %rd3;
    atom.global.add.u64 %rd4, [%rd2+8], %rd7;
done:
    st.param.b64 [result], %rd8;
    ret;
}
)"},
    {"free", true, R"(
.func free(.param .b64 pointer)
{
    .reg .pred %p<2>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [pointer];
    setp.eq.u64 %p1, %rd1, 0;
    @%p1 bra done;
    ld.global.u64 %rd2, [$warpscope_heap];
    ld.global.u64 %rd3, [%rd1+-16];
    neg.s64 %rd3, %rd3;
    atom.global.add.u64 %rd4, [%rd2+8], %rd3;
done:
    ret;
}
)"},
    {"cudaGraphSetConditional", false, R"(
.func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [handle];
    ld.param.u32 %r1, [value];
    st.global.u32 [%rd1], %r1;
    ret;
}
)"},
};

bool is_of_name(char c) {
    return c == '_' || c == '$' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/// Whether a text declares a function that another module has.
bool declares(std::string_view ptx, std::string_view name) {
    constexpr std::string_view declaration = ".extern .func";
    for (std::size_t at = ptx.find(declaration); at != ptx.npos;
         at = ptx.find(declaration, at + declaration.size())) {
        const std::string_view head = ptx.substr(at, ptx.find(';', at) - at);
        for (std::size_t found = head.find(name); found != head.npos;
             found = head.find(name, found + 1)) {
            const std::size_t end = found + name.size();
            if (!is_of_name(head[found - 1]) && (end == head.size() || !is_of_name(head[end])))
                return true;
        }
    }
    return false;
}

}  // namespace

std::string with_device_functions(std::string ptx) {
    std::string more;
    bool uses_heap = false;
    for (const DeviceFunction& function : functions)
        if (declares(ptx, function.name)) {
            more += function.text;
            uses_heap |= function.uses_heap;
        }
    if (uses_heap) ptx.append("\n.global .align 8 .u64 ").append(heap_variable).append(";\n");
    return ptx + more;
}

}  // namespace warpscope::programs
