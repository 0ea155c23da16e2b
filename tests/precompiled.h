#pragma once

#include <gtest/gtest.h>

#include <random>

#include <precompiled.h>
