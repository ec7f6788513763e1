// The one translation unit with Beast's own code (BOOST_BEAST_SEPARATE_COMPILATION).
#include "common/boost_assertions.h"

// Behind its assertions.
#include <boost/beast/src.hpp>
