#pragma once

#include <fmt/format.h>

#include <bit>
#include <string>
#include <vector>

#include "emulator/stepper/stepper.h"

namespace warpscope::emulator {

inline std::string text_of(const std::optional<AccessView>& a) {
    if (!a) return "none";
    std::string text = fmt::format("{} {} {:x} {} {} {}", a->step, a->warp, a->mask, a->pc,
                                   a->bytes, int(a->kind));
    for (std::uint32_t m = a->mask; m; m &= m - 1)
        text += fmt::format(" {:x}", a->addresses[std::size_t(std::countr_zero(m))]);
    return text;
}

inline std::string text_of(const WarpView& w) {
    std::string text = fmt::format("{:x} {:x}", w.threads, w.exited);
    for (const SplitView& s : w.splits)
        text += fmt::format(" [{} {:x} {} {}]", int(s.state), s.mask, s.pc, s.barrier);
    return text;
}

/// Everything that a Stepper shows, as lines of text.
inline std::vector<std::string> state_of(const Stepper& s) {
    std::vector<std::string> lines{fmt::format("{} {} {} {} {}", s.position(), int(s.end()),
                                               s.error(), s.epoch(), s.next_warp().value_or(99))};
    for (std::uint32_t w = 0; w < s.warps(); ++w) {
        lines.push_back(fmt::format("warp {}: {}", w, text_of(s.warp(w))));
        lines.push_back("shared " + text_of(s.shared_access(w)));
        lines.push_back("global " + text_of(s.global_access(w)));
        for (const RegisterInfo& r : s.kernel().registers) {
            std::string text = r.name;
            for (unsigned lane = 0; lane < 32; ++lane)
                text += fmt::format(" {:x}", s.value(r, w, lane));
            lines.push_back(std::move(text));
        }
    }
    const auto shared = s.shared_memory();
    for (std::size_t w = 0; w < s.words().size(); ++w) {
        const WordView& v = s.words()[w];
        std::string text =
            fmt::format("word {}: {} {} {} {} {} {} {} of {} {}, copy {} {} {} =", w, v.writer,
                        v.reader, v.write_epoch, v.read_epoch, v.write_pc, v.read_pc, v.hazard,
                        v.writer_rank, v.reader_rank, int(v.copy), v.copy_rank, v.copy_number);
        for (std::size_t b = 4 * w; b < std::min(4 * w + 4, shared.size()); ++b)
            text += fmt::format(" {:x}", int(shared[b]));
        lines.push_back(std::move(text));
    }
    for (const Finding& f : s.findings())
        lines.push_back(fmt::format("{} {}", f.count, f.sentence));
    return lines;
}

}  // namespace warpscope::emulator
