// append_json_string() and json_string() for this folder; they live in common/, since stored cells
// are written with them, too.
#pragma once

#include "common/json_string.h"
