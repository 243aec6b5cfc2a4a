#pragma once

// Keys that belong to a view and not to a command: what the shortcuts list shows beside the commands' own.

#include <QString>

#include <vector>

namespace orrery::app {

struct ViewKeys {
    QString view;
    std::vector<std::pair<QString, QString>> keys;  ///< what it does, the keys
};
std::vector<ViewKeys> viewKeys();

}  // namespace orrery::app
