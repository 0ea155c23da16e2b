#include <span>

#include "fuzz.h"
#include "programs/images/fat_binary.h"
#include "programs/images/line_table.h"
#include "programs/images/ptx_entries.h"

// What a program registers as its kernels. Images are read, or get a problem; the PTX in them is
// cut into kernels.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace warpscope;
    const auto bytes = std::as_bytes(std::span(data, size));
    for (const programs::Image& image : programs::read_fat_binary(bytes)) {
        const auto entries = programs::entries_of(image.ptx);
        const std::string rest = programs::without(image.ptx, entries);
        tests::require(rest.size() == image.ptx.size(), "a text without kernels keeps its length");
        tests::require(image.problem.empty() || image.ptx.empty(), "a problem has no PTX");
    }
    programs::ptx_of_cubin(bytes);
    programs::read_line_table(bytes, {{0, 1}});
    programs::entries_of({reinterpret_cast<const char*>(data), size});
    return 0;
}
