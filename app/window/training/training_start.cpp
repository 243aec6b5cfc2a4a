#include "app/window/training/training_start.h"

#include "app/window/form_parts.h"
#include "app/window/hardware/add_hardware.h"
#include "hardware/edit/tree_edit.h"
#include "hardware/files/catalogue.h"
#include "hardware/walk.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "workload/models/catalogue.h"

#include <QFormLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::app {

namespace {

constexpr double bytesPerParameter = 18;  ///< 16-bit weights and gradients, a sum in fp32, Adam's state

/// Of the first node that is drawn; nothing where there is none.
std::optional<ComponentPath> firstNode(const Component& root) {
    const std::vector<ComponentPath> nodes = outermost(root, ComponentKind::Node);
    return nodes.empty() ? std::nullopt : std::optional(nodes.front());
}

/// Copies of the first node; 0 where there is none.
std::int64_t nodesOf(const Component& root) {
    const auto node = firstNode(root);
    return node ? componentAt(root, *node)->count : 0;
}

}  // namespace

Plan firstPlan(const PlanRoom& room, std::int64_t perNode, double capacity, double parameters) {
    Plan plan;
    const auto possible = [&](const Plan& other) { return fits(other, room).has_value(); };
    const auto holds = [&](const Plan& other) {
        const double split = static_cast<double>(other.tensor * other.pipeline);
        return capacity <= 0 || bytesPerParameter * parameters / split < 0.7 * capacity;
    };
    for (std::int64_t t = 2; t <= perNode && !holds(plan); t *= 2) {
        Plan next = plan;
        next.tensor = t;
        if (possible(next)) plan = next;
    }
    for (std::int64_t p = 2; p <= room.devices && !holds(plan); ++p) {
        Plan next = plan;
        next.pipeline = p;
        if (possible(next) && room.model && room.model->layers % p == 0) plan = next;
    }
    plan = filled(plan, room, room.devices);
    if (plan.pipeline > 1) plan.microbatches = std::max<std::int64_t>(1, room.batch / plan.data);
    if (plan.tensor > 1) plan.sequence = 1;
    return plan;
}

TrainingStartPage::TrainingStartPage(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("training.start"));
    setAccessibleName(tr("A first question about training"));
    const int unit = ui::Theme::instance().unit();
    auto* outer = new QHBoxLayout(this);
    auto* box = new QWidget(this);
    const auto asWide = [this, box, unit] {
        box->setFixedWidth(static_cast<int>(64 * unit * ui::Theme::instance().scale()));
        fitText();
    };
    auto* column = new QVBoxLayout(box);
    column->setSpacing(unit);
    column->addStretch(1);
    title_ = new ui::Label({}, ui::FontRole::Title, ui::Tone::Normal, box);
    text_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, box);
    text_->setWordWrap(true);
    column->addWidget(title_);
    column->addWidget(text_);
    auto* form = new QFormLayout;
    form->setHorizontalSpacing(2 * unit);
    form->setVerticalSpacing(unit);
    model_ = namedChoice(box, "training.start.model", tr("Model"), tr("What is trained"));
    cluster_ = namedChoice(box, "training.start.cluster", tr("Cluster"), tr("What it is trained on"));
    for (QComboBox* each : {model_, cluster_}) {
        each->setMinimumContentsLength(28);
        each->setMaxVisibleItems(24);
    }
    nodes_ = namedNumber(box, "training.start.nodes", tr("Nodes"), tr("Nodes of the cluster"), 1, 100'000);
    batch_ = namedNumber(box, "training.start.batch", tr("Global batch"),
                         tr("Samples of one step, by all copies together"), 1, 10'000'000);
    sequence_ = namedNumber(box, "training.start.sequence", tr("Sequence"), tr("Tokens of one sample"), 1, 10'000'000);
    sequence_->setSingleStep(1024);
    form->addRow(tr("Model"), model_);
    form->addRow(tr("Cluster"), cluster_);
    form->addRow(tr("Nodes"), nodes_);
    devices_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, box);
    devices_->setObjectName(QStringLiteral("training.start.devices"));
    form->addRow(QString(), devices_);
    form->addRow(tr("Batch, samples"), batch_);
    form->addRow(tr("Sequence, tokens"), sequence_);
    column->addLayout(form);
    start_ = named(new QPushButton(tr("Show the training step"), box), "training.start.go",
                   tr("Show the training step"), tr("Creates this question with a first plan; one undo step"));
    start_->setDefault(true);
    column->addWidget(start_, 0, Qt::AlignLeft);
    column->addStretch(2);
    outer->addStretch(1);
    outer->addWidget(box);
    outer->addStretch(1);
    asWide();
    connect(&ui::Theme::instance(), &ui::Theme::changed, this, asWide);
    batch_->setValue(512);
    sequence_->setValue(4096);
    connect(cluster_, &QComboBox::currentIndexChanged, this, &TrainingStartPage::clusterChosen);
    connect(nodes_, &QSpinBox::valueChanged, this, &TrainingStartPage::showDevices);
    connect(start_, &QPushButton::clicked, this, &TrainingStartPage::start);
}

// A long name takes more lines, and the page scrolls where they do not fit.
void TrainingStartPage::fitText() {
    const QWidget* box = text_->parentWidget();
    const QMargins margins = box->layout()->contentsMargins();
    text_->setMinimumHeight(
        text_->text().isEmpty() ? 0 : text_->heightForWidth(box->maximumWidth() - margins.left() - margins.right()));
}

void TrainingStartPage::show(const ProjectState& state, const TrainingQuestion& question) {
    state_ = state;
    switch (question.lacks) {
        case TrainingLacks::Task:
            title_->setText(tr("Which plan trains it fastest?"));
            text_->setText(tr("The task of this project is one pass of %1. Change it to a training step. This page "
                              "then shows its time, where the time goes, the memory of every stage, and better plans.")
                               .arg(question.model));
            break;
        case TrainingLacks::Cluster:
            title_->setText(tr("This design cannot train yet"));
            text_->setText(question.why ? ui::windowText(question.why->message) + QStringLiteral(". ") +
                                              ui::windowText(question.why->hint)
                                        : QString());
            break;
        default:
            title_->setText(tr("Which plan trains it fastest?"));
            text_->setText(
                tr("Choose a model and a cluster. This page then shows the time of a training step, where the time "
                   "goes, the memory of every stage, the exchanges between devices, and better plans. You can draw "
                   "your own cluster on the page Hardware."));
    }
    fitText();
    fill(state, question);
}

void TrainingStartPage::fill(const ProjectState& state, const TrainingQuestion& question) {
    std::vector<std::string> there;
    for (const ProjectWorkload& each : state.workloads) there.push_back("w" + each.name);
    for (const HardwarePtr& each : state.hardware) there.push_back("h" + each->name);
    if (there == shown_ && model_->count() > 0) return;
    shown_ = there;
    const QSignalBlocker quiet(cluster_);
    model_->clear();
    cluster_->clear();
    const auto separate = [](QComboBox* box) {
        if (box->count() > 0) box->insertSeparator(box->count());
    };
    for (const ProjectWorkload& each : state.workloads)
        model_->addItem(ui::qs(each.name), QStringList{QStringLiteral("project"), ui::qs(each.name)});
    separate(model_);
    for (const BuiltinModel& each : languageModels())
        model_->addItem(ui::qs(each.info.name), QStringList{QStringLiteral("library"), ui::qs(each.info.id)});
    for (const HardwarePtr& each : state.hardware)
        if (!partsIn(each->root).empty())
            cluster_->addItem(ui::qs(each->name), QStringList{QStringLiteral("project"), ui::qs(each->name)});
    separate(cluster_);
    const int systems = cluster_->count();
    for (const CatalogueEntry& each : hardwareCatalogue())
        if (each.group == "System")
            cluster_->addItem(ui::qs(each.name), QStringList{QStringLiteral("library"), ui::qs(each.id)});
    const auto choose = [](QComboBox* box, const QString& name, const QString& usual, int otherwise) {
        int at = name.isEmpty() ? -1 : box->findText(name);
        if (at < 0) at = box->findData(QStringList{QStringLiteral("library"), usual});
        box->setCurrentIndex(at < 0 ? otherwise : at);
    };
    choose(model_, question.model, QStringLiteral("llama-3-70b"), 0);
    // A single device is no cluster to begin with.
    const bool many = question.group && question.group->count > 1;
    choose(cluster_, many || question.lacks == TrainingLacks::Task ? question.design : QString(),
           QStringLiteral("dgx-h100-superpod"), systems);
    if (question.workloadIndex >= 0) {
        const WorkloadOptions& options = question.recipe.options;
        if (options.batch > 1) batch_->setValue(static_cast<int>(std::min<std::int64_t>(options.batch, 10'000'000)));
        if (options.sequence > 0) sequence_->setValue(static_cast<int>(options.sequence));
    }
    clusterChosen();
}

void TrainingStartPage::clusterChosen() {
    const QStringList chosen = cluster_->currentData().toStringList();
    std::int64_t nodes = 0;
    device_.clear();
    drawn_ = perNode_ = 0;
    const auto look = [&](const Hardware& design) {
        nodes = nodesOf(design.root);
        const auto view = clusterView(design);
        if (!view || view->groups.empty()) return;
        const DeviceGroup& group = view->groups.front();
        device_ = ui::qs(group.name);
        if (group.memory.value > 0)
            device_ = tr("%1 of %2").arg(device_, ui::text(group.memory.value, Dimension::Data, 3));
        drawn_ = group.count;
        if (nodes > 0 && group.count % nodes == 0) perNode_ = group.count / nodes;
    };
    if (chosen.size() == 2) {
        if (chosen[0] == QLatin1String("project")) {
            const int at = state_.hardwareIndex(chosen[1].toStdString());
            if (at >= 0) look(*state_.hardware[static_cast<std::size_t>(at)]);
        } else if (auto loaded = loadHardware(chosen[1].toStdString())) {
            look(loaded->hardware);
        }
    }
    // Of what the project has, the drawing says it; the form of the page changes it.
    nodes_->setEnabled(nodes > 0 && chosen.value(0) == QLatin1String("library"));
    nodes_->setValue(static_cast<int>(std::max<std::int64_t>(1, nodes)));
    showDevices();
}

// The name of a cluster says how many nodes it ships with; this is what is asked about.
void TrainingStartPage::showDevices() {
    if (device_.isEmpty()) return devices_->setText({});
    if (perNode_ == 0)
        return devices_->setText(tr("%1 devices: %2").arg(ui::countText(static_cast<double>(drawn_)), device_));
    const auto all = static_cast<double>(perNode_ * nodes_->value());
    devices_->setText(tr("%1 devices, %2 a node: %3").arg(ui::countText(all), QString::number(perNode_), device_));
}

void TrainingStartPage::start() {
    const QStringList model = model_->currentData().toStringList(), cluster = cluster_->currentData().toStringList();
    if (model.size() != 2 || cluster.size() != 2) return;
    TrainingStart start;
    start.methods = usualMethods();
    WorkloadRecipe recipe;
    if (model[0] == QLatin1String("project")) {
        start.workloadName = model[1].toStdString();
        recipe = state_.workloads[static_cast<std::size_t>(state_.workloadIndex(start.workloadName))].recipe;
    } else {
        const WorkloadInfo* info = builtinWorkload(model[1].toStdString());
        if (!info) return;
        recipe = {info->id, info->usual, {}};
        start.workload = ProjectWorkload{info->name, recipe, {}};
    }
    recipe.options.batch = batch_->value();
    recipe.options.sequence = sequence_->value();
    recipe.options.phase = Phase::TrainingForward;
    start.options = recipe.options;
    Hardware design;
    if (cluster[0] == QLatin1String("project")) {
        start.hardwareName = cluster[1].toStdString();
        design = *state_.hardware[static_cast<std::size_t>(state_.hardwareIndex(start.hardwareName))];
    } else {
        auto loaded = loadHardware(cluster[1].toStdString());
        if (!loaded) return emit refused(loaded.error());
        design = std::move(loaded->hardware);
        if (const auto node = firstNode(design.root);
            node && componentAt(design.root, *node)->count != nodes_->value()) {
            componentAt(design.root, *node)->count = nodes_->value();
            design.name = tr("%1, %n node(s)", nullptr, nodes_->value())
                              .arg(ui::qs(design.name).section(QLatin1Char(','), 0, 0))
                              .toStdString();
        }
        start.hardware = design;
    }
    const auto view = clusterView(design);
    if (!view) return emit refused(view.error());
    const DeviceGroup& group = view->groups.front();
    const PlanRoom room = planRoom(recipe, group.count);
    double parameters = 0;
    if (const auto workload = loadWorkload(recipe); workload && (*workload)->transformer)
        parameters = (*workload)->transformer->parameters;
    start.plan = firstPlan(room, devicesPerNode(group), group.memory.value, parameters);
    emit started(start);
}

}  // namespace orrery::app
