#include "compute/helper/helpers.h"
#include "fuzz.h"
#include "jobs/debugger/adapter.h"
#include "jobs/debugger/frames.h"

namespace {

using namespace warpscope;

/// Sends the messages of the bytes to a debugger. Each request has one answer, which says why where
/// it is a refusal. Nothing is launched: that would run programs.
void serve(std::string_view bytes) {
    static compute::Helpers helpers("/bin/false");
    std::size_t answers = 0;
    jobs::DebugAdapter adapter(helpers, [&](const jobs::Json& message) {
        if (message["type"] != "response") return;
        ++answers;
        tests::require(message["success"] == true || !message["message"].get<std::string>().empty(),
                       "a refusal says why");
    });
    jobs::FrameReader frames;
    frames.add(bytes);
    while (const auto text = frames.next()) {
        const auto message = jobs::Json::parse(*text, nullptr, false);
        const std::string words =
            message.dump(-1, ' ', false, jobs::Json::error_handler_t::replace);
        if (words.find("launch") != std::string::npos || words.find("cwd") != std::string::npos)
            continue;
        const bool is_request =
            message.is_object() && message.value("type", jobs::Json()) == "request";
        const std::size_t before = answers;
        adapter.handle(message, {});
        tests::require(answers == before + (is_request ? 1 : 0), "each request has one answer");
    }
}

}  // namespace

// What a client sends to a debugger; or an expression, if the text begins with "=".
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes = tests::text_of(data, size);
    try {
        if (bytes.starts_with('='))
            launches::LaneExpression(bytes.substr(1)).value([](const auto&) { return 1L; });
        else
            serve(bytes);
    } catch (const jobs::FrameError&) {
    } catch (const launches::LaunchError&) {
    }
    return 0;
}
