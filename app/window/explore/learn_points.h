#pragma once

// "Learn from these points": what a search has found becomes a method in a file, and is chosen.

#include "app/document/background.h"
#include "app/window/explore/explore_view.h"
#include "study/exploration/search.h"

#include <QPushButton>

#include <memory>

namespace orrery::app {

class Studio;

class LearnPoints : public QPushButton {
    Q_OBJECT
public:
    LearnPoints(Studio& studio, QWidget* parent);
    /// Of a search that has ended; null: there is none.
    void setPoints(std::shared_ptr<const SearchProblem> problem, std::shared_ptr<const ExploreView> view);
    /// Learns, writes the file and chooses it as the method of the search and of the project: one step of the undo
    /// list. In the background; a click while it works stops it.
    void learn(const QString& file);
    bool isBusy() const { return work_.isRunning(); }

private:
    void ask();
    void showState();

    Studio& studio_;
    std::shared_ptr<const SearchProblem> problem_;
    std::shared_ptr<const ExploreView> view_;
    Background work_;  ///< last
};

}  // namespace orrery::app
