// The headers that most verbs include, compiled once.
#include <CLI/CLI.hpp>

#include "eps/base/precompiled.h"
