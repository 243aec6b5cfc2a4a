#include "app/window/scenario_bar.h"

#include "app/document/commands/project_edits.h"
#include "hardware/files/catalogue.h"
#include "widgets/common/theme.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QPainter>
#include <QPixmap>

#include <algorithm>
#include <map>

namespace orrery::app {

namespace {

QString text(std::string_view words) {
    return QString::fromUtf8(words.data(), static_cast<qsizetype>(words.size()));
}

// An ampersand in a name is no mnemonic.
QString menuText(QString name) {
    return name.replace(QLatin1Char('&'), QStringLiteral("&&"));
}

}  // namespace

Chooser::Chooser(const QString& id, const QString& name, const QString& meaning, QWidget* parent)
    : QToolButton(parent), menu_(new QMenu(this)) {
    setObjectName(id);
    setAccessibleName(name);
    setToolTip(meaning);
    setPopupMode(QToolButton::InstantPopup);
    setToolButtonStyle(Qt::ToolButtonTextOnly);
    setMenu(menu_);
    setFocusPolicy(Qt::TabFocus);
    menu_->setObjectName(id + QStringLiteral("Menu"));
    menu_->setToolTipsVisible(true);
    connect(menu_, &QMenu::aboutToShow, this, [this] {
        menu_->clear();
        emit filling(menu_);
    });
}

void Chooser::setCaption(const QString& caption, const QString& value) {
    const QString shown = fontMetrics().elidedText(value, Qt::ElideRight, fontMetrics().averageCharWidth() * 34);
    setText(QStringLiteral("%1  %2 ▾").arg(caption, menuText(shown)));
    setAccessibleDescription(value);
}

ScenarioBar::ScenarioBar(Document& document, QWidget* parent) : QWidget(parent), document_(document) {
    setObjectName(QStringLiteral("scenarioBar"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(ui::Theme::instance().unit() / 2);
    methods_ = new Chooser(QStringLiteral("methodChooser"), tr("Method set"), tr("Which methods answer"), this);
    workloads_ = new Chooser(QStringLiteral("workloadChooser"), tr("Workload"), tr("What is computed"), this);
    hardware_ = new Chooser(QStringLiteral("hardwareChooser"), tr("Hardware"), tr("What computes it"), this);
    for (Chooser* chooser : {methods_, workloads_, hardware_}) row->addWidget(chooser);
    connect(methods_, &Chooser::filling, this, &ScenarioBar::fillMethods);
    connect(workloads_, &Chooser::filling, this, &ScenarioBar::fillWorkloads);
    connect(hardware_, &Chooser::filling, this, &ScenarioBar::fillHardware);
    connect(&document_, &Document::scenarioChanged, this, &ScenarioBar::refresh);
    connect(&document_, &Document::methodsChanged, this, &ScenarioBar::refresh);
    connect(&document_, &Document::replaced, this, &ScenarioBar::refresh);
    connect(&document_, &Document::workloadChanged, this, &ScenarioBar::refresh);
    refresh();
}

void ScenarioBar::refresh() {
    const auto count = static_cast<int>(document_.state()->methods.size());
    QString methods = tr("%n method(s)", nullptr, count);
    if (count == 0) methods = tr("none");
    if (count == 1) {
        methods = QString::fromStdString(methodTitle(document_.state()->methods.front()));
    }
    methods_->setCaption(tr("Methods"), methods);
    const ProjectWorkload* workload = document_.workload();
    workloads_->setCaption(tr("Workload"), workload ? QString::fromStdString(workload->name) : tr("none"));
    const HardwarePtr hardware = document_.hardware();
    hardware_->setCaption(tr("Hardware"), hardware ? QString::fromStdString(hardware->name) : tr("none"));
}

void ScenarioBar::fillMethods(QMenu* menu) {
    for (const Method& method : builtinMethods()) {
        const std::string id(method.card.id);
        QAction* action = menu->addAction(menuText(text(method.card.title)));
        action->setObjectName(QStringLiteral("method-") + text(method.card.id));
        action->setToolTip(text(method.card.summary));
        action->setCheckable(true);
        action->setChecked(std::ranges::count(document_.state()->methods, id) > 0);
        connect(action, &QAction::toggled, this, [this, id](bool on) {
            std::vector<std::string> methods = document_.state()->methods;
            if (on) {
                methods.push_back(id);
            } else {
                std::erase(methods, id);
            }
            if (auto done = document_.apply(setMethodsEdit(*document_.state(), methods)); !done)
                emit refused(done.error());
        });
    }
}

void ScenarioBar::choose(ScenarioRef scenario) {
    if (auto done = document_.apply(chooseScenarioEdit(*document_.state(), scenario)); !done)
        emit refused(done.error());
}

void ScenarioBar::fillWorkloads(QMenu* menu) {
    const auto current = document_.state()->scenarios.empty() ? ScenarioRef{} : document_.state()->scenarios.front();
    for (const ProjectWorkload& workload : document_.state()->workloads) {
        QAction* action = menu->addAction(menuText(QString::fromStdString(workload.name)));
        action->setCheckable(true);
        action->setChecked(workload.name == current.workload);
        connect(action, &QAction::triggered, this, [this, current, name = workload.name] {
            choose({current.hardware, name});
        });
    }
    menu->addSeparator();
    std::map<QString, QMenu*> groups;
    for (const WorkloadInfo& info : builtinWorkloads()) {
        const QString group = QString::fromStdString(info.group);
        QMenu*& into = groups[group];
        if (!into) into = menu->addMenu(tr("Add: %1").arg(group));
        QAction* action = into->addAction(menuText(QString::fromStdString(info.name)));
        action->setToolTip(QString::fromStdString(info.description));
        connect(action, &QAction::triggered, this,
                [this, id = info.id] { emit builtinWorkloadChosen(QString::fromStdString(id)); });
    }
    menu->addSeparator();
    menu->addAction(tr("Open a model file…"), this, &ScenarioBar::openRequested);
}

void ScenarioBar::fillHardware(QMenu* menu) {
    const auto current = document_.state()->scenarios.empty() ? ScenarioRef{} : document_.state()->scenarios.front();
    for (const HardwarePtr& design : document_.state()->hardware) {
        QAction* action = menu->addAction(menuText(QString::fromStdString(design->name)));
        action->setCheckable(true);
        action->setChecked(design->name == current.hardware);
        connect(action, &QAction::triggered, this, [this, current, name = design->name] {
            choose({name, current.workload});
        });
    }
    menu->addSeparator();
    std::map<QString, QMenu*> groups;
    for (const CatalogueEntry& entry : hardwareCatalogue()) {
        const QString group = QString::fromStdString(entry.group);
        QMenu*& into = groups[group];
        if (!into) into = menu->addMenu(tr("Add: %1").arg(group));
        QAction* action = into->addAction(menuText(QString::fromStdString(entry.name)));
        action->setToolTip(QString::fromStdString(entry.description));
        connect(action, &QAction::triggered, this,
                [this, id = entry.id] { emit catalogueHardwareChosen(QString::fromStdString(id)); });
    }
    menu->addSeparator();
    menu->addAction(tr("Open a hardware file…"), this, &ScenarioBar::openRequested);
}

LiveButton::LiveButton(QWidget* parent) : QToolButton(parent) {
    setObjectName(QStringLiteral("liveButton"));
    setAccessibleName(tr("Live evaluation"));
    setText(tr("Live"));
    setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    setCheckable(true);
    setChecked(true);
    setFocusPolicy(Qt::TabFocus);
    connect(&ui::Theme::instance(), &ui::Theme::changed, this, &LiveButton::refresh);
    refresh();
}

void LiveButton::setState(State state) {
    if (state == state_) return;
    state_ = state;
    refresh();
}

void LiveButton::setCost(double seconds, int operators) {
    cost_ = tr("Last answer: %1 for %n operator(s)", nullptr, operators)
                .arg(QString::fromStdString(formatMeasure(seconds, Dimension::Time)));
    refresh();
}

void LiveButton::refresh() {
    const auto& colours = ui::Theme::instance().colours();
    const QColor dot = state_ == State::Off    ? colours.mutedText
                       : state_ == State::Busy ? colours.warning
                       : state_ == State::Idle ? colours.good
                                               : colours.bad;
    constexpr int side = 12;
    QPixmap picture(QSize(side, side) * devicePixelRatioF());
    picture.setDevicePixelRatio(devicePixelRatioF());
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(state_ == State::Off ? QBrush(Qt::NoBrush) : QBrush(dot));
    painter.setPen(QPen(dot, 1.5));
    painter.drawEllipse(QRectF(2, 2, side - 4, side - 4));
    painter.end();
    setIcon(picture);
    QString tip = tr("Evaluate the live methods on every edit (Ctrl+L)");
    if (state_ == State::Failed) tip += QLatin1Char('\n') + tr("The last question has no answer: see Problems");
    if (!cost_.isEmpty()) tip += QLatin1Char('\n') + cost_;
    setToolTip(tip);
}

}  // namespace orrery::app
