#include "widgets/evidence/why_view.h"

#include "evaluation/best_answer.h"
#include "methods/model/explain.h"
#include "widgets/common/text.h"
#include "widgets/evidence/story_view.h"

#include <QVBoxLayout>

#include <algorithm>

namespace orrery::ui {

namespace {

EmptyState nothingYet() {
    return {WhyView::tr("Nothing to explain yet"),
            WhyView::tr("For the selected operator this shows its kernels and the terms of each time."),
            WhyView::tr("Choose methods")};
}

EmptyState nobodyTells(const QString& method) {
    return {WhyView::tr("No terms to show"),
            WhyView::tr("%1 predicts the whole pass and has no terms for an operator. Add %2 or %3: they predict each "
                        "kernel, and this panel shows how.")
                .arg(method, qs(methodTitle("tile-wave")), qs(methodTitle("roofline"))),
            WhyView::tr("Choose methods")};
}

/// The chosen answer, or else the best of those that can tell why; −1 for none.
int whoTells(const Snapshot& snapshot) {
    const auto tells = [&](std::size_t at) {
        const Answer& answer = snapshot.answers[at];
        const auto choice = methodChoice(answer.method.toStdString(), builtinMethods());
        return answer.estimate && choice && tellsWhy(choice->id);
    };
    const auto primary = static_cast<std::size_t>(snapshot.primary);
    if (primary < snapshot.answers.size() && tells(primary)) return snapshot.primary;
    std::vector<AskedAnswer> asked;
    for (const Answer& answer : snapshot.answers) asked.push_back({answer.method.toStdString(), answer.estimate.get()});
    for (const std::size_t at : rankAnswers(asked).order)
        if (tells(at)) return static_cast<int>(at);
    return -1;
}

}  // namespace

WhyView::WhyView(Selection* selection, QWidget* parent)
    : ResultView(QStringLiteral("why"), tr("Why"), selection, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    story_ = new StoryView(this);
    column->addWidget(story_);
    setEmptyState(nothingYet());
    connect(selection, &Selection::changed, this, &WhyView::explain);
}

void WhyView::snapshotChanged(const SnapshotPtr&) {
    explain();
}

void WhyView::showEvent(QShowEvent* event) {
    ResultView::showEvent(event);
    if (stale_) explain();
}

int WhyView::operatorShown(const Estimate& answer) const {
    const std::size_t rows = answer.operators.size();
    if (rows == 0) return -1;
    const auto& seconds = answer.operators.seconds;
    // A question about one operator has one answer, whatever is selected.
    if (!std::holds_alternative<OneOperator>(snapshot()->scenario.task)) {
        for (const int op : selection()->operators())
            if (op >= 0 && static_cast<std::size_t>(op) < rows) return op;
    }
    return static_cast<int>(std::ranges::max_element(seconds) - seconds.begin());
}

void WhyView::explain() {
    const bool any = snapshot() && !snapshot()->answers.empty();
    const int teller = any ? whoTells(*snapshot()) : -1;
    const auto& answers = any ? snapshot()->answers : std::vector<Answer>();
    const Answer* chosen = any ? &answers[static_cast<std::size_t>(
                                     std::clamp(snapshot()->primary, 0, static_cast<int>(answers.size()) - 1))]
                               : nullptr;
    // A method that failed says so itself; only one that answers is without terms.
    const bool silent = chosen && chosen->estimate && teller < 0;
    setEmptyState(silent ? nobodyTells(chosen->title) : nothingYet());
    setEmpty(!any || silent);
    stale_ = !isVisible();
    if (stale_ || isEmpty()) return;
    if (teller < 0) return story_->setKernels({}, chosen->title, {}, tr("The method has no answer to explain."));
    const Answer& told = answers[static_cast<std::size_t>(teller)];
    const QString instead =
        teller == snapshot()->primary
            ? QString()
            : tr("%1 predicts the whole pass; these are the terms of %2.").arg(chosen->title, told.title);
    const int op = operatorShown(*told.estimate);
    if (op < 0) return story_->setKernels({}, told.title, {}, tr("The method has no answer to explain."));
    const Scenario& scenario = snapshot()->scenario;
    const QString name = qs(scenario.workload->graph.operators[static_cast<std::size_t>(op)].name);
    const auto choice = methodChoice(told.method.toStdString(), builtinMethods());
    auto kernels = explainOperator(scenario, *choice, static_cast<std::size_t>(op), snapshot()->calibrations.get());
    if (!kernels) {
        return story_->setKernels(
            name, told.title, {},
            windowText(kernels.error().message) + QStringLiteral(". ") + windowText(kernels.error().hint));
    }
    std::vector<KernelAnswer> shown;
    for (ExplainedKernel& each : *kernels)
        shown.push_back(
            {qs(toText(each.kernel)), each.price, std::move(each.story), each.times, each.share, each.bound});
    const QString none = tr("This operator launches no kernel: it moves no data, or it is fused into another.");
    QStringList said{instead};
    if (shown.empty()) said << none;
    said.removeAll(QString());
    story_->setKernels(name, told.title, std::move(shown), said.join(QLatin1Char(' ')));
}

}  // namespace orrery::ui
