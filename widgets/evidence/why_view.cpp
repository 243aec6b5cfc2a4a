#include "widgets/evidence/why_view.h"

#include "methods/model/explain.h"
#include "widgets/common/text.h"
#include "widgets/evidence/story_view.h"

#include <QVBoxLayout>

#include <algorithm>

namespace orrery::ui {

WhyView::WhyView(Selection* selection, QWidget* parent)
    : ResultView(QStringLiteral("why"), tr("Why"), selection, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    story_ = new StoryView(this);
    column->addWidget(story_);
    setEmptyState(
        {tr("Nothing to explain yet"),
         tr("For the selected operator this shows the kernels that it launches and the chain of terms that makes "
            "each time."),
         tr("Choose methods")});
    connect(selection, &Selection::changed, this, &WhyView::explain);
}

void WhyView::snapshotChanged(const SnapshotPtr&) {
    setEmpty(!snapshot() || snapshot()->answers.empty());
    explain();
}

void WhyView::showEvent(QShowEvent* event) {
    ResultView::showEvent(event);
    if (stale_) explain();
}

int WhyView::operatorShown() const {
    const Estimate* answer = snapshot()->primaryEstimate();
    const std::size_t rows = answer ? answer->operators.size() : 0;
    for (const int op : selection()->operators())
        if (op >= 0 && static_cast<std::size_t>(op) < rows) return op;
    if (rows == 0) return -1;
    const auto& seconds = answer->operators.seconds;
    return static_cast<int>(std::ranges::max_element(seconds) - seconds.begin());
}

void WhyView::explain() {
    stale_ = !isVisible();
    if (stale_ || !snapshot() || snapshot()->answers.empty()) return;
    const auto& answers = snapshot()->answers;
    const auto at = static_cast<std::size_t>(std::clamp(snapshot()->primary, 0, static_cast<int>(answers.size()) - 1));
    const int op = operatorShown();
    if (op < 0) return story_->setKernels({}, answers[at].title, {}, tr("The method has no answer to explain."));
    const Scenario& scenario = snapshot()->scenario;
    const QString name = qs(scenario.workload->graph.operators[static_cast<std::size_t>(op)].name);
    const auto choice = methodChoice(answers[at].method.toStdString(), builtinMethods());
    if (!choice) return story_->setKernels(name, answers[at].title, {}, windowText(choice.error().message));
    auto kernels = explainOperator(scenario, *choice, static_cast<std::size_t>(op), snapshot()->calibrations.get());
    if (!kernels) {
        return story_->setKernels(name, answers[at].title, {},
                                  windowText(kernels.error().message) + QStringLiteral(". ") + windowText(kernels.error().hint));
    }
    std::vector<KernelAnswer> shown;
    for (ExplainedKernel& each : *kernels)
        shown.push_back(
            {qs(toText(each.kernel)), each.price, std::move(each.story), each.times, each.share, each.bound});
    const QString why = shown.empty()
                            ? tr("This operator launches no kernel: it moves no data, or it is fused into another.")
                            : QString();
    story_->setKernels(name, answers[at].title, std::move(shown), why);
}

}  // namespace orrery::ui
