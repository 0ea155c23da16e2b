#include "experiments/launch/gallery.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "compiler/nvrtc.h"
#include "compute/helper/helpers.h"
#include "experiments/launch/launch_parameters.h"
#include "experiments/launch/open_launch.h"

namespace warpscope::experiments {
namespace {

/// "pixels 8 pointer, width 4 integer": what the launch of a kernel depends on.
std::string words(const compiler::Signature& signature) {
    std::string text = signature.name + " " + signature.entry;
    const auto add = [&](const auto& self, const std::string& name,
                         const compiler::Type& type) -> void {
        text += fmt::format(", {} {} {}", name, type.bytes, int(type.kind));
        for (const compiler::Member& member : type.members)
            self(self, fmt::format("{}+{}", member.name, member.offset), *member.type);
        if (type.target) self(self, type.target_is_const ? "const" : "to", *type.target);
    };
    for (const compiler::KernelParameter& parameter : signature.parameters)
        add(add, parameter.name, *parameter.type);
    return text;
}

TEST(GalleryFiles, TheSignaturesAreThoseThatTheCompilerFinds) {
    compute::Helpers helpers(WARPSCOPE);
    for (const GalleryKernel& kernel : gallery()) {
        const launches::LaunchFile file = gallery_file(kernel.name);
        CompiledEntry opened;
        try {
            opened = open_launch(helpers, file, compute::Math::precise);
        } catch (const compiler::NoCompiler& error) {
            GTEST_SKIP() << error.what();
        }
        const auto parameters = opened.entry->make_parameters();
        const auto& plan = parameters->of_launch_file()->plan;
        std::set<std::string> found, known;
        for (const auto& signature : plan->signatures) found.insert(words(signature));
        for (const auto& signature : gallery_signatures(file)) known.insert(words(signature));
        EXPECT_EQ(found, known) << kernel.name;
        EXPECT_TRUE(opened.left_out.empty()) << kernel.name;
    }
}

}  // namespace
}  // namespace warpscope::experiments
