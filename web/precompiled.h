#pragma once
#include "libcxx.h"
#include "../app/precompiled.h"
