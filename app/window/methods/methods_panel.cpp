#include "app/window/methods/methods_panel.h"

#include "app/document/commands/project_edits.h"
#include "app/window/form_parts.h"
#include "app/window/studio.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/comparison/method_hover_card.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <utility>

namespace orrery::app {

namespace {

constexpr int patience = 250;  ///< ms after the last answer before the others are asked

constexpr std::array order{Methodology::Analytical, Methodology::Hybrid, Methodology::Learned,
                           Methodology::CycleAccurate, Methodology::TraceDriven};

QString titleOf(Methodology methodology) {
    switch (methodology) {
        case Methodology::Analytical:
            return MethodsPanel::tr("Analytical");
        case Methodology::Hybrid:
            return MethodsPanel::tr("Hybrid");
        case Methodology::Learned:
            return MethodsPanel::tr("Learned");
        case Methodology::CycleAccurate:
            return MethodsPanel::tr("Cycle-accurate");
        case Methodology::TraceDriven:
            return MethodsPanel::tr("Trace-driven");
    }
    return {};
}

std::string idOf(const std::string& choice) {
    return choice.substr(0, choice.find('('));
}

QString sentence(const Diagnostic& why) {
    QString said = ui::windowText(why.message);
    if (!why.expected.empty()) said += MethodsPanel::tr("; needs %1").arg(ui::windowText(why.expected));
    return said;
}

}  // namespace

MethodsPanel::MethodsPanel(Studio& studio, QWidget* parent) : QWidget(parent), studio_(studio) {
    setObjectName(QStringLiteral("methods.panel"));
    setAccessibleName(tr("Methods"));
    soon_.setSingleShot(true);
    soon_.setInterval(patience);
    build();
    connect(&soon_, &QTimer::timeout, this, &MethodsPanel::probe);
    connect(&studio_.document, &Document::methodsChanged, this, &MethodsPanel::follow);
    connect(&studio_.document, &Document::replaced, this, &MethodsPanel::follow);
    connect(&studio_.live, &LiveController::snapshotReady, this, [this] {
        stale_ = true;
        showStandings();
        if (isVisible()) soon_.start();
    });
    connect(&studio_.live, &LiveController::lateChanged, this, &MethodsPanel::showStandings);
    follow();
}

void MethodsPanel::build() {
    const int unit = ui::Theme::instance().unit();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(unit, unit / 2, 0, 0);
    column->setSpacing(unit / 2);
    search_ = named(new QLineEdit(this), "methods.search", tr("Search methods"),
                    tr("Shows the methods with these words in their name or description"));
    search_->setPlaceholderText(tr("Search methods"));
    search_->setClearButtonEnabled(true);
    all_ = named(new QPushButton(tr("All that apply"), this), "methods.all", tr("All that apply"),
                 tr("Ticks every fast method that can answer this question. Tick slow methods yourself: they answer "
                    "only after Run (F5)"));
    none_ = named(new QPushButton(tr("None"), this), "methods.none", tr("No method"), tr("Clears every tick"));
    count_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, this);
    count_->setObjectName(QStringLiteral("methods.count"));
    auto* top = new QHBoxLayout;
    top->setContentsMargins(0, 0, unit, 0);
    top->setSpacing(unit);
    top->addWidget(search_, 1);
    top->addWidget(count_);
    auto* buttons = new QHBoxLayout;
    buttons->setContentsMargins(0, 0, unit, 0);
    buttons->setSpacing(unit / 2);
    buttons->addWidget(all_);
    buttons->addWidget(none_);
    buttons->addStretch(1);
    column->addLayout(top);
    column->addLayout(buttons);
    auto* scroll = named(new QScrollArea(this), "methods.scroll", tr("Methods"), tr("Ticked methods answer"));
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* body = new QWidget(scroll);
    auto* list = new QVBoxLayout(body);
    list->setContentsMargins(0, 0, unit, unit);
    list->setSpacing(unit / 2);
    for (const Methodology methodology : order) {
        groups_.push_back(new ui::SectionHeader(titleOf(methodology), body));
        list->addWidget(groups_.back());
        for (const Method& method : builtinMethods())
            if (method.card.methodology == methodology) addRow(method.card, body);
    }
    auto* programs = named(new QPushButton(tr("Other programs…"), body), "methods.programs", tr("Other programs"),
                           tr("Programs installed here, or their recorded output"));
    list->addWidget(programs, 0, Qt::AlignLeft);
    list->addStretch(1);
    scroll->setWidget(body);
    column->addWidget(scroll, 1);
    connect(search_, &QLineEdit::textChanged, this, &MethodsPanel::filter);
    connect(all_, &QPushButton::clicked, this, &MethodsPanel::chooseAllThatApply);
    connect(none_, &QPushButton::clicked, this, [this] { setMethods({}); });
    connect(programs, &QPushButton::clicked, this,
            [this] { studio_.actions.find(QStringLiteral("runPrograms"))->trigger(); });
}

void MethodsPanel::addRow(const MethodCard& card, QWidget* into) {
    const QString id = ui::qs(card.id), title = ui::qs(card.title);
    Row row;
    row.group = static_cast<int>(groups_.size()) - 1;
    row.whole = new QWidget(into);
    auto* lines = new QVBoxLayout(row.whole);
    lines->setContentsMargins(0, 0, 0, 0);
    lines->setSpacing(0);
    row.box = new QCheckBox(QString(title).replace(QLatin1Char('&'), QStringLiteral("&&")), row.whole);
    row.box->setObjectName(QStringLiteral("methods.box.") + id);
    row.box->setAccessibleName(title);
    row.box->setToolTip(ui::methodCardHtml(card));
    row.said = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, row.whole);
    row.said->setObjectName(QStringLiteral("methods.said.") + id);
    row.said->setWordWrap(true);
    row.said->setTextFormat(Qt::PlainText);
    row.said->setIndent(3 * ui::Theme::instance().unit());
    lines->addWidget(row.box);
    lines->addWidget(row.said);
    into->layout()->addWidget(row.whole);
    connect(row.box, &QCheckBox::toggled, this, [this, id](bool on) { set(id, on); });
    rows_.emplace(id, row);
}

QCheckBox* MethodsPanel::box(const QString& id) const {
    const auto at = rows_.find(id);
    return at == rows_.end() ? nullptr : at->second.box;
}

QString MethodsPanel::said(const QString& id) const {
    const auto at = rows_.find(id);
    return at == rows_.end() ? QString() : at->second.said->text();
}

void MethodsPanel::setMethods(std::vector<std::string> methods) {
    studio_.apply(setMethodsEdit(*studio_.document.state(), std::move(methods)));
    follow();  // a refused edit takes its tick back
}

// A method that stands there with options of its own goes with all of them.
void MethodsPanel::set(const QString& id, bool on) {
    std::vector<std::string> methods = studio_.document.state()->methods;
    if (on)
        methods.push_back(id.toStdString());
    else
        std::erase_if(methods, [&](const std::string& each) { return idOf(each) == id.toStdString(); });
    setMethods(std::move(methods));
}

void MethodsPanel::follow() {
    const auto& methods = studio_.document.state()->methods;
    for (auto& [id, row] : rows_) {
        const QSignalBlocker quiet(row.box);
        row.box->setChecked(
            std::ranges::any_of(methods, [&](const std::string& each) { return idOf(each) == id.toStdString(); }));
    }
    none_->setEnabled(!methods.empty());
    count_->setFullText(tr("%n chosen", nullptr, static_cast<int>(methods.size())));
    showStandings();
    stale_ = true;
    if (isVisible()) soon_.start();
}

void MethodsPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (stale_) soon_.start();
}

void MethodsPanel::probe() {
    const ui::SnapshotPtr snapshot = studio_.live.snapshot();
    if (!snapshot || !snapshot->scenario.workload) return;
    stale_ = false;
    probing_.ask(
        [snapshot, chosen = studio_.document.state()->methods](std::stop_token stop, Progress&) {
            return probeMethods(snapshot->scenario, chosen, snapshot->calibrations.get(), stop);
        },
        [this](std::vector<MethodStanding> found) {
            standings_ = std::move(found);
            showStandings();
            if (const auto then = std::exchange(afterProbe_, nullptr)) then();
        });
}

const MethodStanding* MethodsPanel::standingOf(const std::string& id) const {
    const auto at = std::ranges::find(standings_, id, &MethodStanding::id);
    return at == standings_.end() ? nullptr : &*at;
}

void MethodsPanel::showStandings() {
    const ui::SnapshotPtr snapshot = studio_.live.snapshot();
    const QString& late = studio_.live.late();
    for (auto& [id, row] : rows_) {
        QString text;
        ui::Tone tone = ui::Tone::Muted;
        const Method* method = findMethod(id.toStdString());
        if (row.box->isChecked()) {
            QStringList parts;
            for (const ui::Answer& answer : snapshot ? snapshot->answers : std::vector<ui::Answer>()) {
                if (idOf(answer.method.toStdString()) != id.toStdString()) continue;
                if (answer.estimate) {
                    parts << ui::text(answer.estimate->latency);
                } else if (answer.failure) {
                    parts << sentence(*answer.failure);
                    if (answer.failed()) tone = ui::Tone::Warning;
                }
            }
            text = parts.join(QStringLiteral(" · "));
            if (text.isEmpty()) text = method && !method->card.live ? tr("answers a Run (F5)") : QString();
            if (!late.isEmpty() && !parts.isEmpty()) text += tr(" (previous question)");
        } else if (const MethodStanding* standing = standingOf(id.toStdString())) {
            text = standing->why       ? sentence(*standing->why)
                   : standing->latency ? tr("would say %1").arg(ui::text(*standing->latency))
                                       : tr("would answer a Run (F5)");
        }
        row.said->setTone(tone);
        row.said->setText(text);
        row.said->setVisible(!text.isEmpty());
    }
    all_->setEnabled(snapshot && snapshot->scenario.workload);
}

void MethodsPanel::chooseAllThatApply() {
    if (stale_ || isBusy()) {
        afterProbe_ = [this] { chooseAllThatApply(); };
        soon_.stop();
        return probe();
    }
    std::vector<std::string> methods = studio_.document.state()->methods;
    for (const MethodStanding& each : standings_)
        if (each.applies() && each.live) methods.push_back(each.id);
    setMethods(std::move(methods));
}

void MethodsPanel::filter(const QString& typed) {
    std::vector<bool> any(groups_.size(), false);
    for (auto& [id, row] : rows_) {
        const Method* method = findMethod(id.toStdString());
        const QString all = id + QLatin1Char(' ') + row.box->accessibleName() + QLatin1Char(' ') +
                            (method ? ui::qs(method->card.summary) : QString());
        const QStringList words = typed.split(QLatin1Char(' '), Qt::SkipEmptyParts);
        const bool shown =
            std::ranges::all_of(words, [&](const QString& word) { return all.contains(word, Qt::CaseInsensitive); });
        row.whole->setVisible(shown);
        if (shown) any[static_cast<std::size_t>(row.group)] = true;
    }
    for (std::size_t i = 0; i < groups_.size(); ++i) groups_[i]->setVisible(any[i]);
}

void addMethodsDock(Studio& studio) {
    studio.docks.add(QStringLiteral("methods"), MethodsPanel::tr("Methods"),
                     MethodsPanel::tr("Which methods answer, their answers, and why the others do not answer"),
                     [&studio](QWidget* parent) { return new MethodsPanel(studio, parent); });
    studio.actions.add(
        {QStringLiteral("runMethods"),
         MethodsPanel::tr("Run"),
         MethodsPanel::tr("&Methods…"),
         MethodsPanel::tr("Choose the methods, by methodology. For the others it says why they do not apply"),
         {},
         {}},
        [&studio] {
            studio.layouts.showProject();
            studio.docks.reveal(QStringLiteral("methods"));
        });
}

}  // namespace orrery::app
