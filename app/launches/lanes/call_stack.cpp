#include "launches/lanes/call_stack.h"

namespace warpscope::launches {

using emulator::SourceCall;

std::vector<LaneFrame> call_stack(const emulator::Kernel& kernel,
                                  const compiler::DebugScopes& scopes, std::uint32_t pc) {
    const emulator::SourceLine& at = kernel.lines[pc].source;
    std::vector<LaneFrame> frames;
    LaneFrame frame{.place = at.own, .ptx_line = at.ptx_line};
    for (const SourceCall* call = at.call.get();; call = call->caller.get()) {
        if (frame.place.file < 0) frame.place.line = frame.ptx_line;
        frame.instance = call ? call->instance : 0;
        for (const compiler::InlinedCall& inlined : scopes.inlined) {
            if (!inlined.is_at(std::uint64_t(frame.ptx_line))) continue;
            frame.function = inlined.function;
            frames.push_back(frame);
            frame.place = {inlined.file, inlined.line};
        }
        frame.function = call ? call->function : kernel.name;
        if (const auto text = scopes.texts.find(frame.function); text != scopes.texts.end())
            frame.function = text->second;
        frame.function = emulator::function_name(frame.function);
        frames.push_back(frame);
        if (!call || (call->site.file < 0 && call->ptx_line == 0)) break;
        frame.place = call->site;
        if (call->ptx_line) frame.ptx_line = call->ptx_line;
    }
    for (std::size_t i = frames.size() - 1; i > 0; --i)
        if (frames[i - 1].instance == frames[i].instance)
            frames[i - 1].inlined = frames[i].inlined + 1;
    return frames;
}

}  // namespace warpscope::launches
