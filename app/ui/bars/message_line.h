#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Something that a person can accept with a click, shown as long as it is on offer.
struct Offer {
    std::string label, help;
    std::function<void()> accept;
    std::string decline_label{};  ///< empty: it can't be declined
    std::function<void()> decline{};
};

struct MessageWords {
    std::string text;
    ImU32 colour, dot;
};
/// The worst result's sentence; empty: no result has one.
MessageWords result_words(const Stage& stage);
/// What is to be said now. An error stays until the next change. Any other message gives way to the
/// worst result after a while.
MessageWords message_words(const Stage& stage);

/// The line at the foot: the newest message or the worst result, an offer, the device.
class MessageLine {
  public:
    explicit MessageLine(Stage& stage) : stage_(stage) {}

    void draw(Ui& ui);
    void offer(std::optional<Offer> offer) { offer_ = std::move(offer); }

  private:
    Stage& stage_;
    std::optional<Offer> offer_;
};

}  // namespace warpscope::ui
