#include "compiler/nvrtc_output.h"
#include "fuzz.h"

// The messages of the compiler, in which the words of a kernel source stand. The texts of all
// diagnostics are lines of UTF-8.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace warpscope;
    const std::string_view log = tests::text_of(data, size);
    const compiler::Request request{"kernels/k.cu", "line 1\nline 2\nline 3\n"};
    for (const compiler::Diagnostic& one : compiler::read_log(log, request)) {
        tests::require(one.line >= 0 && one.column >= 0, "lines and columns are not negative");
        for (std::string_view text = one.text; !text.empty();) {
            const std::size_t bytes = compiler::character_bytes(text);
            tests::require(bytes > 0, "a text is UTF-8");
            tests::require(!compiler::is_control(text.substr(0, bytes)), "a text is one line");
            text.remove_prefix(bytes);
        }
    }
    const std::string portable = compiler::portable_ptx(log, request, "/home/me");
    tests::require(compiler::portable_ptx(portable, request, "/home/me") == portable,
                   "a portable text stays as it is");
    return 0;
}
