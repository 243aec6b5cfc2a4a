#pragma once

// What the pictures of a search need, made by its job so that the window only shows it.

#include "study/exploration/search_history.h"
#include "widgets/exploration/parallel_plot.h"
#include "widgets/exploration/search_plot.h"

#include <memory>

namespace orrery::app {

/// Never changes.
struct ExploreView {
    /// Points that have no answer for one reason.
    struct Refused {
        std::string why;
        std::size_t points = 0, first = 0;  ///< how many, and the row of the first
    };
    PointAnswers seen;
    Front front;
    std::shared_ptr<const ui::SearchPlotData> plot;
    std::shared_ptr<const ui::ParallelData> parallel;
    SearchHistory history;
    std::vector<Refused> refused;  ///< the most frequent first
    std::size_t broken = 0;        ///< points that answer and break a constraint
};
/// `drawn`: the question as it stands.
std::shared_ptr<const ExploreView> exploreView(const SearchProblem& problem, const BaseAnswer& drawn,
                                               const PointAnswers& seen);

}  // namespace orrery::app
