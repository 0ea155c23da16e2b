#include "fuzz.h"
#include "jobs/output/files_and_terminal.h"
#include "jobs/output/known_findings.h"

// A baseline, a file of suppressions, and a source with comments, all of the same bytes. What can't
// be read is refused with one line, and a baseline that was written knows all that is in it.
namespace {

using namespace warpscope;

emulator::Verdict verdict() {
    emulator::Verdict found;
    for (int line = 1; line <= 4; ++line) {
        emulator::Finding f{.kind = emulator::FindingKind(line % 3), .kernel = "blur"};
        f.first = {"blur.cu", line, {}, {}};
        f.second = {"blur.cu", 1, {}, {}};
        f.repaired_too = found.findings;
        found.findings.push_back(f);
    }
    return found;
}

jobs::Known review(const jobs::FindingFiles& files, std::string_view source) {
    const emulator::CheckChoice checks{.race = true, .barrier = true, .memory = true};
    return jobs::review(verdict(), checks, files,
                        {[=](const std::string&) { return source; }, {"blur.cu"}});
}

void read(const jobs::FindingFiles& files) {
    try {
        review(files, "tile[i] = x;\ny = tile[i];\n");
    } catch (const jobs::UsageError& error) {
        tests::require(std::string_view(error.what()).find('\n') == std::string_view::npos,
                       "a refusal is one line");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const tests::FuzzFolder folder;
    const std::string_view bytes = tests::text_of(data, size);
    const auto file = folder.write("given", bytes);
    read({.baseline = file});
    read({.suppressions = file});
    const jobs::Known first = review({}, bytes);
    const jobs::Known again = review({.baseline = folder.write("baseline", first.baseline)}, bytes);
    tests::require(again.count(jobs::Standing::fresh) == 0, "a baseline knows what is in it");
    tests::require(again.unmatched == first.unmatched, "all of a baseline matches");
    tests::require(again.baseline == first.baseline, "a baseline is written as it was");
    return 0;
}
