#include "app/window/training/plan_form.h"

#include "app/window/form_parts.h"
#include "app/window/training/seats.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/training/value_strip.h"

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QStandardItemModel>

#include <algorithm>
#include <cmath>

namespace orrery::app {

namespace {

struct NumberWords {
    const char *id, *name, *tip;  ///< in the context PlanForm
};
constexpr std::array<NumberWords, planNumberCount> numberWords{{
    {"training.tp", QT_TRANSLATE_NOOP("PlanForm", "Tensor"),
     QT_TRANSLATE_NOOP("PlanForm",
                       "Tensor parallelism (tp): devices that divide every layer. They exchange data inside each "
                       "layer, so they should be close")},
    {"training.pp", QT_TRANSLATE_NOOP("PlanForm", "Pipeline"),
     QT_TRANSLATE_NOOP(
         "PlanForm",
         "Pipeline stages (pp): each has some of the layers. Few bytes are sent, but stages wait for each other")},
    {"training.dp", QT_TRANSLATE_NOOP("PlanForm", "Data"),
     QT_TRANSLATE_NOOP("PlanForm",
                       "Data parallelism (dp): copies of the model, each with its share of the batch. "
                       "Gradients are exchanged once a step")},
    {"training.cp", QT_TRANSLATE_NOOP("PlanForm", "Context"),
     QT_TRANSLATE_NOOP("PlanForm", "Context parallelism (cp): devices that divide a sequence by its positions")},
    {"training.ep", QT_TRANSLATE_NOOP("PlanForm", "Expert"),
     QT_TRANSLATE_NOOP("PlanForm",
                       "Expert parallelism (ep): devices that divide the experts; it needs no further devices")},
    {"training.vp", QT_TRANSLATE_NOOP("PlanForm", "Chunks"),
     QT_TRANSLATE_NOOP(
         "PlanForm",
         "Interleaving (vp): chunks of layers in each stage. More chunks give a smaller bubble and more traffic")},
    {"training.mb", QT_TRANSLATE_NOOP("PlanForm", "Micro-batches"),
     QT_TRANSLATE_NOOP("PlanForm",
                       "Micro-batches (mb) of each copy. More of them give a smaller bubble and need less memory; 0: "
                       "as many as stages")},
}};

QString reasonOf(const Diagnostic& why) {
    QString said = ui::windowText(why.message);
    if (!why.expected.empty()) said += PlanForm::tr("; needs %1").arg(ui::windowText(why.expected));
    return said;
}

void setQuietly(QSpinBox* box, qint64 value) {
    const QSignalBlocker quiet(box);
    box->setValue(static_cast<int>(std::min<qint64>(value, box->maximum())));
}

}  // namespace

std::optional<ComponentPath> nodeComponent(const TrainingQuestion& question) {
    if (!question.group || question.group->places.empty()) return {};
    ComponentPath path = question.group->places.front();
    while (!path.empty()) {
        path.pop_back();
        const Component* component = componentAt(question.hardware->root, path);
        if (component && component->kind == ComponentKind::Node) return path;
    }
    return {};
}

PlanForm::PlanForm(QWidget* parent) : QScrollArea(parent) {
    setObjectName(QStringLiteral("training.form"));
    setAccessibleName(tr("Plan of the step"));
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    const int unit = ui::Theme::instance().unit();
    auto* body = new QWidget(this);
    auto* grid = new QGridLayout(body);
    grid->setContentsMargins(unit * 3 / 2, unit, unit, unit);
    grid->setHorizontalSpacing(unit);
    grid->setVerticalSpacing(unit / 2);
    grid->setColumnStretch(1, 1);
    buildPlan(grid, body);
    buildMemory(grid, body);
    buildStep(grid, body);
    grid->setRowStretch(grid->rowCount(), 1);
    setWidget(body);
}

int PlanForm::header(QGridLayout* grid, const QString& text) {
    const int row = grid->rowCount();
    grid->addWidget(new ui::SectionHeader(text, grid->parentWidget()), row, 0, 1, 3);
    return row;
}

QLabel* PlanForm::addField(QGridLayout* grid, const QString& name, QWidget* control) {
    const int row = grid->rowCount();
    auto* label = new QLabel(name, grid->parentWidget());
    label->setBuddy(control);
    grid->addWidget(label, row, 0);
    grid->addWidget(control, row, 1, 1, 2);
    return label;
}

void PlanForm::buildPlan(QGridLayout* grid, QWidget* parent) {
    header(grid, tr("How the model is spread"));
    devices_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Normal, parent);
    devices_->setObjectName(QStringLiteral("training.devices"));
    devices_->setElided(true);
    grid->addWidget(devices_, grid->rowCount(), 0, 1, 3);
    buildKinds(grid, parent);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const auto number = static_cast<PlanNumber>(i);
        const NumberWords& words = numberWords[i];
        Row& row = rows_[i];
        const int at = grid->rowCount();
        row.name = new QLabel(tr(words.name), parent);
        row.name->setToolTip(tr(words.tip));
        row.strip = new ui::ValueStrip(QLatin1String(words.id), tr(words.name), tr(words.tip), parent);
        row.field = named(new QSpinBox(parent), words.id, tr(words.name), tr(words.tip));
        row.field->setObjectName(QLatin1String(words.id) + QStringLiteral(".field"));
        row.field->setRange(number == PlanNumber::Microbatches ? 0 : 1, 1'000'000);
        row.field->setKeyboardTracking(false);
        row.field->setButtonSymbols(QAbstractSpinBox::NoButtons);
        row.field->setFixedWidth(static_cast<int>(52 * ui::Theme::instance().scale()));
        row.field->setAlignment(Qt::AlignRight);
        if (number == PlanNumber::Microbatches) row.field->setSpecialValueText(tr("auto"));
        grid->addWidget(row.name, at, 0);
        grid->addWidget(row.strip, at, 1);
        grid->addWidget(row.field, at, 2);
        connect(row.strip, &ui::ValueStrip::edited, this,
                [this, number](qint64 value, ui::EditPhase phase) { edit(number, value, phase); });
        connect(row.field, &QSpinBox::valueChanged, this, [this, number](int value) { typed(number, value); });
    }
    schedule_ = namedChoice(parent, "training.schedule", tr("Schedule"),
                            tr("Pipeline schedule: 1F1B, GPipe, zero-bubble or DualPipe"));
    schedule_->addItem(tr("1F1B: in turns"), static_cast<int>(PipelineSchedule::OneForwardOneBackward));
    schedule_->addItem(tr("GPipe: all forwards first"), static_cast<int>(PipelineSchedule::GPipe));
    schedule_->addItem(tr("ZB-H1: waits are filled"), static_cast<int>(PipelineSchedule::ZeroBubble));
    schedule_->addItem(tr("DualPipe: from both ends"), static_cast<int>(PipelineSchedule::DualPipe));
    addField(grid, tr("Schedule"), schedule_);
    connect(schedule_, &QComboBox::activated, this, [this] {
        change([this](Plan& plan) { plan.schedule = static_cast<PipelineSchedule>(schedule_->currentData().toInt()); });
    });
    fill_ = named(new QCheckBox(tr("Keep the devices: copies follow"), parent), "training.fill",
                  tr("Keep the devices: copies follow"),
                  tr("Adjusts data parallelism so that the plan keeps its number of devices"));
    fill_->setChecked(true);
    grid->addWidget(fill_, grid->rowCount(), 0, 1, 3);
    connect(fill_, &QCheckBox::toggled, this, [this] { setQuestion(TrainingQuestion(question_)); });
    refusal_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Bad, parent);
    refusal_->setObjectName(QStringLiteral("training.refusal"));
    refusal_->setWordWrap(true);
    refusal_->hide();
    grid->addWidget(refusal_, grid->rowCount(), 0, 1, 3);
}

void PlanForm::buildMemory(QGridLayout* grid, QWidget* parent) {
    header(grid, tr("What is kept"));
    zero_ = namedChoice(parent, "training.zero", tr("ZeRO"),
                        tr("What the copies divide among themselves (ZeRO): less memory, more exchanges"));
    zero_->addItem(tr("0: every copy holds all"), 0);
    zero_->addItem(tr("1: optimizer is shared"), 1);
    zero_->addItem(tr("2: gradients too"), 2);
    zero_->addItem(tr("3: parameters too (FSDP)"), 3);
    addField(grid, tr("ZeRO"), zero_);
    shard_ = namedChoice(parent, "training.shard", tr("Copies that share"),
                         tr("Hybrid sharding: the number of copies that divide by ZeRO"));
    addField(grid, tr("Shared by"), shard_);
    offload_ = namedChoice(parent, "training.offload", tr("Offload"),
                           tr("What is kept in host memory; link and host memory must be drawn"));
    offload_->addItem(tr("nothing"), 0);
    offload_->addItem(tr("optimizer"), int{OffloadOptimizer});
    offload_->addItem(tr("activations"), int{OffloadActivations});
    offload_->addItem(tr("optimizer, activations"), OffloadOptimizer | OffloadActivations);
    offload_->addItem(tr("weights"), int{OffloadWeights});
    offload_->addItem(tr("optimizer, weights"), OffloadOptimizer | OffloadWeights);
    offload_->addItem(tr("weights, activations"), OffloadWeights | OffloadActivations);
    offload_->addItem(tr("optimizer, weights, activations"), OffloadOptimizer | OffloadWeights | OffloadActivations);
    addField(grid, tr("On the host"), offload_);
    recompute_ = namedChoice(parent, "training.recompute", tr("Recomputation"),
                             tr("Activations that are dropped after the forward pass and computed again"));
    recompute_->addItem(tr("nothing again"), static_cast<int>(Recompute::None));
    recompute_->addItem(tr("attention again (selective)"), static_cast<int>(Recompute::Selective));
    recompute_->addItem(tr("every layer again (full)"), static_cast<int>(Recompute::Full));
    addField(grid, tr("Recompute"), recompute_);
    sequenceParallel_ =
        named(new QCheckBox(tr("Sequence parallel"), parent), "training.sp", tr("Sequence parallel"),
              tr("Sequence parallelism: splits the remaining activations by position and saves memory"));
    grid->addWidget(sequenceParallel_, grid->rowCount(), 0, 1, 3);
    connect(zero_, &QComboBox::activated, this, [this] {
        change([this](Plan& plan) {
            plan.zero = zero_->currentData().toInt();
            if (plan.zero == 0) plan.shard = 0;
        });
    });
    connect(shard_, &QComboBox::activated, this,
            [this] { change([this](Plan& plan) { plan.shard = shard_->currentData().toInt(); }); });
    connect(offload_, &QComboBox::activated, this, [this] {
        change([this](Plan& plan) { plan.offload = static_cast<std::uint8_t>(offload_->currentData().toInt()); });
    });
    connect(recompute_, &QComboBox::activated, this, [this] {
        changeStep(
            [this](TrainingStep& step) { step.recompute = static_cast<Recompute>(recompute_->currentData().toInt()); });
    });
    connect(sequenceParallel_, &QCheckBox::clicked, this,
            [this](bool on) { change([on](Plan& plan) { plan.sequence = on ? 1 : 0; }); });
}

void PlanForm::buildStep(QGridLayout* grid, QWidget* parent) {
    header(grid, tr("What a step is"));
    const auto number = [&](const char* id, const QString& name, const QString& tip, int low, int high) {
        QSpinBox* box = namedNumber(parent, id, name, tip, low, high);
        box->setKeyboardTracking(false);
        return box;
    };
    batch_ =
        number("training.batch", tr("Global batch"), tr("Samples of one step, by all copies together"), 1, 10'000'000);
    addField(grid, tr("Batch"), batch_);
    sequence_ = number("training.sequence", tr("Sequence"), tr("Tokens of one sample; 0: the model's usual length"), 0,
                       10'000'000);
    sequence_->setSingleStep(1024);
    addField(grid, tr("Sequence"), sequence_);
    optimizer_ = namedChoice(parent, "training.optimizer", tr("Optimizer"), tr("The optimizer, and its state"));
    optimizer_->addItem(tr("Adam"), static_cast<int>(Optimizer::Adam));
    optimizer_->addItem(tr("SGD"), static_cast<int>(Optimizer::Sgd));
    optimizer_->addItem(tr("none"), static_cast<int>(Optimizer::None));
    addField(grid, tr("Optimizer"), optimizer_);
    lora_ = number("training.lora", tr("LoRA rank"),
                   tr("LoRA: trains adapters of this rank beside every layer; the weights are frozen"), 0, 65536);
    lora_->setSpecialValueText(tr("all weights"));
    lora_->setSingleStep(8);
    addField(grid, tr("LoRA rank"), lora_);
    imbalance_ = named(new QDoubleSpinBox(parent), "training.imbalance", tr("Imbalance of experts"),
                       tr("Tokens of the busiest device with experts ÷ mean of all devices"));
    imbalance_->setRange(1, 1000);
    imbalance_->setDecimals(2);
    imbalance_->setSingleStep(0.1);
    imbalance_->setSuffix(QStringLiteral(" ×"));
    imbalance_->setKeyboardTracking(false);
    addField(grid, tr("Imbalance"), imbalance_);
    header(grid, tr("What it runs on"));
    nodes_ = number("training.nodes", tr("Nodes"), tr("Copies of the node in the drawing"), 1, 1'000'000);
    const int row = grid->rowCount();
    nodesName_ = new QLabel(tr("Nodes"), parent);
    grid->addWidget(nodesName_, row, 0);
    grid->addWidget(nodes_, row, 1, 1, 2);
    price_ = named(new QDoubleSpinBox(parent), "training.price", tr("Price per device and hour"),
                   tr("Dollars per device-hour. The design states no price"));
    price_->setRange(0, 10000);
    price_->setDecimals(2);
    price_->setSingleStep(0.25);
    price_->setPrefix(QStringLiteral("$ "));
    price_->setKeyboardTracking(false);
    price_->setValue(2.5);
    priceName_ = addField(grid, tr("Device-hour"), price_);
    otherPrice_ =
        named(new QDoubleSpinBox(parent), "training.price.other", tr("Price per device of the second kind and hour"),
              tr("Dollars per device-hour for the second kind of device"));
    otherPrice_->setRange(0, 10000);
    otherPrice_->setDecimals(2);
    otherPrice_->setSingleStep(0.25);
    otherPrice_->setPrefix(QStringLiteral("$ "));
    otherPrice_->setKeyboardTracking(false);
    otherPriceName_ = addField(grid, tr("Device-hour"), otherPrice_);
    connect(otherPrice_, &QDoubleSpinBox::valueChanged, this, [this](double dollars) {
        if (!filling_) emit otherPriceEdited(dollars);
    });
    connect(batch_, &QSpinBox::valueChanged, this,
            [this](int value) { changeOptions([value](WorkloadOptions& options) { options.batch = value; }); });
    connect(sequence_, &QSpinBox::valueChanged, this,
            [this](int value) { changeOptions([value](WorkloadOptions& options) { options.sequence = value; }); });
    connect(optimizer_, &QComboBox::activated, this, [this] {
        changeStep(
            [this](TrainingStep& step) { step.optimizer = static_cast<Optimizer>(optimizer_->currentData().toInt()); });
    });
    connect(lora_, &QSpinBox::valueChanged, this,
            [this](int rank) { changeStep([rank](TrainingStep& step) { step.lora = rank; }); });
    connect(imbalance_, &QDoubleSpinBox::valueChanged, this,
            [this](double ratio) { changeStep([ratio](TrainingStep& step) { step.imbalance = ratio; }); });
    connect(nodes_, &QSpinBox::valueChanged, this, [this](int value) {
        if (!filling_) emit nodesEdited(value);
    });
    connect(price_, &QDoubleSpinBox::valueChanged, this, [this](double dollars) {
        if (!filling_) emit priceEdited(dollars);
    });
}

bool PlanForm::fills() const {
    return fill_->isChecked();
}

void PlanForm::setFills(bool fills) {
    const QSignalBlocker quiet(fill_);
    fill_->setChecked(fills);
}

void PlanForm::showRow(PlanNumber number) {
    Row& row = rows_[static_cast<std::size_t>(number)];
    if (row.strip->isDragging()) return;  // its values are those of the plan before
    row.values = planValues(question_.plan, number, question_.room, fills());
    std::vector<ui::StripValue> shown;
    for (const PlanValue& each : row.values) {
        ui::StripValue value{each.value, QString::number(each.value), {}, {}};
        if (number == PlanNumber::Microbatches && each.value == 0) value.text = tr("auto");
        if (each.refused) value.refused = reasonOf(*each.refused);
        if (each.plan.data != question_.plan.data && number != PlanNumber::Data)
            value.tip = tr("with %n copies", nullptr, static_cast<int>(each.plan.data));
        shown.push_back(std::move(value));
    }
    row.strip->setValues(std::move(shown), valueOf(question_.plan, number));
    setQuietly(row.field, valueOf(question_.plan, number));
    const bool one = number == PlanNumber::Expert && (!question_.room.model || question_.room.model->experts == 0) &&
                     question_.plan.expert == 1;
    row.name->setVisible(!one);
    row.strip->setVisible(!one);
    row.field->setVisible(!one);
}

// What the plan's other numbers do not allow is greyed, with the reason as its tip.
void PlanForm::showSchedule() {
    auto* model = qobject_cast<QStandardItemModel*>(schedule_->model());
    for (int i = 0; i < schedule_->count(); ++i) {
        Plan plan = question_.plan;
        plan.schedule = static_cast<PipelineSchedule>(schedule_->itemData(i).toInt());
        const auto good = fits(plan, question_.room);
        const bool own = plan.schedule == question_.plan.schedule;
        if (model) model->item(i)->setEnabled(good || own);
        schedule_->setItemData(i, good ? QString() : reasonOf(good.error()), Qt::ToolTipRole);
    }
    selectData(schedule_, static_cast<int>(question_.plan.schedule));
}

// Sets of copies that divide them.
void PlanForm::showShards() {
    const Plan& plan = question_.plan;
    const bool shared = (plan.zero > 0 && plan.data > 1) || plan.shard > 0;
    shard_->clear();
    shard_->addItem(tr("all copies"), 0);
    for (std::int64_t set = 2; set < plan.data && shard_->count() < 24; ++set)
        if (plan.data % set == 0 || set == plan.shard)
            shard_->addItem(tr("%n neighbouring copies", nullptr, static_cast<int>(set)), static_cast<int>(set));
    if (shard_->findData(static_cast<int>(plan.shard)) < 0)
        shard_->addItem(tr("%n neighbouring copies", nullptr, static_cast<int>(plan.shard)),
                        static_cast<int>(plan.shard));
    selectData(shard_, static_cast<int>(plan.shard));
    shard_->setEnabled(shared);
    shard_->setToolTip(shared ? tr("Hybrid sharding: copies that divide by ZeRO; gradients are summed across the sets")
                              : tr("Nothing is divided: choose ZeRO and more than one copy first"));
}

// One kind of device, or two: in the order of the stages, or each with its copies.
void PlanForm::buildKinds(QGridLayout* grid, QWidget* parent) {
    on_ =
        namedChoice(parent, "training.on", tr("Stands on"),
                    tr("Kinds of device: all on one, the first stages on one and the others on the other, or copies of "
                       "the model on each"));
    onName_ = addField(grid, tr("Stands on"), on_);
    connect(on_, &QComboBox::activated, this, [this] { standOn(on_->currentData().toString().toStdString()); });
    layers_ = named(new QLineEdit(parent), "training.layers", tr("Layers of the stages"),
                    tr("Layers of each stage, front first, such as 20+12; empty: by the speed of the devices"));
    layers_->setPlaceholderText(tr("by speed"));
    layersName_ = addField(grid, tr("Layers"), layers_);
    connect(layers_, &QLineEdit::editingFinished, this, [this] { layersTyped(); });
}

void PlanForm::standOn(const std::string& placement) {
    change([&](Plan& plan) {
        plan.placement = placement;
        plan.layers.clear();
        if (namesSeveralDevices(plan)) {
            plan.interleave = 1;
            plan.offload = 0;
            plan.shard = 0;
            if (plan.schedule == PipelineSchedule::DualPipe) plan.schedule = PipelineSchedule::OneForwardOneBackward;
            std::int64_t& shared = placement.find('+') != std::string::npos ? plan.pipeline : plan.data;
            shared += shared % 2;
            return;
        }
        const auto group = groupFor(*question_.cluster, plan);
        for (std::int64_t* each : {&plan.pipeline, &plan.data})
            while (group && plan.devices() > (*group)->count && *each % 2 == 0) *each /= 2;
    });
}

void PlanForm::layersTyped() {
    if (filling_) return;
    Plan plan = question_.plan;
    plan.layers.clear();
    const std::string text = layers_->text().trimmed().toStdString();
    const auto typed = parsePlan(toText(plan) + (text.empty() ? "" : ",layers=" + text));
    if (typed && typed->layers == question_.plan.layers) return;
    if (typed) return emit planEdited(*typed, ui::EditPhase::Commit);
    refusal_->setVisible(true);
    refusal_->setText(reasonOf(typed.error()));
}

void PlanForm::showKinds() {
    const Plan& plan = question_.plan;
    const std::size_t kinds = question_.cluster ? question_.cluster->groups.size() : 0;
    const bool several = kinds > 1, staged = several && plan.placement.find('+') != std::string::npos;
    for (QWidget* each : {static_cast<QWidget*>(onName_), static_cast<QWidget*>(on_)}) each->setVisible(several);
    for (QWidget* each : {static_cast<QWidget*>(layersName_), static_cast<QWidget*>(layers_)}) each->setVisible(staged);
    if (!several) return;
    on_->clear();
    const auto& groups = question_.cluster->groups;
    const auto add = [&](const QString& text, const std::string& placement) { on_->addItem(text, ui::qs(placement)); };
    std::vector<std::string> names;
    for (const DeviceGroup& group : groups) {
        const bool alone = std::ranges::count(groups, group.name, &DeviceGroup::name) == 1;
        names.push_back(alone ? group.name : group.path);
        add(tr("%1 alone").arg(ui::qs(names.back())), names.back());
    }
    for (std::size_t a = 0; a < kinds && kinds <= 4; ++a)
        for (std::size_t b = 0; b < kinds; ++b)
            if (a != b)
                add(tr("stages: %1, then %2").arg(ui::qs(names[a]), ui::qs(names[b])), names[a] + "+" + names[b]);
    for (std::size_t a = 0; a < kinds && kinds <= 4; ++a)
        for (std::size_t b = a + 1; b < kinds; ++b)
            add(tr("copies: on %1 and on %2").arg(ui::qs(names[a]), ui::qs(names[b])), names[a] + "&" + names[b]);
    std::string standing = plan.placement.empty() ? names.front() : plan.placement;
    if (!namesSeveralDevices(plan) && question_.group)
        standing = names[static_cast<std::size_t>(question_.group - groups.data())];
    if (on_->findData(ui::qs(standing)) < 0) add(ui::qs(standing), standing);
    on_->setCurrentIndex(on_->findData(ui::qs(standing)));
    QStringList layers;
    for (const std::int64_t each : plan.layers) layers << QString::number(each);
    layers_->setText(layers.join(QLatin1Char('+')));
}

void PlanForm::setQuestion(const TrainingQuestion& question) {
    filling_ = true;
    question_ = question;
    showKinds();
    for (int i = 0; i < planNumberCount; ++i) showRow(static_cast<PlanNumber>(i));
    const std::int64_t used = question_.plan.devices(), drawn = question_.room.devices;
    const QString device = devicesText(question_);
    devices_->setTone(used > drawn ? ui::Tone::Bad : ui::Tone::Normal);
    devices_->setFullText(tr("%1 of %2 %3 at work (%4)")
                              .arg(ui::countText(static_cast<double>(used)), ui::countText(static_cast<double>(drawn)),
                                   device, ui::percentText(static_cast<double>(used) / static_cast<double>(drawn))));
    const auto good = fits(question_.plan, question_.room);
    refusal_->setVisible(!good);
    if (!good)
        refusal_->setText(reasonOf(good.error()) + (good.error().hint.empty()
                                                        ? QString()
                                                        : QStringLiteral(". ") + ui::windowText(good.error().hint)));
    showSchedule();
    selectData(zero_, static_cast<int>(question_.plan.zero));
    showShards();
    selectData(offload_, question_.plan.offload);
    selectData(recompute_, static_cast<int>(question_.step.recompute));
    selectData(optimizer_, static_cast<int>(question_.step.optimizer));
    sequenceParallel_->setChecked(question_.plan.sequence != 0);
    sequenceParallel_->setEnabled(question_.plan.tensor > 1 || question_.plan.sequence != 0);
    sequenceParallel_->setToolTip(
        question_.plan.tensor > 1
            ? tr("Sequence parallelism: splits the remaining activations by position and saves memory")
            : tr("Nothing to split: raise the tensor parallelism first"));
    setQuietly(lora_, question_.step.lora);
    imbalance_->setValue(question_.step.imbalance);
    const bool experts = question_.plan.expert > 1;
    imbalance_->setEnabled(experts || question_.step.imbalance != 1);
    imbalance_->setToolTip(experts ? tr("Tokens of the busiest device with experts ÷ mean of all devices")
                                   : tr("Experts are not divided over devices: raise the expert parallelism first"));
    price_->setValue(question_.price);
    otherPrice_->setValue(question_.otherPrice);
    otherPrice_->setVisible(question_.kinds.has_value());
    otherPriceName_->setVisible(question_.kinds.has_value());
    otherPriceName_->setText(tr("Hour of %1").arg(ui::qs(question_.otherPriceOf)));
    priceName_->setText(question_.kinds ? tr("Hour of %1").arg(ui::qs(question_.group->name)) : tr("Device-hour"));
    setQuietly(batch_, question_.recipe.options.batch);
    setQuietly(sequence_, question_.recipe.options.sequence);
    const auto node = nodeComponent(question_);
    const bool counted = node.has_value() && !question_.kinds;  // the drawing has those of several kinds
    nodesName_->setVisible(counted);
    nodes_->setVisible(counted);
    if (node) setQuietly(nodes_, componentAt(question_.hardware->root, *node)->count);
    filling_ = false;
}

void PlanForm::edit(PlanNumber number, qint64 value, ui::EditPhase phase) {
    const Row& row = rows_[static_cast<std::size_t>(number)];
    const auto chosen = std::ranges::find(row.values, value, &PlanValue::value);
    if (chosen != row.values.end()) emit planEdited(chosen->plan, phase);
}

void PlanForm::typed(PlanNumber number, int value) {
    if (filling_) return;
    Plan plan = question_.plan;
    setValue(plan, number, value);
    // A number that stands among the stops takes along what they take.
    for (const PlanValue& each : rows_[static_cast<std::size_t>(number)].values)
        if (each.value == value) return emit planEdited(each.plan, ui::EditPhase::Commit);
    const bool copies = number == PlanNumber::Tensor || number == PlanNumber::Pipeline || number == PlanNumber::Context;
    if (fills() && copies) plan = filled(plan, question_.room, question_.plan.devices());
    emit planEdited(plan, ui::EditPhase::Commit);
}

void PlanForm::change(const std::function<void(Plan&)>& change) {
    if (filling_) return;
    Plan plan = question_.plan;
    change(plan);
    emit planEdited(plan, ui::EditPhase::Commit);
}

void PlanForm::changeStep(const std::function<void(TrainingStep&)>& change) {
    if (filling_) return;
    TrainingStep step = question_.step;
    change(step);
    emit stepEdited(step);
}

void PlanForm::changeOptions(const std::function<void(WorkloadOptions&)>& change) {
    if (filling_) return;
    WorkloadOptions options = question_.recipe.options;
    change(options);
    emit optionsEdited(options);
}

}  // namespace orrery::app
