#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "emulator/happens_before/join_clocks.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "emulator/happens_before/join_clocks.h"

HWY_BEFORE_NAMESPACE();
namespace warpscope::emulator::HWY_NAMESPACE {

void join_words(std::uint32_t* into, const std::uint32_t* from, std::size_t count) {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::ScalableTag<std::uint32_t> tag;
    std::size_t k = 0;
    for (; k + hn::Lanes(tag) <= count; k += hn::Lanes(tag))
        hn::StoreU(hn::Max(hn::LoadU(tag, into + k), hn::LoadU(tag, from + k)), tag, into + k);
    for (; k < count; ++k) into[k] = std::max(into[k], from[k]);
}

}  // namespace warpscope::emulator::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpscope::emulator {

HWY_EXPORT(join_words);

void join_clocks(std::span<std::uint32_t> into, std::span<const std::uint32_t> from) {
    HWY_DYNAMIC_DISPATCH(join_words)(into.data(), from.data(), into.size());
}

}  // namespace warpscope::emulator
#endif
