#pragma once

// Devices of the catalogue, as a test wants them: there, or the test cannot go on.

#include "hardware/files/catalogue.h"

#include <QtTest/QtTest>

#include <memory>
#include <string_view>

namespace orrery::fixture {

inline HardwarePtr device(std::string_view id) {
    auto loaded = loadHardware(id);
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    return std::make_shared<const Hardware>(std::move(loaded->hardware));
}

}  // namespace orrery::fixture
