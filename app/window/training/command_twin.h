#pragma once

// The question of the page as the command line asks it.

#include "app/window/training/training_question.h"

#include <QString>

namespace orrery::app {

/// `orrery-cli run …` of the step as the page shows it. A design that is none of the catalogue as it ships is named by
/// the file that it has to be exported to.
QString stepCommand(const TrainingQuestion& question, const std::vector<std::string>& methods);
/// `orrery-cli plan …`: the search for better plans, with the prices of device-hours.
QString planCommand(const TrainingQuestion& question, const QString& more = {});

}  // namespace orrery::app
