#pragma once

// Tables and sentences of a fidelity view.

#include "app/window/fidelity/fidelity_run.h"
#include "widgets/evidence/cells_model.h"

#include <QStringList>

#include <vector>

namespace orrery::app {

struct FidelityTable {
    QStringList heads;
    std::vector<std::vector<ui::Cell>> rows;
    std::vector<int> operators;  ///< by row, where rows are operators
};
FidelityTable stepCells(const FidelityView& view);    ///< of a ladder its methods, of a budget what was asked
FidelityTable widestCells(const FidelityView& view);  ///< operators by share of the interval
FidelityTable adviceCells(const FidelityView& view);
QString headlineOf(const FidelityView& view);
QString sentenceOf(const FidelityView& view);  ///< what the answer rests on
QString reasonsOf(const Advice& advice);
/// The same on the command line, after hardware and workload.
QString twinOf(const FidelityQuestion& question);

}  // namespace orrery::app
