#pragma once

// What all result views show: one immutable answer to the live question, replaced as a whole on each evaluation.

#include "evaluation/reference.h"
#include "hardware/views/device_view.h"
#include "methods/method.h"

#include <QObject>
#include <QSet>
#include <QString>

#include <memory>
#include <optional>
#include <vector>

namespace orrery::ui {

/// Of the failure of a method that a run asks, but no edit.
inline constexpr const char* notAskedCode = "method.not-asked";

struct Answer {
    QString method;  ///< id
    QString title;
    std::shared_ptr<const Estimate> estimate;  ///< null while it is running or if it failed
    std::optional<Diagnostic> failure;
    int colour = 0;  ///< index for Theme::methodColour
    /// The method is made for other devices or models: no mistake, so not shown as one.
    bool notApplicable() const { return failure && failure->code == "method.not-applicable"; }
    bool notAsked() const { return failure && failure->code == notAskedCode; }
    /// It failed where it should have answered.
    bool failed() const { return failure && !notApplicable() && !notAsked(); }
};

/// What was measured, or simulated by a slower method, for one operator on this very device.
struct OperatorReference {
    int op = 0;
    double seconds = 0;    ///< all repeats
    bool measured = true;  ///< false: drawn hollow
    QString source;
};

struct Snapshot {
    quint64 revision = 0;
    Scenario scenario;
    std::shared_ptr<const DeviceView> device;  ///< null if the hardware has no valid device view
    std::vector<Answer> answers;
    int primary = 0;  ///< the answer whose operators, timeline and breakdown are shown; the best unless one was chosen
    int best = -1;    ///< the answer with the best evidence, -1 where none answered
    QString bestReason;            ///< one sentence
    std::optional<Seconds> bound;  ///< of the same kernels, beside the best answer
    bool live = true;
    std::optional<Reference> reference;                  ///< published for exactly this question
    std::vector<OperatorReference> references;           ///< rising by operator
    std::shared_ptr<const CalibrationSet> calibrations;  ///< that the answers were made with; null: what ships

    const Estimate* primaryEstimate() const {
        const auto at = static_cast<std::size_t>(primary);
        return at < answers.size() ? answers[at].estimate.get() : nullptr;
    }
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

/// One selection for the whole studio: operators of the workload's graph, by index.
class Selection : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;
    const QSet<int>& operators() const { return operators_; }
    int hovered() const { return hovered_; }
    void select(const QSet<int>& operators);
    void toggle(int op);
    void clear() { select({}); }
    void hover(int op);  ///< -1: none

signals:
    void changed();
    void hoverChanged(int op);

private:
    QSet<int> operators_;
    int hovered_ = -1;
};

}  // namespace orrery::ui
