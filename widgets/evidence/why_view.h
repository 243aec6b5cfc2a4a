#pragma once

// The "why this number" dock: follows the selected operator and the primary method; of one that answers a whole pass
// at once, the best answer that prices kernels tells instead.

#include "widgets/common/result_view.h"

namespace orrery::ui {

class StoryView;

class WhyView : public ResultView {
    Q_OBJECT
public:
    explicit WhyView(Selection* selection, QWidget* parent = nullptr);
    StoryView* story() const { return story_; }

protected:
    void snapshotChanged(const SnapshotPtr& before) override;
    void showEvent(QShowEvent* event) override;

private:
    void explain();
    /// The selected operator, or the one that takes longest; −1 for none.
    int operatorShown(const Estimate& answer) const;

    StoryView* story_;
    bool stale_ = true;  ///< changed while nobody looked
};

}  // namespace orrery::ui
