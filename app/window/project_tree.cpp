#include "app/window/project_tree.h"

#include "app/document/commands/project_edits.h"
#include "app/document/commands/show_hardware.h"
#include "app/document/document.h"
#include "widgets/common/theme.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>

namespace orrery::app {

namespace {

constexpr int kindRole = Qt::UserRole;
constexpr int indexRole = Qt::UserRole + 1;

QString q(const std::string& text) {
    return QString::fromStdString(text);
}

// `Llama-3 70B decode on DGX H100, tp=8`, `Training step of ResNet-50 on …`.
QString questionOf(const ScenarioRef& scenario) {
    QString asked = q(scenario.workload);
    if (scenario.task.starts_with("training-step")) asked = ProjectTree::tr("Training step of %1").arg(asked);
    if (scenario.task.starts_with("operator")) asked = q(scenario.task) + QStringLiteral(": ") + asked;
    if (scenario.task == "serving-run") asked = ProjectTree::tr("Serving of %1").arg(asked);
    asked = ProjectTree::tr("%1 on %2").arg(asked, q(scenario.hardware));
    return scenario.plan.split() ? asked + QStringLiteral(", ") + q(toText(scenario.plan)) : asked;
}

}  // namespace

ProjectTree::ProjectTree(Document& document, QWidget* parent) : QTreeWidget(parent), document_(document) {
    setObjectName(QStringLiteral("projectTree"));
    setAccessibleName(tr("Project"));
    setToolTip(tr("Double-click shows a design or workload; Delete removes it from the project"));
    setHeaderHidden(true);
    setIndentation(ui::Theme::instance().unit() * 3 / 2);
    setContextMenuPolicy(Qt::CustomContextMenu);
    connect(this, &QTreeWidget::itemActivated, this, [this](QTreeWidgetItem* item) { activate(item); });
    connect(this, &QTreeWidget::customContextMenuRequested, this, &ProjectTree::showMenu);
    // Designs change on every move of a slider, what is listed here does not.
    connect(&document_, &Document::projectChanged, this, &ProjectTree::refresh);
    connect(&ui::Theme::instance(), &ui::Theme::changed, this, [this] {
        setProperty("content", QVariant());
        refresh();
    });
    refresh();
}

void ProjectTree::refresh() {
    const ProjectState& state = *document_.state();
    QStringList content;
    for (const HardwarePtr& design : state.hardware) content << q(design->name);
    content << QStringLiteral("|");
    for (const ProjectWorkload& workload : state.workloads) content << q(workload.name);
    content << QStringLiteral("|");
    for (const ScenarioRef& scenario : state.scenarios) content << questionOf(scenario);
    const QString key = content.join(QLatin1Char('\n'));
    if (property("content").toString() == key && topLevelItemCount() > 0) return;
    setProperty("content", key);

    clear();
    const auto group = [&](const QString& title) {
        auto* item = new QTreeWidgetItem(this, {title});
        item->setData(0, kindRole, Group);
        item->setFlags(Qt::ItemIsEnabled);
        QFont font = ui::Theme::instance().font(ui::FontRole::Small);
        font.setWeight(QFont::DemiBold);
        item->setFont(0, font);
        item->setForeground(0, ui::Theme::instance().colours().mutedText);
        item->setExpanded(true);
        return item;
    };
    const auto entry = [&](QTreeWidgetItem* under, const QString& name, Kind kind, int index, bool current) {
        auto* item = new QTreeWidgetItem(under, {name});
        item->setData(0, kindRole, kind);
        item->setData(0, indexRole, index);
        item->setToolTip(0, name);
        if (current) {
            QFont font = this->font();
            font.setWeight(QFont::DemiBold);
            item->setFont(0, font);
        }
    };
    auto* designs = group(tr("Hardware"));
    for (int at = 0; at < static_cast<int>(state.hardware.size()); ++at) {
        entry(designs, q(state.hardware[static_cast<std::size_t>(at)]->name), HardwareItem, at,
              at == state.currentHardware());
    }
    auto* workloads = group(tr("Workloads"));
    for (int at = 0; at < static_cast<int>(state.workloads.size()); ++at) {
        entry(workloads, q(state.workloads[static_cast<std::size_t>(at)].name), WorkloadItem, at,
              at == state.currentWorkload());
    }
    auto* scenarios = group(tr("Scenarios"));
    for (int at = 0; at < static_cast<int>(state.scenarios.size()); ++at) {
        const ScenarioRef& scenario = state.scenarios[static_cast<std::size_t>(at)];
        entry(scenarios, questionOf(scenario), ScenarioItem, at, at == 0);
    }
    for (QTreeWidgetItem* item : {designs, workloads, scenarios}) {
        if (item->childCount() > 0) continue;
        auto* none = new QTreeWidgetItem(item, {tr("none yet")});
        none->setFlags(Qt::ItemIsEnabled);
        none->setData(0, kindRole, Group);
        none->setForeground(0, ui::Theme::instance().colours().mutedText);
    }
    expandAll();
}

void ProjectTree::activate(QTreeWidgetItem* item) {
    const ProjectState& state = *document_.state();
    const auto index = static_cast<std::size_t>(item->data(0, indexRole).toInt());
    ScenarioRef wanted = state.scenarios.empty() ? ScenarioRef{} : state.scenarios.front();
    const auto kind = item->data(0, kindRole).toInt();
    switch (kind) {
        case HardwareItem:
            wanted.hardware = state.hardware[index]->name;
            break;
        case WorkloadItem:
            wanted.workload = state.workloads[index].name;
            break;
        case ScenarioItem:
            wanted = state.scenarios[index];
            break;
        default:
            return;
    }
    auto done = document_.apply(kind == HardwareItem ? showHardwareEdit(state, static_cast<int>(index))
                                                     : chooseScenarioEdit(state, wanted));
    if (!done) emit refused(q(done.error().message));
    if (kind == HardwareItem) emit hardwareActivated();
    if (kind == WorkloadItem) emit workloadActivated();
}

void ProjectTree::remove(QTreeWidgetItem* item) {
    const int index = item->data(0, indexRole).toInt();
    Expected<void> done;
    switch (item->data(0, kindRole).toInt()) {
        case HardwareItem:
            done = document_.apply(removeHardwareEdit(*document_.state(), index));
            break;
        case WorkloadItem:
            done = document_.apply(removeWorkloadEdit(*document_.state(), index));
            break;
        default:
            return;
    }
    if (!done) emit refused(q(done.error().message));
}

void ProjectTree::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Delete && currentItem()) return remove(currentItem());
    QTreeWidget::keyPressEvent(event);
}

void ProjectTree::showMenu(const QPoint& at) {
    QTreeWidgetItem* item = itemAt(at);
    if (!item || item->data(0, kindRole).toInt() == Group) return;
    QMenu menu(this);
    menu.addAction(tr("Show"), this, [this, item] { activate(item); });
    if (item->data(0, kindRole).toInt() != ScenarioItem) {
        menu.addAction(tr("Remove from project"), this, [this, item] { remove(item); });
    }
    menu.exec(viewport()->mapToGlobal(at));
}

}  // namespace orrery::app
