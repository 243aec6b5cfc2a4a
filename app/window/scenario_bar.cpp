#include "app/window/scenario_bar.h"

#include "app/document/commands/project_edits.h"
#include "app/window/size_fields.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/cluster_view.h"
#include "learning/calibration.h"
#include "widgets/common/theme.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QMenu>
#include <QPainter>
#include <QPixmap>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace orrery::app {

namespace {

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
        qDeleteAll(menu_->findChildren<QMenu*>(Qt::FindDirectChildrenOnly));
        emit filling(menu_);
    });
}

void Chooser::setCaption(const QString& caption, const QString& value, int letters) {
    const QString shown = fontMetrics().elidedText(value, Qt::ElideRight, fontMetrics().averageCharWidth() * letters);
    // Where the value says what it is, the toolbar has no room for its name.
    setText(caption.isEmpty() || letters < 30 ? menuText(shown) + QStringLiteral(" ▾")
                                              : QStringLiteral("%1  %2 ▾").arg(caption, menuText(shown)));
    setAccessibleDescription(value);
}

ScenarioBar::ScenarioBar(Document& document, QWidget* parent) : QWidget(parent), document_(document) {
    setObjectName(QStringLiteral("scenarioBar"));
    if (parent) parent->installEventFilter(this);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(ui::Theme::instance().unit() / 2);
    methods_ = new Chooser(QStringLiteral("methodChooser"), tr("Method set"),
                           tr("Which methods answer: opens the panel of methods"), this);
    workloads_ = new Chooser(QStringLiteral("workloadChooser"), tr("Workload"), tr("What is computed"), this);
    hardware_ = new Chooser(QStringLiteral("hardwareChooser"), tr("Hardware"), tr("What computes it"), this);
    plan_ =
        new Chooser(QStringLiteral("planChooser"), tr("Plan"),
                    tr("How the model is divided over the drawn devices: tensor, pipeline and data parallelism"), this);
    task_ = new Chooser(QStringLiteral("taskChooser"), tr("Task"),
                        tr("The task: one pass, a training step, or a serving run"), this);
    for (Chooser* chooser : {methods_, task_, workloads_}) row->addWidget(chooser);
    sizes_ = new SizeFields(document_, this);
    row->addWidget(sizes_);
    for (Chooser* chooser : {plan_, hardware_}) row->addWidget(chooser);
    connect(sizes_, &SizeFields::refused, this, &ScenarioBar::refused);
    connect(&ui::Theme::instance(), &ui::Theme::changed, this, &ScenarioBar::fitRoom);
    connect(plan_, &Chooser::filling, this, &ScenarioBar::fillPlan);
    connect(task_, &Chooser::filling, this, &ScenarioBar::fillTask);
    // Methods are many, and chosen several at once: in a panel that stays open.
    methods_->setMenu(nullptr);
    methods_->setPopupMode(QToolButton::DelayedPopup);
    connect(methods_, &Chooser::clicked, this, &ScenarioBar::methodsRequested);
    connect(workloads_, &Chooser::filling, this, &ScenarioBar::fillWorkloads);
    connect(hardware_, &Chooser::filling, this, &ScenarioBar::fillHardware);
    connect(&document_, &Document::scenarioChanged, this, &ScenarioBar::refresh);
    connect(&document_, &Document::methodsChanged, this, &ScenarioBar::refresh);
    connect(&document_, &Document::replaced, this, &ScenarioBar::refresh);
    connect(&document_, &Document::workloadChanged, this, &ScenarioBar::refresh);
    refresh();
    fitRoom();
}

void ScenarioBar::refresh() {
    const auto count = static_cast<int>(document_.state()->methods.size());
    QString methods = tr("%n method(s)", nullptr, count);
    if (count == 0) methods = tr("no method");
    if (count == 1) {
        methods = QString::fromStdString(methodTitle(document_.state()->methods.front()));
    }
    methods_->setCaption({}, methods, letters_);
    const ProjectWorkload* workload = document_.workload();
    const bool narrow = letters_ < 30;  // then captions are left out
    workloads_->setCaption(tr("Workload"),
                           workload ? QString::fromStdString(workload->name)
                           : narrow ? tr("no workload")
                                    : tr("none"),
                           letters_);
    const HardwarePtr hardware = document_.hardware();
    hardware_->setCaption(tr("Hardware"),
                          hardware ? QString::fromStdString(hardware->name)
                          : narrow ? tr("no hardware")
                                   : tr("none"),
                          letters_);
    const auto& scenarios = document_.state()->scenarios;
    const ScenarioRef asked = scenarios.empty() ? ScenarioRef{} : scenarios.front();
    plan_->setCaption({}, asked.plan.split() ? QString::fromStdString(toText(asked.plan)) : tr("one device"), letters_);
    QString task = tr("One pass");
    if (asked.task.starts_with("training-step")) task = tr("Training step");
    if (asked.task == "serving-run") task = tr("Serving run");
    if (asked.task.starts_with("operator")) task = QString::fromStdString(asked.task);
    task_->setCaption({}, task, letters_);
    task_->setToolTip(asked.software.empty()
                          ? tr("The task: one pass, a training step, or a serving run; and the software")
                          : tr("What is asked, by %1").arg(softwareText(asked.software)));
    plan_->setEnabled(!scenarios.empty());
    task_->setEnabled(!scenarios.empty());
}

// In a small window the bar would not fit as a whole, and go as a whole.
bool ScenarioBar::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize && watched == parentWidget()) fitRoom();
    return QWidget::eventFilter(watched, event);
}

double ScenarioBar::roomToPresent() {
    return 1500 * ui::Theme::instance().scale();
}

void ScenarioBar::fitRoom() {
    if (!parentWidget()) return;
    const ui::Theme& theme = ui::Theme::instance();
    const int width = parentWidget()->width();
    // A class sees the model, its sizes, the plan and the device; the rest of the question stands behind the plan.
    tight_ = theme.presenter() && width < roomToPresent();
    for (Chooser* chooser : {methods_, task_}) chooser->setVisible(!tight_);
    sizes_->setPresenting(theme.presenter());
    const double room = width / theme.scale();
    const int letters = !theme.presenter() ? (room < 1500 ? 18 : 34) : room < 1100 ? 10 : room < 2100 ? 18 : 34;
    if (std::exchange(letters_, letters) != letters) refresh();
}

void ScenarioBar::setPlan(const Plan& plan) {
    if (auto done = document_.apply(setPlanEdit(*document_.state(), plan)); !done) emit refused(done.error());
}

void ScenarioBar::askForPlan() {
    const auto& scenarios = document_.state()->scenarios;
    if (scenarios.empty()) return;
    bool given = false;
    const QString text = QInputDialog::getText(
        this, tr("Plan"),
        tr("tp: tensor, pp: pipeline, dp: data, ep: expert, cp: context parallelism; mb: micro-batches.\n"
           "Of training steps: vp: interleaved chunks, zero: state divided among copies (0 to 3), shard: among how "
           "many of them, sp: split sequence, "
           "offload: optimizer, weights or activations in the host's memory."),
        QLineEdit::Normal, QString::fromStdString(toText(scenarios.front().plan)), &given);
    if (!given) return;
    if (auto plan = parsePlan(text.toStdString())) {
        setPlan(*plan);
    } else {
        emit refused(plan.error());
    }
}

// One device, and the powers of two that the drawing has devices for.
void ScenarioBar::fillPlan(QMenu* menu) {
    const auto& scenarios = document_.state()->scenarios;
    const HardwarePtr hardware = document_.hardware();
    if (scenarios.empty() || !hardware) return;
    const Plan current = scenarios.front().plan;
    std::int64_t drawn = 1;
    if (const auto cluster = clusterView(*hardware)) {
        for (const DeviceGroup& group : cluster->groups) drawn = std::max(drawn, group.count);
    }
    const auto add = [&](const Plan& plan, const QString& words) {
        QAction* action = menu->addAction(words);
        action->setObjectName(QStringLiteral("plan-") + QString::fromStdString(toText(plan)));
        action->setCheckable(true);
        action->setChecked(plan == current);
        connect(action, &QAction::triggered, this, [this, plan] { setPlan(plan); });
    };
    add(Plan{}, tr("One device"));
    for (std::int64_t n = 2; n <= std::min<std::int64_t>(drawn, 64); n *= 2) {
        add(Plan{.tensor = n}, tr("Tensor parallel over %1 (tp=%1)").arg(n));
    }
    for (std::int64_t n = 2; n <= std::min<std::int64_t>(drawn, 1024); n *= 2) {
        add(Plan{.data = n}, tr("Data parallel over %1 (dp=%1)").arg(n));
    }
    menu->addSeparator();
    menu->addAction(tr("Another plan…"), this, &ScenarioBar::askForPlan);
    QStringList dimensions{QStringLiteral("tp"), QStringLiteral("pp"), QStringLiteral("dp"), QStringLiteral("ep"),
                           QStringLiteral("cp")};
    if (scenarios.front().task.starts_with("training-step"))
        dimensions << QStringLiteral("vp") << QStringLiteral("zero") << QStringLiteral("mb") << QStringLiteral("sched");
    addKnobs(menu, dimensions);
    if (!tight_) return;
    menu->addSeparator();
    fillTask(menu->addMenu(tr("Task: %1").arg(menuText(task_->accessibleDescription()))));
    menu->addAction(tr("Methods: %1…").arg(menuText(methods_->accessibleDescription())), this,
                    &ScenarioBar::methodsRequested);
}

void ScenarioBar::addKnobs(QMenu* menu, const QStringList& paths) {
    QMenu* turn = menu->addMenu(tr("Turn in E&xplore"));
    turn->setObjectName(QStringLiteral("turnMenu"));
    for (const QString& path : paths) {
        QAction* action = turn->addAction(path, this, [this, path] { emit knobRequested(path); });
        action->setObjectName(QStringLiteral("turn.") + path);
        action->setToolTip(tr("Adds it as a knob to the search on the page Explore"));
    }
    turn->setToolTipsVisible(true);
}

void ScenarioBar::fillTask(QMenu* menu) {
    const auto& scenarios = document_.state()->scenarios;
    if (scenarios.empty()) return;
    const std::string current = scenarios.front().task.empty() ? "pass" : scenarios.front().task;
    const auto add = [&](const std::string& task, const QString& words) {
        QAction* action = menu->addAction(words);
        action->setObjectName(QStringLiteral("task-") + QString::fromStdString(task));
        action->setCheckable(true);
        action->setChecked(task == current);
        connect(action, &QAction::triggered, this, [this, task] {
            if (auto done = document_.apply(setTaskEdit(*document_.state(), task)); !done) emit refused(done.error());
        });
    };
    add("pass", tr("One pass"));
    add("training-step", tr("Training step, with Adam"));
    add("training-step(optimizer=sgd)", tr("Training step, with SGD"));
    add("training-step(recompute=selective)", tr("Training step, attention computed again"));
    add("training-step(recompute=full)", tr("Training step, every layer computed again"));
    if (document_.state()->serving) add("serving-run", tr("Serving run of this project"));
    menu->addSeparator();
    fillSoftware(menu->addMenu(tr("Software: %1").arg(softwareText(scenarios.front().software))));
}

QString ScenarioBar::softwareText(const Software& software) const {
    return software.empty() ? tr("not said") : QString::fromStdString(toText(software));
}

void ScenarioBar::setSoftware(const QString& software) {
    if (auto done = document_.apply(setSoftwareEdit(*document_.state(), software.toStdString())); !done)
        emit refused(done.error());
}

// The stacks whose kernels something was fitted to, and any other by its name.
void ScenarioBar::fillSoftware(QMenu* menu) {
    menu->setObjectName(QStringLiteral("softwareMenu"));
    menu->setToolTipsVisible(true);
    const Software current = document_.state()->scenarios.front().software;
    const auto add = [&](const Software& software, const QString& words, const QString& tip) {
        QAction* action = menu->addAction(words);
        action->setObjectName(QStringLiteral("software-") + QString::fromStdString(toText(software)));
        action->setToolTip(tip);
        action->setCheckable(true);
        action->setChecked(software == current);
        connect(action, &QAction::triggered, this,
                [this, text = QString::fromStdString(toText(software))] { setSoftware(text); });
    };
    add({}, tr("Not said"), tr("Methods answer for the software that they were fitted to"));
    std::set<std::string> engines;
    for (const auto& calibration : shippedCalibrations().set.all())
        for (const CalibrationSection& section : calibration->sections)
            for (const CalibrationSource& source : section.sources)
                if (parseSoftware(source.software)) engines.insert(source.software);
    if (!current.engine.empty()) engines.insert(current.engine);
    for (const std::string& engine : engines) {
        if (engine.empty()) continue;
        Software software = current;
        software.engine = engine;
        add(software, QString::fromStdString(engine), tr("Kernels of this engine or library"));
    }
    menu->addSeparator();
    QAction* graphs = menu->addAction(tr("Without captured graphs"));
    graphs->setObjectName(QStringLiteral("software.eager"));
    graphs->setToolTip(tr("The host issues every kernel; overrides the option of the method"));
    graphs->setCheckable(true);
    graphs->setChecked(current.graphs == false);
    connect(graphs, &QAction::toggled, this, [this, current](bool on) {
        Software software = current;
        software.graphs = on ? std::optional(false) : std::nullopt;
        setSoftware(QString::fromStdString(toText(software)));
    });
    QAction* another = menu->addAction(tr("Another software…"), this, &ScenarioBar::askForSoftware);
    another->setToolTip(tr("Name, version, graphs and host time"));
}

void ScenarioBar::askForSoftware() {
    const auto& scenarios = document_.state()->scenarios;
    if (scenarios.empty()) return;
    bool given = false;
    const QString text = QInputDialog::getText(
        this, tr("Software"),
        tr("Name and version as in the tables: vLLM 0.24.0. Optional, in brackets:\n"
           "graphs=on or off, host= the time to issue a kernel, as in vLLM 0.24.0(graphs=off, host=12 us)."),
        QLineEdit::Normal, QString::fromStdString(toText(scenarios.front().software)), &given);
    if (given) setSoftware(text.trimmed());
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
            ScenarioRef asked = current;
            asked.workload = name;
            choose(std::move(asked));
        });
    }
    if (const ProjectWorkload* shown = document_.workload(); shown && current.task != "serving-run") {
        const WorkloadInfo* info = builtinWorkload(shown->recipe.source);
        QStringList options{QStringLiteral("batch")};
        if (!info || info->hasSequence) options << QStringLiteral("sequence");
        if (info && info->hasImage) options << QStringLiteral("image");
        if (info && info->hasPhases) options << QStringLiteral("phase") << QStringLiteral("kv");
        options << QStringLiteral("weights") << QStringLiteral("activations");
        addKnobs(menu, options);
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
    QAction* code = menu->addAction(tr("A kernel or a network by its code…"), this, &ScenarioBar::codeRequested);
    code->setObjectName(QStringLiteral("workload.code"));
    menu->addAction(tr("Open a model file…"), this, &ScenarioBar::openRequested);
}

void ScenarioBar::fillHardware(QMenu* menu) {
    const auto current = document_.state()->scenarios.empty() ? ScenarioRef{} : document_.state()->scenarios.front();
    for (const HardwarePtr& design : document_.state()->hardware) {
        QAction* action = menu->addAction(menuText(QString::fromStdString(design->name)));
        action->setCheckable(true);
        action->setChecked(design->name == current.hardware);
        connect(action, &QAction::triggered, this, [this, current, name = design->name] {
            ScenarioRef asked = current;
            asked.hardware = name;
            choose(std::move(asked));
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
