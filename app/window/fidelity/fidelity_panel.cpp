#include "app/window/fidelity/fidelity_panel.h"

#include "app/window/fidelity/fidelity_cells.h"
#include "app/window/form_parts.h"
#include "app/window/studio.h"
#include "methods/kernel_method.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/common/veil.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/fidelity/convergence_plot.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>

#include <fmt/format.h>

namespace orrery::app {

namespace {

constexpr int adviceTab = 3;

}  // namespace

FidelityPanel::FidelityPanel(Studio& studio, QWidget* parent) : QWidget(parent), studio_(studio) {
    build();
    connect(&work_, &Background::advanced, this, &FidelityPanel::advance);
    connect(&work_, &Background::ended, this, &FidelityPanel::showHead);
    connect(&studio_.live, &LiveController::snapshotReady, this, &FidelityPanel::showHead);
    connect(&studio_.live, &LiveController::lateChanged, this, &FidelityPanel::showHead);
    connect(&studio_.document, &Document::replaced, this, [this] {
        work_.cancel();
        view_.reset();
        refusal_.reset();
        showView();
    });
    showForm();
    showView();
}

void FidelityPanel::build() {
    const int unit = ui::Theme::instance().unit();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(unit, unit, unit, 0);
    column->setSpacing(unit / 2);
    auto* form = new QHBoxLayout;
    form->setSpacing(unit);
    how_ = namedChoice(this, "fidelity.how", tr("How"),
                       tr("How the current question is answered: time, width of the interval, reference method"));
    how_->addItem(tr("From fast to slow"));
    how_->addItem(tr("Best answer within"));
    how_->addItem(tr("Until as narrow as ±"));
    how_->addItem(tr("Which method?"));
    form->addWidget(how_, 2);
    value_ = named(new QLineEdit(this), "fidelity.value", tr("Limit"), tr("How long, or how narrow"));
    value_->setMinimumWidth(7 * unit);
    form->addWidget(value_, 1);
    full_ = namedChoice(
        this, "fidelity.full", tr("Full fidelity"),
        tr("The reference method. By evidence: the one with the smallest stated error for each kind of kernel"));
    full_->addItem(tr("by evidence"), QString());
    for (const KernelMethod& method : kernelMethods()) full_->addItem(ui::qs(method.id), ui::qs(method.id));
    form->addWidget(full_, 2);
    data_ = namedChoice(this, "fidelity.data", tr("Data at hand"), tr("Data that you have: measurements, traces"));
    for (const DataAtHand each : {DataAtHand::None, DataAtHand::Rows, DataAtHand::Traces, DataAtHand::Binaries})
        data_->addItem(each == DataAtHand::None ? tr("no data") : ui::qs(toText(each)), static_cast<int>(each));
    form->addWidget(data_, 2);
    run_ = named(new QPushButton(tr("Run"), this), "fidelity.run", tr("Run"), tr("Evaluates the current question"));
    run_->setDefault(true);
    form->addWidget(run_);
    stop_ =
        named(new QPushButton(tr("Stop"), this), "fidelity.stop", tr("Stop"), tr("Stops and keeps the results so far"));
    form->addWidget(stop_);
    bar_ = named(new QProgressBar(this), "fidelity.progress", tr("Progress"), tr("Progress"));
    bar_->setRange(0, 1000);
    bar_->setTextVisible(false);
    bar_->setFixedHeight(3);
    column->addLayout(form);
    column->addWidget(bar_);
    headline_ = new ui::Label({}, ui::FontRole::Title, ui::Tone::Normal, this);
    headline_->setObjectName(QStringLiteral("fidelity.headline"));
    headline_->setElided(true);
    sub_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, this);
    sub_->setObjectName(QStringLiteral("fidelity.sub"));
    sub_->setElided(true);
    column->addWidget(headline_);
    column->addWidget(sub_);

    const QString tip =
        tr("Convergence of the answer, methods that answered, kernels to evaluate in more detail, recommended method");
    tabs_ = named(new QTabWidget(this), "fidelity.views", tr("Fidelity"), tip);
    tabs_->setDocumentMode(true);
    tabs_->setMinimumHeight(72);  // less than the plot likes, or a look at this panel takes room from the page above
    tabs_->tabBar()->setObjectName(QStringLiteral("fidelity.tabs"));
    tabs_->tabBar()->setAccessibleName(tr("Fidelity"));
    tabs_->tabBar()->setToolTip(tip);
    plot_ = new ui::ConvergencePlot(tabs_);
    plot_->setEmptySentence(tr("Press Run: methods answer from fast to slow, and the interval narrows here"));
    tabs_->addTab(plot_, tr("Settling"));
    steps_ = new ui::CellsTable(QStringLiteral("fidelity.steps"), tr("Steps"),
                                tr("Methods that answered, their times and their answers"), tabs_);
    tabs_->addTab(steps_, tr("Steps"));
    widest_ = new ui::CellsTable(QStringLiteral("fidelity.widest"), tr("Widest operators"),
                                 tr("What the interval consists of. Evaluate the first operators in more detail to "
                                    "narrow it. Click one to select it in every view"),
                                 tabs_);
    tabs_->addTab(widest_, tr("Widest"));
    auto* which = named(new QSplitter(Qt::Vertical, tabs_), "fidelity.which", tr("Methods and reasons"),
                        tr("Drag the border to give one side more room"));
    which->setChildrenCollapsible(false);
    advice_ =
        new ui::CellsTable(QStringLiteral("fidelity.advice"), tr("Advice"),
                           tr("Every method with its evidence for this question; click one to see the reasons"), which);
    which->addWidget(advice_);
    auto* scroll = named(new QScrollArea(which), "fidelity.scroll", tr("Reasons"), tr("Why, and where it breaks"));
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    reasons_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, scroll);
    reasons_->setObjectName(QStringLiteral("fidelity.reasons"));
    reasons_->setWordWrap(true);
    reasons_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    reasons_->setContentsMargins(unit / 2, unit / 2, unit / 2, unit / 2);
    scroll->setWidget(reasons_);
    which->addWidget(scroll);
    which->setStretchFactor(0, 3);
    which->setStretchFactor(1, 2);
    tabs_->addTab(which, tr("Which method"));
    veil_ = new ui::Veil(tabs_);
    column->addWidget(tabs_, 1);

    connect(how_, &QComboBox::currentIndexChanged, this, [this](int at) { setMode(static_cast<FidelityMode>(at)); });
    connect(run_, &QPushButton::clicked, this, &FidelityPanel::ask);
    connect(value_, &QLineEdit::returnPressed, this, &FidelityPanel::ask);
    connect(stop_, &QPushButton::clicked, this, [this] { work_.cancel(); });
    connect(widest_, &ui::CellsTable::rowChosen, this, [this](int row) {
        if (row >= 0 && row < static_cast<int>(widestOperators_.size()))
            studio_.selection.select({widestOperators_[static_cast<std::size_t>(row)]});
    });
    connect(advice_, &ui::CellsTable::rowChosen, this, [this](int row) {
        if (view_ && view_->advice && row >= 0 && row < static_cast<int>(view_->advice->methods.size()))
            reasons_->setText(reasonsOf(view_->advice->methods[static_cast<std::size_t>(row)]));
    });
}

void FidelityPanel::setMode(FidelityMode mode) {
    if (how_->currentIndex() != static_cast<int>(mode)) return how_->setCurrentIndex(static_cast<int>(mode));
    mode_ = mode;
    showForm();
}

void FidelityPanel::showForm() {
    const bool advice = mode_ == FidelityMode::Advice;
    const bool budget = mode_ == FidelityMode::Within || mode_ == FidelityMode::To;
    value_->setVisible(budget || advice);
    full_->setVisible(budget);
    data_->setVisible(advice);
    if (mode_ == FidelityMode::Within) {
        value_->setText(QStringLiteral("10 s"));
        value_->setToolTip(tr("Seconds that the answer may take, as `10 s`"));
    } else if (mode_ == FidelityMode::To) {
        value_->setText(QStringLiteral("5 %"));
        value_->setToolTip(tr("Half of the interval over the answer, as `5 %`"));
    } else if (advice) {
        value_->clear();
        value_->setToolTip(
            tr("Target latency, as `10 ms`. Shows which methods can decide whether it is met. May stay empty"));
    }
    value_->setPlaceholderText(advice ? tr("target latency") : QString());
    if (advice)
        tabs_->setCurrentIndex(adviceTab);
    else if (tabs_->currentIndex() == adviceTab)
        tabs_->setCurrentIndex(0);
    showHead();
}

std::optional<FidelityQuestion> FidelityPanel::question() const {
    const auto& snapshot = studio_.live.snapshot();
    if (!snapshot || !snapshot->scenario.hardware || !snapshot->scenario.workload) return std::nullopt;
    FidelityQuestion question{snapshot->scenario, mode_};
    question.calibrations = snapshot->calibrations;
    question.full = full_->currentData().toString().toStdString();
    question.data = static_cast<DataAtHand>(data_->currentData().toInt());
    return question;
}

void FidelityPanel::ask() {
    auto question = this->question();
    if (!question) return;
    const std::string text = value_->text().trimmed().toStdString();
    if (mode_ != FidelityMode::Ladder && !(mode_ == FidelityMode::Advice && text.empty())) {
        const bool share = mode_ == FidelityMode::To;
        const auto value = parseMeasure(text, share ? Dimension::Fraction : Dimension::Time);
        if (!value || !(value->si > 0)) {
            refusal_ = fail("fidelity.bad-limit", fmt::format("'{}' is no limit", text),
                            share ? "a share such as `5 %`" : "a time such as `10 s`")
                           .value();
            return showHead();
        }
        question->value = value->si;
    }
    refusal_.reset();
    coming_ = std::make_shared<FidelitySteps>();
    asked_ = mode_;
    if (asked_ != FidelityMode::Advice) plot_->setPoints({});
    work_.ask([question = *question, steps = coming_](
                  std::stop_token stop, Progress& progress) { return fidelityNow(question, *steps, stop, progress); },
              [this](Expected<FidelityViewPtr> found) {
                  if (found)
                      view_ = std::move(*found);
                  else
                      refusal_ = std::move(found.error());
                  showView();
              });
    showHead();
}

void FidelityPanel::advance() {
    if (coming_ && work_.isRunning() && asked_ != FidelityMode::Advice) plot_->setPoints(coming_->points());
    showHead();
}

bool FidelityPanel::isCurrent() const {
    const auto& now = studio_.live.snapshot();
    return now && view_ && studio_.live.late().isEmpty() &&
           now->scenario.hardware == view_->question.scenario.hardware &&
           now->scenario.workload == view_->question.scenario.workload &&
           now->scenario.plan == view_->question.scenario.plan && now->scenario.task == view_->question.scenario.task;
}

void FidelityPanel::showHead() {
    const bool busy = work_.isRunning();
    if (view_ && !busy && !isCurrent())
        veil_->drop(tr("This is the answer to an earlier question. Press Run to update it."));
    else
        veil_->lift();
    run_->setVisible(!busy);
    run_->setEnabled(question().has_value());
    stop_->setVisible(busy);
    bar_->setValue(static_cast<int>(1000 * work_.fraction()));
    auto policy = bar_->sizePolicy();
    policy.setRetainSizeWhenHidden(true);
    bar_->setSizePolicy(policy);
    bar_->setVisible(busy);
    if (busy && asked_ == FidelityMode::Advice) {
        headline_->setFullText(tr("Asking methods …"));
        sub_->setFullText(tr("each is judged on the measured rows that are loaded"));
        return;
    }
    if (busy) {
        const auto& points = plot_->points();
        headline_->setFullText(!points.empty() && points.back().latency > 0
                                   ? tr("%1 so far").arg(ui::text(points.back().latency, Dimension::Time))
                                   : tr("Asking …"));
        sub_->setFullText(points.empty() ? QString() : points.back().what);
        return;
    }
    if (refusal_) {
        headline_->setFullText(ui::windowText(refusal_->message));
        sub_->setFullText(ui::qs(refusal_->hint.empty() ? refusal_->expected : refusal_->hint));
        return;
    }
    if (!view_) {
        headline_->setFullText(tr("How certain is the answer?"));
        sub_->setFullText(question() ? tr("Run evaluates the current question")
                                     : tr("Choose a design and a model first"));
        return;
    }
    headline_->setFullText(headlineOf(*view_));
    sub_->setFullText(isCurrent() ? sentenceOf(*view_)
                                  : tr("of an earlier question (%1)").arg(ui::qs(view_->question.scenario.name())));
    headline_->setToolTip(twinOf(view_->question));
}

void FidelityPanel::showView() {
    if (!view_) {
        for (ui::CellsTable* table : {steps_, widest_, advice_}) table->setCells({}, {});
        plot_->setPoints({});
        reasons_->clear();
    } else if (view_->advice) {
        auto advice = adviceCells(*view_);
        advice_->setCells(std::move(advice.heads), std::move(advice.rows));
        advice_->setCurrentRow(0);
    } else {
        plot_->setPoints(view_->points);
        auto steps = stepCells(*view_);
        steps_->setCells(std::move(steps.heads), std::move(steps.rows));
        auto widest = widestCells(*view_);
        widestOperators_ = std::move(widest.operators);
        widest_->setCells(std::move(widest.heads), std::move(widest.rows));
    }
    showHead();
}

void addFidelityDock(Studio& studio) {
    studio.docks.add(QStringLiteral("fidelity"), FidelityPanel::tr("Fidelity"),
                     FidelityPanel::tr("From fast to slow, within a time, to a width; which method to use"),
                     [&studio](QWidget* parent) { return new FidelityPanel(studio, parent); });
    const auto show = [&studio](FidelityMode mode) {
        return [&studio, mode] {
            studio.layouts.showProject();
            studio.docks.reveal(QStringLiteral("fidelity"));
            auto* panel = studio.window->findChild<FidelityPanel*>();
            if (!panel) return;
            panel->setMode(mode);
            if (mode == FidelityMode::Ladder || mode == FidelityMode::Advice) panel->ask();
        };
    };
    studio.actions.add({QStringLiteral("fidelity.ladder"),
                        FidelityPanel::tr("Run"),
                        FidelityPanel::tr("&Ladder: from fast to slow"),
                        FidelityPanel::tr("Runs every method from fast to slow and combines the answers"),
                        {},
                        {}},
                       show(FidelityMode::Ladder));
    studio.actions.add(
        {QStringLiteral("fidelity.budget"),
         FidelityPanel::tr("Run"),
         FidelityPanel::tr("Best answer for a &budget"),
         FidelityPanel::tr("Chooses a method for each kernel, within a time or to a width of the interval"),
         {},
         {}},
        show(FidelityMode::Within));
    studio.actions.add({QStringLiteral("fidelity.advice"),
                        FidelityPanel::tr("Run"),
                        FidelityPanel::tr("&Which method?"),
                        FidelityPanel::tr("Recommends methods for this question, with their evidence and limits"),
                        {},
                        {}},
                       show(FidelityMode::Advice));
}

}  // namespace orrery::app
