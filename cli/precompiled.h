// The headers that most verbs take in, compiled once.
#include <CLI/CLI.hpp>

#include "eps/base/precompiled.h"
