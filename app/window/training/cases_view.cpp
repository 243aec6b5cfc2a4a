#include "app/window/training/cases_view.h"

#include "app/window/form_parts.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/cells_model.h"

#include <QElapsedTimer>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include <cmath>

namespace orrery::app {

namespace {

QString shapeText(TopologyShape shape) {
    return shape == TopologyShape::Ring             ? CasesView::tr("ring")
           : shape == TopologyShape::FullyConnected ? CasesView::tr("all connected")
                                                    : CasesView::tr("switch");
}

QString cyclesText(double cycles) {
    return ui::countText(std::round(cycles));
}

}  // namespace

CasesView::CasesView(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("training.cases"));
    setAccessibleName(tr("Runs recorded by other tools"));
    const int unit = ui::Theme::instance().unit();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(2 * unit, 2 * unit, 2 * unit, unit);
    column->setSpacing(unit);
    title_ = new ui::Label({}, ui::FontRole::Title, ui::Tone::Normal, this);
    text_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, this);
    text_->setWordWrap(true);
    table_ = new ui::CellsTable(QStringLiteral("training.cases.table"), tr("Runs"),
                                tr("One row for each run; hover a number to read what it is"), this);
    source_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, this);
    source_->setWordWrap(true);
    state_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, this);
    state_->setObjectName(QStringLiteral("training.cases.state"));
    state_->setElided(true);
    again_ = named(new QPushButton(tr("Run again"), this), "training.cases.again", tr("Run again"),
                   tr("Every run of the file, by both sets of rules"));
    close_ = named(new QPushButton(tr("Back to the plan"), this), "training.cases.close", tr("Back to the plan"),
                   tr("Closes these runs and shows the project's training step"));
    auto* row = new QHBoxLayout;
    row->addWidget(again_);
    row->addWidget(state_, 1);
    row->addWidget(close_);
    column->addWidget(title_);
    column->addWidget(text_);
    column->addLayout(row);
    column->addWidget(table_, 1);
    column->addWidget(source_);
    connect(again_, &QPushButton::clicked, this, &CasesView::run);
    connect(close_, &QPushButton::clicked, this, &CasesView::closed);
    connect(&work_, &Background::ended, this, &CasesView::showTable);
}

void CasesView::setCases(TrainingCases cases) {
    cases_ = std::make_shared<const TrainingCases>(std::move(cases));
    answers_.assign(cases_->runs.size(), {});
    title_->setText(ui::qs(cases_->name));
    text_->setText(ui::qs(cases_->description));
    source_->setText(ui::qs(cases_->source));
    showTable();
    run();
}

void CasesView::run() {
    if (!cases_) return;
    struct Found {
        std::vector<Answers> answers;
        double seconds = 0;
    };
    work_.ask(
        [cases = cases_](std::stop_token stop, Progress&) {
            QElapsedTimer clock;
            clock.start();
            Found found;
            for (std::size_t i = 0; i < cases->runs.size() && !stop.stop_requested(); ++i) {
                Answers answers;
                const auto same = runTrainingCase(*cases, i, false, stop);
                const auto own = runTrainingCase(*cases, i, true, stop);
                if (same) answers.same = *same;
                if (own) answers.own = *own;
                if (!same) answers.refusal = ui::windowText(same.error().message);
                found.answers.push_back(std::move(answers));
            }
            found.answers.resize(cases->runs.size());
            found.seconds = static_cast<double>(clock.nsecsElapsed()) * 1e-9;
            return found;
        },
        [this](Found found) {
            answers_ = std::move(found.answers);
            seconds_ = found.seconds;
        });
    showTable();
}

void CasesView::showTable() {
    std::vector<std::vector<ui::Cell>> rows;
    int exact = 0, known = 0;
    for (std::size_t i = 0; cases_ && i < cases_->runs.size(); ++i) {
        const TrainingCaseRun& run = cases_->runs[i];
        const Answers& answers = answers_[i];
        std::vector<ui::Cell> cells{
            {ui::qs(run.name), static_cast<double>(i), {}, ui::Tone::Normal, false},
            {tr("%1 on a %2, %3 GB/s, %4 ns")
                 .arg(run.ranks)
                 .arg(shapeText(run.shape))
                 .arg(run.bandwidth)
                 .arg(run.latency),
             static_cast<double>(run.ranks),
             {},
             ui::Tone::Muted,
             false},
            {run.exposed ? tr("exposed communication") : tr("time to the end"), 0, {}, ui::Tone::Muted, false},
            run.recorded ? ui::Cell{cyclesText(*run.recorded), *run.recorded, tr("cycles of 1 ns, as recorded")}
                         : ui::Cell{}};
        if (answers.same) {
            const double cycles = answers.same->asked(run);
            const bool equal = run.recorded && cycles == *run.recorded;
            known += run.recorded ? 1 : 0;
            exact += equal ? 1 : 0;
            cells.push_back({cyclesText(cycles), cycles, tr("cycles of 1 ns, in the other tool's rules")});
            cells.push_back(!run.recorded ? ui::Cell{}
                            : equal       ? ui::Cell{tr("exact"), 0, {}, ui::Tone::Good}
                                          : ui::Cell{ui::signedPercentText(cycles / *run.recorded - 1),
                                               cycles / *run.recorded - 1,
                                               {},
                                               ui::Tone::Bad});
        } else {
            cells.push_back({answers.refusal, 0, {}, ui::Tone::Bad});
            cells.push_back({});
        }
        cells.push_back(answers.own ? ui::Cell{cyclesText(answers.own->asked(run)), answers.own->asked(run),
                                               tr("ns, in Orrery's own rules: GB of 10⁹ B, every reduction counted, no "
                                                  "rounding to nanoseconds")}
                                    : ui::Cell{});
        rows.push_back(std::move(cells));
    }
    const QString tool = cases_ ? ui::qs(cases_->tool) : QString();
    table_->setCells({tr("Run"), tr("Network"), tr("Asked"), tool, tr("Orrery, same rules"), tr("Difference"),
                      tr("Orrery, own rules")},
                     std::move(rows));
    again_->setEnabled(cases_ && !isBusy());
    state_->setTone(!isBusy() && known > 0 && exact == known ? ui::Tone::Good : ui::Tone::Muted);
    state_->setFullText(isBusy() ? tr("running …")
                        : known > 0
                            ? tr("%1 of %2 to the cycle, in %3").arg(exact).arg(known).arg(ui::durationText(seconds_))
                            : QString());
}

}  // namespace orrery::app
