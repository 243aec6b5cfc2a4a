#include "app/window/explore/explore_form.h"

#include "app/window/explore/explore_text.h"
#include "app/window/explore/limit_rows.h"
#include "app/window/form_parts.h"
#include "methods/kernel_method.h"
#include "study/exploration/agents.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/common/value_edit.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QListView>
#include <QSignalBlocker>
#include <QStandardItemModel>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::app {

ExploreForm::ExploreForm(QWidget* parent) : QScrollArea(parent) {
    setObjectName(QStringLiteral("explore.form"));
    setAccessibleName(tr("Knobs, objectives and constraints of the search"));
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    const int unit = ui::Theme::instance().unit();
    auto* body = new QWidget(this);
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(unit * 3 / 2, unit, unit, unit);
    column->setSpacing(unit);
    column->addWidget(new ui::SectionHeader(tr("Knobs"), body));
    rowsBody_ = new QWidget(body);
    rows_ = new QVBoxLayout(rowsBody_);
    rows_->setContentsMargins(0, 0, 0, 0);
    rows_->setSpacing(unit);
    column->addWidget(rowsBody_);
    add_ = namedChoice(
        body, "explore.add", tr("Add a knob"),
        tr("Numbers of the drawing, the model and the plan that the search can vary, with their current values"));
    // Thousands of entries in a large design: measured one by one they would hold up every change of theme.
    if (auto* list = qobject_cast<QListView*>(add_->view())) list->setUniformItemSizes(true);
    column->addWidget(add_);
    points_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, body);
    points_->setObjectName(QStringLiteral("explore.points"));
    points_->setWordWrap(true);
    column->addWidget(points_);
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(unit);
    grid->setVerticalSpacing(unit / 2);
    grid->setColumnStretch(1, 1);
    buildWishes(grid, body);
    column->addLayout(grid);
    column->addStretch(1);
    setWidget(body);
    connect(add_, &QComboBox::activated, this, [this](int at) {
        const QVariant offer = add_->itemData(at);
        if (offer.isValid()) addKnob(offer.toInt());
        add_->setCurrentIndex(0);
    });
}

void ExploreForm::buildWishes(QGridLayout* grid, QWidget* body) {
    const auto header = [&](const QString& text) {
        grid->addWidget(new ui::SectionHeader(text, body), grid->rowCount(), 0, 1, 2);
    };
    const auto field = [&](const QString& name, QWidget* control) {
        const int row = grid->rowCount();
        auto* label = new QLabel(name, body);
        label->setBuddy(control);
        grid->addWidget(label, row, 0);
        grid->addWidget(control, row, 1);
    };
    header(tr("Objectives"));
    across_ = namedChoice(body, "explore.across", tr("X axis"), tr("The first objective: the plot's horizontal axis"));
    up_ = namedChoice(body, "explore.up", tr("Y axis"), tr("The second objective: the plot's vertical axis"));
    field(tr("X axis"), across_);
    field(tr("Y axis"), up_);
    also_ =
        namedChoice(body, "explore.also", tr("Third"), tr("A third objective: its best points are on the front too"));
    field(tr("Third"), also_);
    header(tr("Constraints"));
    limits_ = new LimitRows(body);
    grid->addWidget(limits_, grid->rowCount(), 0, 1, 2);
    price_ = named(new ui::ValueEdit(body), "explore.price", tr("Price of a device and hour"),
                   tr("Dollars; for the cost of a run"));
    price_->setMeasure(Dimension::Number);
    price_->setPlaceholderText(tr("$ an hour"));
    field(tr("Device-hour"), price_);
    header(tr("Method and agent"));
    method_ = namedChoice(
        body, "explore.method", tr("Method"),
        tr("The method that answers every point. The roofline takes microseconds; others are more accurate"));
    agent_ =
        namedChoice(body, "explore.agent", tr("Agent"), tr("The search algorithm: it chooses the points to evaluate"));
    for (const AgentInfo& agent : searchAgents()) {
        if (agent.id == "one-at-a-time") continue;  // its answers have a view of their own
        agent_->addItem(tr(agent.title.data()), ui::qs(agent.id));
        agent_->setItemData(agent_->count() - 1, tr(agent.summary.data()), Qt::ToolTipRole);
    }
    most_ = namedNumber(body, "explore.most", tr("Points at most"), tr("The search ends after this number of points"),
                        0, 100'000'000);
    most_->setSpecialValueText(tr("all"));
    most_->setSingleStep(1000);
    most_->setKeyboardTracking(false);
    field(tr("Method"), method_);
    field(tr("Agent"), agent_);
    field(tr("Points at most"), most_);

    const auto objectives = [this] {
        SearchSettings next = settings_;
        std::vector<std::string> wanted;
        for (const QComboBox* box : {across_, up_, also_}) {
            const std::string one = box->currentData().toString().toStdString();
            if (!one.empty() && std::ranges::count(wanted, one) == 0) wanted.push_back(one);
        }
        // Those of a file beyond the three stay.
        for (std::size_t i = 3; i < next.objectives.size(); ++i)
            if (std::ranges::count(wanted, next.objectives[i]) == 0) wanted.push_back(next.objectives[i]);
        next.objectives = std::move(wanted);
        change(next, tr("Objectives of the search"));
    };
    connect(across_, &QComboBox::activated, this, objectives);
    connect(up_, &QComboBox::activated, this, objectives);
    connect(also_, &QComboBox::activated, this, objectives);
    connect(limits_, &LimitRows::edited, this, [this](const std::vector<std::string>& limits, const QString& words) {
        SearchSettings next = settings_;
        next.constraints = limits;
        change(next, words);
    });
    connect(price_, &ui::ValueEdit::committed, this, [this](const QString& text) {
        SearchSettings next = settings_;
        next.deviceHour = std::max(0.0, text.toDouble());
        change(next, tr("Price per device and hour"));
    });
    connect(price_, &ui::ValueEdit::cleared, this, [this] {
        SearchSettings next = settings_;
        next.deviceHour = 0;
        change(next, tr("Price per device and hour"));
    });
    connect(method_, &QComboBox::activated, this, [this] {
        SearchSettings next = settings_;
        next.method = method_->currentData().toString().toStdString();
        change(next, tr("Method of the search"));
    });
    connect(agent_, &QComboBox::activated, this, [this] {
        SearchSettings next = settings_;
        next.agent = agent_->currentData().toString().toStdString();
        const auto agent = searchAgent(next.agent);
        if (agent && (*agent)->needsBudget && next.evaluations == 0) next.evaluations = 2000;
        change(next, tr("Agent of the search"));
    });
    connect(most_, &QSpinBox::valueChanged, this, [this](int value) {
        SearchSettings next = settings_;
        next.evaluations = static_cast<std::uint64_t>(value);
        change(next, tr("Points of the search"));
    });
}

void ExploreForm::change(const SearchSettings& settings, const QString& words) {
    if (!(settings == settings_)) emit edited(settings, words);
}

void ExploreForm::setQuestion(const ExploreQuestion& question, const Offers& offers) {
    const bool sameKnobs = shown_ && question.settings.knobs == settings_.knobs;
    settings_ = question.settings;
    serving_ = kindOf(question.task) == TaskKind::ServingRun;
    offers_ = offers;
    if (!sameKnobs) showKnobs();
    showOffers();
    // Methods that answer such a question without a file.
    const QSignalBlocker quiet(method_);
    method_->clear();
    const TaskKind kind = kindOf(question.task);
    for (const Method& method : builtinMethods()) {
        if (asksForFile(method.card) || !method.card.answers(kind)) continue;
        method_->addItem(ui::qs(method.card.title), ui::qs(method.card.id));
        method_->setItemData(method_->count() - 1, ui::qs(method.card.summary), Qt::ToolTipRole);
    }
    // A method with options of its own stands beside the plain one.
    if (method_->findData(ui::qs(settings_.method)) < 0)
        method_->addItem(ui::qs(methodTitle(settings_.method)), ui::qs(settings_.method));
    selectData(method_, ui::qs(settings_.method));
    showWishes();
    shown_ = true;
}

void ExploreForm::showKnobs() {
    while (QLayoutItem* item = rows_->takeAt(0)) {
        if (item->widget()) item->widget()->deleteLater();
        delete item;
    }
    for (std::size_t i = 0; i < settings_.knobs.size(); ++i) {
        const KnobSetting& knob = settings_.knobs[i];
        auto* row = new QWidget(rowsBody_);
        auto* grid = new QGridLayout(row);
        grid->setContentsMargins(0, 0, 0, 0);
        grid->setSpacing(2);
        const QString path = ui::qs(knob.path);
        auto* name = new ui::Label(path, ui::FontRole::Body, ui::Tone::Normal, row);
        name->setElided(true);
        auto* remove = new ui::IconButton(QStringLiteral("edit-delete"), tr("Remove the knob %1").arg(path),
                                          QStringLiteral("explore.remove.") + path, row);
        auto* values = named(new ui::ValueEdit(row), "", tr("Values of %1").arg(path),
                             tr("Values with commas between: 1, 8, 64. Or a range: 2 TB/s .. 6 TB/s, 9 steps, log. "
                                "With \"free\" instead of steps, agents choose any value of the range"));
        values->setObjectName(QStringLiteral("explore.values.") + path);
        values->setClearable(false);
        values->setCheck([own = knob.path](const QString& text) -> std::optional<Diagnostic> {
            const auto read = parseKnobSetting(own, text.toStdString());
            return read ? std::nullopt : std::optional(read.error());
        });
        values->setStored(ui::qs(toText(knob)));
        values->setToolTip(ui::qs(toText(knob)) + QLatin1Char('\n') + values->toolTip());
        grid->addWidget(name, 0, 0);
        grid->addWidget(remove, 0, 1);
        grid->addWidget(values, 1, 0, 1, 2);
        rows_->addWidget(row);
        connect(remove, &QToolButton::clicked, this, [this, i] {
            SearchSettings next = settings_;
            const QString gone = ui::qs(next.knobs[i].path);
            next.knobs.erase(next.knobs.begin() + static_cast<std::ptrdiff_t>(i));
            change(next, tr("Remove the knob %1").arg(gone));
        });
        connect(values, &ui::ValueEdit::committed, this, [this, i](const QString& text) {
            SearchSettings next = settings_;
            auto read = parseKnobSetting(next.knobs[i].path, text.toStdString());
            if (!read) return;
            next.knobs[i] = std::move(*read);
            change(next, tr("Values of %1").arg(ui::qs(next.knobs[i].path)));
        });
    }
}

void ExploreForm::showOffers() {
    const QSignalBlocker quiet(add_);
    add_->clear();
    add_->addItem(tr("Add a knob …"));
    std::string group;
    for (std::size_t i = 0; i < offers_.knobs.size(); ++i) {
        const KnobOffer& offer = offers_.knobs[i];
        const auto turned = std::any_of(settings_.knobs.begin(), settings_.knobs.end(),
                                        [&](const KnobSetting& each) { return each.path == offer.path; });
        if (turned) continue;
        if (offer.group != group) {
            group = offer.group;
            add_->addItem(ui::qs(group));
            auto* item = qobject_cast<QStandardItemModel*>(add_->model())->item(add_->count() - 1);
            item->setFlags(item->flags() & ~(Qt::ItemIsEnabled | Qt::ItemIsSelectable));
        }
        add_->addItem(offer.drawn.empty() ? ui::qs(offer.path)
                                          : QStringLiteral("%1   %2").arg(ui::qs(offer.path), ui::qs(offer.drawn)),
                      static_cast<int>(i));
    }
    widenList(add_);
}

void ExploreForm::showWishes() {
    for (const auto& [box, at] : {std::pair{across_, 0}, {up_, 1}, {also_, 2}}) {
        const QSignalBlocker quiet(box);
        box->clear();
        if (at == 2) box->addItem(tr("nothing else"), QString());
        for (const auto& [id, name] : quantityNames()) {
            if (std::string_view(id) != "capacity")
                box->addItem(objectiveText(id), QLatin1String(id));
            else if (serving_)
                box->addItem(objectiveText(id), QStringLiteral("max capacity"));
        }
        for (const QString& figure : offers_.figures) {
            box->addItem(tr("%1, small").arg(figure), figure);
            box->addItem(tr("%1, large").arg(figure), QStringLiteral("max ") + figure);
        }
        const auto index = static_cast<std::size_t>(at);
        const QString own = index < settings_.objectives.size() ? ui::qs(settings_.objectives[index])
                            : at == 2                           ? QString()
                                                                : ui::qs(settings_.objectives.front());
        if (box->findData(own) < 0) box->addItem(own, own);
        selectData(box, own);
        widenList(box);
    }
    limits_->setLimits(settings_.constraints, offers_.limits);
    price_->setStored(settings_.deviceHour > 0 ? QString::number(settings_.deviceHour) : QString());
    const QSignalBlocker quietAgent(agent_), quietMost(most_);
    selectData(agent_, ui::qs(settings_.agent));
    most_->setValue(static_cast<int>(std::min<std::uint64_t>(settings_.evaluations, 100'000'000)));
}

void ExploreForm::addKnob(int offer) {
    SearchSettings next = settings_;
    next.knobs.push_back(offers_.knobs[static_cast<std::size_t>(offer)].usual);
    change(next, tr("Add the knob %1").arg(ui::qs(next.knobs.back().path)));
}

void ExploreForm::setPoints(std::uint64_t points, const QString& why) {
    points_->setTone(why.isEmpty() ? ui::Tone::Muted : ui::Tone::Bad);
    points_->setText(!why.isEmpty() ? why
                     : points == 0  ? tr("No knobs yet. Add one: a number of the drawing, of the model or of the plan.")
                                    : tr("%1 points in all").arg(ui::countText(static_cast<double>(points))));
}

}  // namespace orrery::app
