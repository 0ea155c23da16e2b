#pragma once

#include "emulator/checks/observer_list.h"

namespace warpscope::emulator {

/// Observers that are told of all events, also of blocks that follow a model.
class ToldObservers : public ObserverList {
  public:
    Observer* followers() override { return nullptr; }
    Observer* others() override { return this; }
};

}  // namespace warpscope::emulator
