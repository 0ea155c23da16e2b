#pragma once

#include "emulator/observe/observer_list.h"

namespace warpscope::emulator {

/// Observers that are told of all events, also of blocks that follow a model.
class ToldObservers : public ObserverList {
  public:
    std::vector<Observer*> parts() override { return {this}; }
};

}  // namespace warpscope::emulator
