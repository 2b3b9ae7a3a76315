// The headers that most tests take in, compiled once.
#include <gtest/gtest.h>

#include "eps/base/precompiled.h"
