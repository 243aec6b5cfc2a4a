#include "app/window/explore/explore_page.h"

#include "app/document/commands/search_edits.h"
#include "app/window/explore/explore_command.h"
#include "app/window/explore/explore_form.h"
#include "app/window/studio.h"
#include "store/project/search_file.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/exploration/effect_bars.h"
#include "widgets/exploration/search_plot.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QProgressBar>
#include <QPushButton>
#include <QSettings>
#include <QStackedLayout>
#include <QTabWidget>

#include <algorithm>
#include <cmath>

namespace orrery::app {

namespace {

constexpr std::size_t mostTableRows = 500;

/// A number along an axis: how it is scaled and written.
struct AxisUnit {
    double factor = 1;
    QString unit;
    ui::TickText ticks = ui::TickText::Number;
};
AxisUnit unitOf(Dimension dimension, const std::string& quantity) {
    switch (dimension) {
        case Dimension::Time:
            return {1, {}, ui::TickText::Seconds};
        case Dimension::Fraction:
            return {1, {}, ui::TickText::Percent};
        case Dimension::Area:
            return {1e6, QStringLiteral("mm²")};
        case Dimension::Energy:
            return {1, QStringLiteral("J")};
        case Dimension::Power:
            return {1, QStringLiteral("W")};
        case Dimension::Data:
            return {1e-9, QStringLiteral("GB")};
        default:
            return {1, quantity == "cost" || quantity == "price" ? QStringLiteral("$") : QString()};
    }
}

QString valueText(double value, Dimension dimension, const std::string& quantity) {
    if (!std::isfinite(value)) return QStringLiteral("–");
    if (quantity == "cost" || quantity == "price") return QStringLiteral("$%1").arg(value, 0, 'g', 4);
    if (dimension == Dimension::Number) return QString::number(value, 'g', 4);
    return ui::text(value, dimension);
}

}  // namespace

ExplorePage::ExplorePage(Studio& studio, QWidget* parent) : Page(parent), studio_(studio) {
    setObjectName(QStringLiteral("explorePage"));
    setAccessibleName(tr("Explore"));
    soon_.setSingleShot(true);
    soon_.setInterval(0);
    connect(&soon_, &QTimer::timeout, this, &ExplorePage::follow);
}

ExplorePage::~ExplorePage() = default;

void ExplorePage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    build();
    if (stale_) follow();
}

void ExplorePage::follow() {
    stale_ = true;
    if (!isVisible() || !form_) return;
    stale_ = false;
    question_ = exploreQuestion(studio_.document);
    const WorkloadPtr workload = studio_.live.workload();
    offers_.clear();
    points_ = 0;
    if (!question_.lacks && workload) {
        const Scenario base = scenarioOf(question_, workload);
        offers_ = knobOffers(base);
        points_ = question_.settings.knobs.empty() ? 0 : 1;
        for (const KnobSetting& setting : question_.settings.knobs) {
            const auto knob = knobOf(setting, base);
            points_ =
                !knob || points_ > SearchSpace::mostPoints / knob->values.size() ? 0 : points_ * knob->values.size();
            if (points_ == 0) break;
        }
    }
    stack_->setCurrentIndex(question_.lacks ? 0 : 1);
    if (question_.lacks) {
        empty_->setTexts(ui::qs(question_.lacks->message), ui::qs(question_.lacks->hint));
        return;
    }
    form_->setQuestion(question_, offers_, figures_);
    form_->setPoints(points_);
    showState();
}

// Labels of figures that an answer has can be objectives.
void ExplorePage::feed(const ui::SnapshotPtr& snapshot) {
    if (!snapshot) return;
    QStringList figures;
    if (const Estimate* estimate = snapshot->primaryEstimate()) {
        for (const Figure& figure : estimate->figures)
            if (figures.size() < 12) figures << ui::qs(figure.label);
    }
    if (figures == figures_) return;
    figures_ = figures;
    stale_ = true;
    soon_.start();
}

void ExplorePage::start() {
    if (isBusy()) return work_.cancel();
    const WorkloadPtr workload = studio_.live.workload();
    if (question_.lacks || !workload || points_ == 0) return;
    choose(-1);
    run_ = std::make_shared<ExploreRun>();
    run_->question = question_;
    run_->agent = question_.settings.agent;
    run_->command = command_->command();
    run_->folder = searchFolder();
    const auto calibrations = studio_.live.calibrations();
    work_.start([run = run_, workload, calibrations](std::stop_token stop, Progress& progress) -> Background::Finish {
        explore(*run, workload, calibrations.get(), stop, progress);
        return {};
    });
    showState();
}

void ExplorePage::saveView(QSettings& settings) const {
    settings.setValue(QStringLiteral("command"), command_ ? command_->command() : lastCommand_);
}

void ExplorePage::restoreView(const QSettings& settings) {
    lastCommand_ = settings.value(QStringLiteral("command")).toString();
    if (command_) command_->setCommand(lastCommand_);
}

// Beside the project, where other machines may see it too and a later search goes on.
QString ExplorePage::searchFolder() const {
    const QString file = studio_.document.file();
    const QFileInfo project(file);
    return file.isEmpty()
               ? QDir::tempPath() + QStringLiteral("/orrery-search-%1").arg(QCoreApplication::applicationPid())
               : project.absolutePath() + QLatin1Char('/') + project.completeBaseName() + QStringLiteral(".search");
}

void ExplorePage::turn(const ComponentPath& path, const QString& attribute) {
    const HardwarePtr hardware = studio_.document.hardware();
    if (!hardware) return;
    auto knob = usualKnob(*hardware, pathText(hardware->root, path) + "." + attribute.toStdString());
    if (!knob) return studio_.messages.complain(knob.error());
    SearchSettings next = studio_.document.state()->search.value_or(SearchSettings{});
    const std::string own = knob->path;
    if (std::ranges::find(next.knobs, own, &KnobSetting::path) == next.knobs.end()) {
        next.knobs.push_back(std::move(*knob));
        if (next.objectives.size() < 2) next.objectives = {"time", "area"};
        if (!studio_.apply(setSearchEdit(*studio_.document.state(), next, tr("Add the knob %1").arg(ui::qs(own)))))
            return;
    }
    studio_.router.show(this);
}

void ExplorePage::showFindings() {
    if (!run_) return;
    {
        const std::scoped_lock hold(run_->lock);
        if (run_->view == view_ && problem_ == run_->problem && view_) return;
        problem_ = run_->problem;
        view_ = run_->view;
        drawn_ = run_->drawn;
    }
    if (!problem_) return;
    ui::SearchPlotData data;
    const std::size_t width = problem_->objectives.size();
    const std::size_t across = 0, up = width > 1 ? 1 : 0;
    for (auto& [axis, k] : {std::pair<ui::SearchAxis&, std::size_t>{data.x, across}, {data.y, up}}) {
        const std::string& quantity = problem_->objectives[k].quantity;
        const AxisUnit unit = unitOf(drawn_.dimensions[k], quantity);
        axis.name = objectiveText(quantity) + (unit.unit.isEmpty() ? QString() : QStringLiteral(", ") + unit.unit);
        axis.ticks = unit.ticks;
        if (drawn_.evaluation.refusal.empty()) axis.drawn = drawn_.evaluation.values[k].value * unit.factor;
        if (!view_) continue;
        const std::size_t count = view_->seen.size();
        axis.value.reserve(count);
        axis.low.reserve(count);
        axis.high.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            axis.value.push_back(view_->seen.value[i * width + k] * unit.factor);
            axis.low.push_back(view_->seen.low[i * width + k] * unit.factor);
            axis.high.push_back(view_->seen.high[i * width + k] * unit.factor);
        }
    }
    if (view_) {
        data.places.reserve(view_->places.size());
        for (const std::uint8_t place : view_->places) data.places.push_back(static_cast<ui::PointPlace>(place));
    }
    plot_->setData(std::move(data));
    if (view_ && chosen_ >= static_cast<int>(view_->seen.size())) chosen_ = -1;
    showTable();
    showEffects();
    choose(chosen_);
}

void ExplorePage::showTable() {
    rows_.clear();
    QStringList heads;
    std::vector<std::vector<ui::Cell>> cells;
    for (const Knob& knob : problem_->space.knobs()) heads << ui::qs(knob.path);
    for (const Objective& objective : problem_->objectives) heads << objectiveText(objective.quantity);
    for (std::size_t n = 0; view_ && n < std::min(view_->front.points.size(), mostTableRows); ++n) {
        const std::size_t at = view_->front.points[n];
        const PointAnswer answer = view_->seen.at(at);
        const auto levels = problem_->space.levelsAt(answer.point);
        std::vector<ui::Cell> row;
        for (std::size_t k = 0; k < levels.size(); ++k) {
            const Knob& knob = problem_->space.knobs()[k];
            row.push_back({ui::qs(knob.values[levels[k]]), knob.numbers[levels[k]]});
        }
        for (std::size_t k = 0; k < answer.values.size(); ++k) {
            const Ranged& value = answer.values[k];
            const auto text = [&](double number) {
                return valueText(number, drawn_.dimensions[k], problem_->objectives[k].quantity);
            };
            QString tip = text(value.value);
            if (value.high > value.low) tip += tr(" [%1 … %2], 90 %").arg(text(value.low), text(value.high));
            row.push_back({text(value.value), value.value, tip});
        }
        cells.push_back(std::move(row));
        rows_.push_back(static_cast<int>(at));
    }
    table_->setCells(heads, std::move(cells));
}

void ExplorePage::showEffects() {
    std::vector<KnobEffect> effects;
    PointAnswers alone;
    {
        const std::scoped_lock hold(run_->lock);
        effects = run_->effects;
        alone = run_->alone;
    }
    std::vector<ui::EffectBar> bars;
    const std::size_t width = problem_->objectives.size();
    const double drawn = drawn_.evaluation.refusal.empty() ? drawn_.evaluation.values[0].value : 0;
    for (const KnobEffect& effect : effects) {
        const Knob& knob = problem_->space.knobs()[effect.knob];
        std::optional<std::size_t> first, last;
        QStringList lines;
        for (std::size_t level = 0; level < effect.rows.size(); ++level) {
            const auto row = effect.rows[level];
            if (!row || !alone.answered(*row)) continue;
            if (!first) first = level;
            last = level;
            lines << QStringLiteral("%1: %2").arg(
                ui::qs(knob.values[level]),
                valueText(alone.value[*row * width], drawn_.dimensions[0], problem_->objectives[0].quantity));
        }
        if (!first || drawn <= 0) continue;
        bars.push_back({ui::qs(knob.path), ui::qs(knob.values[*first]), ui::qs(knob.values[*last]),
                        alone.value[*effect.rows[*first] * width] / drawn,
                        alone.value[*effect.rows[*last] * width] / drawn, lines.join(QLatin1Char('\n'))});
    }
    effects_->setBars(objectiveText(problem_->objectives.front().quantity), std::move(bars));
}

void ExplorePage::showState() {
    if (!form_) return;
    const bool busy = isBusy();
    go_->setText(busy ? tr("Stop")
                 : points_ > 0
                     ? tr("Search %1 points")
                           .arg(ui::countText(static_cast<double>(
                               question_.settings.evaluations > 0 ? std::min(points_, question_.settings.evaluations)
                                                                  : points_)))
                     : tr("Search"));
    const auto agent = searchAgent(question_.settings.agent);
    const bool endless =
        agent && question_.settings.evaluations == 0 && ((*agent)->needsBudget || points_ > mostGridPoints);
    go_->setEnabled(busy || (points_ > 0 && !endless && studio_.live.workload()));
    go_->setToolTip(endless ? tr("Say how many points at most: this agent asks for as many as it may")
                            : tr("Answers the points on all cores and keeps the front"));
    bar_->setVisible(busy);
    bar_->setValue(static_cast<int>(work_.fraction() * 1000));
    headline_->setFullText(tr("%1 on %2").arg(question_.model, question_.design));
    QString said = tr("Turn numbers of this question and see which combinations no other one beats");
    bool bad = false;
    if (run_) {
        const std::scoped_lock hold(run_->lock);
        if (run_->refusal) {
            said = ui::qs(run_->refusal->message);
            if (!run_->refusal->expected.empty()) said += tr("; needs %1").arg(ui::qs(run_->refusal->expected));
            bad = true;
        } else if (run_->view) {
            const PointAnswers& seen = run_->view->seen;
            std::size_t refused = 0, broken = 0;
            for (std::size_t i = 0; i < seen.size(); ++i) {
                refused += seen.answered(i) ? 0 : 1;
                broken += seen.answered(i) && !seen.feasible(i) ? 1 : 0;
            }
            said = tr("%1 points, %2 of the front, %3 more may belong to it")
                       .arg(ui::countText(static_cast<double>(seen.size())),
                            ui::countText(static_cast<double>(run_->view->front.points.size())),
                            ui::countText(static_cast<double>(run_->view->front.possible.size())));
            if (broken > 0) said += tr(" · %1 break a constraint").arg(ui::countText(static_cast<double>(broken)));
            if (refused > 0) {
                said += tr(" · %1 have no answer: %2")
                            .arg(ui::countText(static_cast<double>(refused)), ui::qs(seen.refusals.front()));
            }
            if (run_->stopped) said += tr(" · stopped");
            if (!(run_->question.settings == question_.settings) || run_->question.hardware != question_.hardware ||
                !(run_->question.recipe == question_.recipe) || !(run_->question.plan == question_.plan) ||
                !(run_->question.task == question_.task) || !(run_->question.software == question_.software))
                said += tr(" · of the question before");
        } else if (busy) {
            said = tr("Each knob alone first …");
        }
    }
    sub_->setTone(bad ? ui::Tone::Bad : ui::Tone::Muted);
    sub_->setFullText(said);
    export_->setEnabled(view_ != nullptr && !busy);
}

QString ExplorePage::pointText(int point) const {
    const PointAnswer answer = view_->seen.at(static_cast<std::size_t>(point));
    QString text = ui::qs(problem_->space.labelAt(answer.point));
    if (!answer.refusal.empty()) return text + QStringLiteral(": ") + ui::qs(answer.refusal);
    for (std::size_t k = 0; k < answer.values.size(); ++k) {
        text += QStringLiteral(" · %1 %2")
                    .arg(objectiveText(problem_->objectives[k].quantity),
                         valueText(answer.values[k].value, drawn_.dimensions[k], problem_->objectives[k].quantity));
    }
    return text;
}

void ExplorePage::choose(int point) {
    chosen_ = point;
    if (!plot_) return;
    plot_->setCurrent(point);
    const auto row = std::ranges::find(rows_, point);
    const QSignalBlocker quiet(table_);
    table_->setCurrentRow(point < 0 || row == rows_.end() ? -1 : static_cast<int>(row - rows_.begin()));
    chosenText_->setFullText(point >= 0 && view_ ? pointText(point) : tr("Click a dot or a row to choose a point"));
    use_->setEnabled(point >= 0 && view_ && view_->seen.answered(static_cast<std::size_t>(point)));
}

void ExplorePage::useChosen() {
    if (chosen_ < 0 || !view_) return;
    const auto levels = problem_->space.levelsAt(view_->seen.points[static_cast<std::size_t>(chosen_)]);
    std::vector<std::string> values;
    for (std::size_t k = 0; k < levels.size(); ++k) values.push_back(problem_->space.knobs()[k].values[levels[k]]);
    studio_.apply(usePointEdit(*studio_.document.state(), problem_->space.knobs(), values));
}

SearchOutcome ExplorePage::outcome() const {
    return {.name = studio_.document.title().toStdString(),
            .problem = problem_.get(),
            .agent = *searchAgent(run_->agent),
            .evaluations = view_->seen,
            .base = drawn_};
}

QString ExplorePage::written(const QString& file) const {
    const QString ending = QFileInfo(file).suffix().toLower();
    if (ending != QLatin1String("csv") && ending != QLatin1String("json")) return plot_->exportTo(file);
    const std::string text = ending == QLatin1String("csv") ? searchCsv(outcome()) : searchJson(outcome());
    QFile out(file);
    if (!out.open(QIODevice::WriteOnly) || out.write(text.data(), static_cast<qint64>(text.size())) < 0 || !out.flush())
        return out.errorString();
    return {};
}

void ExplorePage::exportAs() {
    if (!view_) return;
    QString chosen;
    QString file = QFileDialog::getSaveFileName(
        studio_.window, tr("Export the search"), QStringLiteral("front.svg"),
        tr("SVG (*.svg);;PDF (*.pdf);;PNG (*.png);;CSV of all points (*.csv);;JSON (*.json)"), &chosen);
    if (file.isEmpty()) return;
    if (QFileInfo(file).suffix().isEmpty()) file += QLatin1Char('.') + chosen.left(3).toLower();
    if (const QString problem = written(file); !problem.isEmpty()) {
        return studio_.messages.complain({Severity::Error,
                                          "export.failed",
                                          problem.toStdString(),
                                          {},
                                          "choose another folder",
                                          {file.toStdString(), 0, 0, {}}});
    }
    studio_.messages.say(Severity::Note, tr("Wrote %1").arg(file));
}

Expected<QStringList> ExplorePage::report(const QString& folder) {
    if (!view_ || !problem_ || !plot_) return QStringList();
    QStringList files;
    for (const char* name : {"search.svg", "search.csv"}) {
        const QString file = folder + QLatin1Char('/') + QLatin1String(name);
        if (const QString problem = written(file); !problem.isEmpty())
            return fail("export.failed", problem.toStdString(), "", "choose another folder", {file.toStdString()});
        files << file;
    }
    return files;
}

}  // namespace orrery::app
